package hudiidx.storage

import hudiidx.Fixtures
import java.nio.file.Path
import java.util.concurrent.ConcurrentLinkedQueue

import org.scalatest.funsuite.AnyFunSuite

import scala.collection.JavaConverters._

/** What is published on a local disk stays when the machine stops, with the folders that were made for it. */
class ForcedFoldersSuite extends AnyFunSuite {

  /** Folders below `root` and itself that are brought to disk, in order. */
  private def forced(root: Path)(work: => Any): Vector[String] = {
    val seen = new ConcurrentLinkedQueue[Path]
    ForcedFolders.observer = p => seen.add(p): Unit
    try work: Unit
    finally ForcedFolders.observer = (_: Path) => ()
    seen.asScala.toVector.filter(_.startsWith(root)).map(root.relativize(_).toString)
  }

  private val bytes = Array[Byte](1)
  private val ways: Vector[(String, String => Any)] = Vector(
    "write" -> (LocalStorage.write(_)(_.write(bytes))),
    "writeInPlace" -> (LocalStorage.writeInPlace(_)(_.write(bytes))),
    "publish" -> (LocalStorage.publish(_, bytes)),
    "replace" -> (LocalStorage.replace(_, bytes))
  )

  for ((name, way) <- ways)
    test(s"$name: the file's folder is on disk, and each folder in which a new one was made") {
      val root = Fixtures.newFolder("hudiidx-forced")
      assert(forced(root)(way(s"$root/a/b/c/file")) === Vector("", "a", "a/b", "a/b/c"))
      assert(forced(root)(way(s"$root/a/b/c/other")) === Vector("a/b/c"))
      assert(forced(root)(way(s"$root/a/d/file")) === Vector("a", "a/d"))
    }

  test("a folder made by a model is on disk, with those above it") {
    val root = Fixtures.newFolder("hudiidx-forced")
    assert(forced(root)(LocalStorage.makeFolder(s"$root/a/b", root.toString, None)) === Vector("", "a"))
    assert(forced(root)(LocalStorage.makeFolder(s"$root/a/b", root.toString, None)) === Vector.empty)
  }
}
