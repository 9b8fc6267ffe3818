package hudiidx

import java.nio.file.{Files, Path}
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.JavaConverters._

/** Names are others' choice: in what people read they are one line, and write nothing else to a terminal. */
class TextsSuite extends AnyFunSuite {

  /** What a terminal, or who reads a log, would take for more than a text: the table of `tests/hostile.py`. */
  private val hidden: Set[Int] = ((0 to 0x1f) ++ (0x7f to 0x9f) ++ Seq(0x61c, 0x200e, 0x200f) ++ (0x2028 to 0x202e) ++
    (0x2066 to 0x2069) ++ Seq(0xfeff) ++ (0xd800 to 0xdfff)).toSet

  test("every control character, alone and in a text, is an escape; all else stays") {
    for (code <- 0 to 0xffff) {
      val c = code.toChar
      val shown = Texts.shown(s"a${c}b")
      val escape = c match {
        case '\n' => "\\n"
        case '\r' => "\\r"
        case '\t' => "\\t"
        case _    => "\\u%04x".format(code)
      }
      assert(shown === (if (hidden(code)) s"a${escape}b" else s"a${c}b"))
      assert(Texts.shown(shown) === shown)
    }
    val whole = new String(Character.toChars(0x1f600))
    assert(Texts.shown(s"a$whole ü 日本 [red] \\n") === s"a$whole ü 日本 [red] \\n")
    assert(Texts.shown(whole.take(1)) === "\\ud83d" && Texts.shown(whole.drop(1) + whole) === s"\\ude00$whole")
    assert(Texts.shown(null) === null)
    assert(Texts.inHtml("<a href='/x'>&\n") === "&lt;a href='/x'&gt;&amp;\\n")
  }

  test("errors are one line") {
    val hostile = "x\u001b[31m\n26/11/26 WARN forged\u0007\u202e\u2028"
    val told = "x\\u001b[31m\\n26/11/26 WARN forged\\u0007\\u202e\\u2028"
    val all = Vector(
      new NotAHudiTable(hostile),
      new UnsupportedTable(hostile),
      new DamagedTable(hostile),
      new TableChanged(hostile),
      new DamagedIndex(hostile),
      new IndexNotFound(hostile),
      new StaleIndex(hostile),
      new WriteConflict(hostile),
      new InvalidOption(hostile),
      new IndexNotWritable(hostile)
    )
    all.foreach(e => assert(e.getMessage === told))
  }

  test("of an error with a long value in it the beginning and the end are told") {
    for (value <- Seq("x" * 1000000, "\ud83d\ude00" * 500000, "\n" * 500000)) {
      val told = new UnsupportedTable(s"/t/.hoodie/hoodie.properties: a is '$value', set it to b").getMessage
      assert(told.startsWith("/t/.hoodie/hoodie.properties: a is ") && told.endsWith("set it to b"))
      assert(told.length < 10000 && Texts.shown(told) === told && new UnsupportedTable(told).getMessage === told)
    }
    val usual = "/t: " + "file, " * 2000
    assert(new UnsupportedTable(usual).getMessage === usual)
  }

  test("nothing logs or prints but through the one place for it") {
    val others = sources.filter { case (name, code) =>
      name != "Log.scala" && """LoggerFactory|org\.slf4j|extends Logging|println\(|System\.(err|out)\.""".r
        .findFirstIn(code)
        .isDefined
    }
    // The document of an error, in JSON.
    assert(others.map(_._1) === Vector("Main.scala"))
  }

  test("what Spark's plans and pages show is made there too") {
    val shows =
      """def (description|simpleString|verboseStringWithOperatorId)\(|setJobDescription\(|setJobGroup\(|(extends|with) Table\b""".r
    val silent = for {
      (name, code) <- sources if shows.findFirstIn(code).isDefined && !code.contains("Texts.") && !fixed(name)
    } yield name
    assert(silent === Vector.empty)
    val raw = """setJobDescription\((?!Texts\.inHtml|before|null)""".r
    assert(sources.filter(s => raw.findFirstIn(s._2).isDefined).map(_._1) === Vector.empty)
  }

  /** They show what others made, or words of ours alone. */
  private def fixed(name: String): Boolean =
    Set(
      "KnownAggregates.scala",
      "RowLevelPlanner.scala",
      "CatalogCalls.scala",
      "PinnedState.scala",
      "SqlChanges.scala",
      "StagedTables.scala"
    ).contains(name)

  private lazy val sources: Vector[(String, String)] = {
    val walk = Files.walk(Fixtures.repoRoot.resolve("jvm"))
    try
      walk.iterator.asScala
        .filter(f =>
          f.toString.contains("/src/main/") && (f.toString.endsWith(".scala") || f.toString.endsWith(".java"))
        )
        .map((f: Path) => f.getFileName.toString -> Files.readString(f))
        .toVector
    finally walk.close()
  }
}
