package hudiidx

import java.io.File
import java.nio.file.Files
import org.scalacheck.Gen
import org.scalacheck.rng.Seed
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.JavaConverters._

/** What people are told to run is what they run, whatever names hold: a shell reads it here. */
class ShellCommandSuite extends AnyFunSuite {
  import ShellCommandSuite._

  test("a shell reads each word of a command as it was meant, in any locale") {
    val drawn = Vector.tabulate(300)(n => HostileNames.any.pureApply(Gen.Parameters.default, Seed(n.toLong)))
    val names = HostileNames.fixed ++ drawn
    val commands = names.map(n => ShellCommand("add-index", Vector("/data/t", n), Vector("--index-path" -> n)))
    val (written, none) = (names zip commands).partition(_._2.line.isRight)
    assert(written.size > 250)
    // What would be told as the password of a path stands in no command.
    assert(none.forall(n => Texts.shown(n._1) != n._1 && n._1.contains("://")))
    for (locale <- Vector("C", "C.UTF-8")) {
      val read = wordsOf(written.map(_._2.line.toOption.get), locale)
      read.zip(written).foreach { case (words, (name, command)) =>
        val isOption = name.startsWith("-")
        val expected =
          if (isOption) Vector("hudiidx", "add-index", s"--index-path=$name", "--", "/data/t", name)
          else Vector("hudiidx", "add-index", "/data/t", name, "--index-path", name)
        assert(words === expected, command.line)
      }
    }
  }

  test("plain words stay as they are, and others get quotes") {
    assert(ShellCommand("create", Vector("s3a://lake/trips_v1")).line === Right("hudiidx create s3a://lake/trips_v1"))
    val quoted = ShellCommand("create", Vector("/data/it's here"), Vector("--index-path" -> "/i x"))
    assert(quoted.quoted === """`hudiidx create '/data/it'\''s here' --index-path '/i x'`""")
    assert(ShellCommand("create", Vector("a\nb")).line === Right("hudiidx create $'a\\012b'"))
    assert(ShellCommand("create", Vector("", "=ls")).line === Right("hudiidx create '' '=ls'"))
    assert(ShellCommand("create", Vector("/t", "-x")).line === Right("hudiidx create -- /t -x"))
  }

  test("what no command line can hold is told instead") {
    for (name <- Vector("a\u0000b", "a\ud800", "s3a://key:secret@bucket/t")) {
      val command = ShellCommand("update", Vector(name))
      assert(command.line.isLeft)
      assert(
        command.quoted.startsWith("`hudiidx update` (no command line can hold '") && !command.quoted.contains("secret")
      )
    }
  }

  test("no text of ours has a command or SQL with names in it but by the places that quote them") {
    val names = "(" + Commands.mkString("|") + ")"
    val command = (s"hudiidx $names " + """[^`"\n]*\$|""" + s"hudiidx $names " + """"\s*\+""").r
    val sql = """\b(CALL|ALTER|DROP|INSERT|SELECT)\b[^"\n]*['`]\$""".r
    val quotes = """replace\(("'"|"`"|"\\\\"|"\\"")""".r
    val found = for {
      (name, code) <- sources
      line <- code.linesIterator.map(_.trim) if !line.startsWith("*") && !line.startsWith("/")
      if Vector(command, sql).exists(_.findFirstIn(line).isDefined) || (quotes.findFirstIn(line).isDefined && !Quoting(
        name
      ))
    } yield s"$name: $line"
    assert(found === Vector.empty)
  }
}

private[hudiidx] object ShellCommandSuite {
  private val Commands = Vector(
    "add-index",
    "compact-table",
    "create",
    "doctor",
    "drop",
    "drop-index",
    "expire",
    "export",
    "files",
    "info",
    "log",
    "lookup",
    "partitions",
    "perf",
    "prune",
    "report",
    "slices",
    "tag",
    "update",
    "verify",
    "watch"
  )

  /** Who makes texts of other forms: paths of columns, expressions as they are stored, names in filters that were recorded. */
  val Quoting = Set("ShellCommand.scala", "Sql.scala", "ColumnPath.scala", "FilterTexts.scala")

  def sources: Vector[(String, String)] = Vector("core", "fs", "parquet", "engine", "spark", "hudi", "hive").flatMap {
    module =>
      val files = Files.walk(Fixtures.repoRoot.resolve(s"jvm/$module/src/main"))
      try
        files.iterator.asScala
          .filter(_.toString.endsWith(".scala"))
          .map(f => f.getFileName.toString -> Files.readString(f))
          .toVector
      finally files.close()
  }

  /** The words of each command line, as bash reads them. */
  def wordsOf(lines: Vector[String], locale: String): Vector[Vector[String]] = {
    val script = File.createTempFile("words", ".sh")
    try {
      Files.writeString(script.toPath, lines.map(l => s"printf '%s\\0' $l; printf '<end>\\0'").mkString("\n"))
      val builder = new ProcessBuilder("bash", "--norc", script.getPath)
      builder.environment.put("LC_ALL", locale)
      val process = builder.start()
      val out = new String(process.getInputStream.readAllBytes(), "UTF-8")
      assert(process.waitFor() == 0)
      out.split("\u0000<end>\u0000", -1).toVector.dropRight(1).map(_.split("\u0000", -1).toVector)
    } finally script.delete(): Unit
  }
}
