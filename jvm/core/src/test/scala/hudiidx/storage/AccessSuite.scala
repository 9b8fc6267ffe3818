package hudiidx.storage

import java.nio.file.attribute.PosixFilePermissions
import java.nio.file.{Files, Path}

import hudiidx.Fixtures
import org.scalatest.funsuite.AnyFunSuite

final class AccessSuite extends AnyFunSuite {
  private def mode(octal: String): Int = Integer.parseInt(octal, 8)

  private def folder(octal: String): Path = {
    val path = Fixtures.newFolder("rights").resolve("t")
    Files.createDirectory(path)
    chmod(path, octal)
  }

  private def chmod(path: Path, octal: String): Path = {
    val text = octal.map(d => "---,--x,-w-,-wx,r--,r-x,rw-,rwx".split(',')(d - '0')).mkString
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(text))
  }

  private def modeOf(path: Path): String = LocalStorage.access(path.toString).get.text

  test("what is more open is told by the rights of others than the owner, a strange group has what others have") {
    val table = Access(mode("750"), "team")
    def isMore(octal: String): Boolean = Access(mode(octal), "team").isMoreOpenThan(table)
    assert(Seq("750", "700", "710", "770", "755", "751").filter(isMore) === Seq("770", "755", "751"))
    assert(Access(mode("750"), "others").isMoreOpenThan(table))
    assert(!Access(mode("700"), "others").isMoreOpenThan(table))
    assert(!Access(mode("755"), "others").isMoreOpenThan(Access(mode("755"), "team")))
    assert(Access(mode("700"), "team", Set("user:eve:r-x")).isMoreOpenThan(table))
    assert((Access(mode("777"), "others") and table).text === "700")
    assert(Access(Access.ofFolder(mode("640")), "g").text === "750")
  }

  test("files and folders are no more open than the folder that they lie in, temporary files too") {
    Seq(("700", "700", "600"), ("750", "750", "640"), ("711", "711", "600"), ("777", "755", "644")).foreach {
      case (of, folders, files) =>
        val root = folder(of)
        val target = root.resolve("a").resolve("b").resolve("f")
        LocalStorage.write(target.toString) { out =>
          val inside = Files.list(target.getParent)
          try inside.forEach(f => assert(modeOf(f) === files, s"$of: $f"))
          finally inside.close()
          out.write(1)
        }
        assert(modeOf(root.resolve("a")) === folders && modeOf(target.getParent) === folders, of)
        LocalStorage.writeScratch(s"$root/s")(_.write(1))
        LocalStorage.writeInPlace(s"$root/p")(_.write(1))
        LocalStorage.replace(s"$root/r", Array[Byte](1))
        assert(LocalStorage.publish(s"$root/v", Array[Byte](1)))
        Seq("s", "p", "r", "v").foreach(f => assert(modeOf(root.resolve(f)) === files, s"$of: $f"))
    }
  }

  test("a folder that is made like another is no more open, nor than the data, and one that is there stays as it is") {
    val table = folder("750")
    val elsewhere = Fixtures.newFolder("elsewhere")
    LocalStorage.makeFolder(s"$elsewhere/x/index", table.toString, None)
    assert(modeOf(elsewhere.resolve("x")) === "750" && modeOf(elsewhere.resolve("x/index")) === "750")
    val data = Access(Access.ofFolder(mode("600")), LocalStorage.access(table.toString).get.group)
    LocalStorage.makeFolder(s"$elsewhere/y", table.toString, Some(data))
    assert(modeOf(elsewhere.resolve("y")) === "700")
    LocalStorage.makeFolder(s"$elsewhere/x/index", folder("700").toString, None)
    assert(modeOf(elsewhere.resolve("x/index")) === "750")
  }
}
