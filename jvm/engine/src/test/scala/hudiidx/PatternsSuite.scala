package hudiidx

import hudiidx.report.ScanFacts
import hudiidx.store.{IndexNames, ScanRecord}
import java.nio.file.{Files, Path}
import java.util.regex.Pattern
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.JavaConverters._

/** Names, stored texts and paths are others' input, and may be of any length: every regular expression of ours looks at each letter
  * a few times at most, and takes no stack for it.
  */
class PatternsSuite extends AnyFunSuite {
  import PatternsSuite._

  test("every regular expression in the sources has an entry here, and every entry stands there") {
    val sites = sources.flatMap(f => Vector.fill(sitesIn(f))(f.getFileName.toString)).sorted
    assert(sites === all.map(_.file).sorted)
    all.filter(_.isLiteral).foreach { use =>
      val file = sources.find(_.getFileName.toString == use.file).get
      val flat = Files.readString(file).replaceAll("\"\"\"\\s*\\+\\s*\"\"\"", "")
      assert(flat.contains(use.pattern.replace("\\", "\\\\")) || flat.contains(use.pattern), use.file)
    }
  }

  test("no text makes any of them look at its letters more than some times, or overflow the stack") {
    all.foreach { use =>
      assert(use.takes(use.sample), s"${use.file}: ${use.pattern} does not take ${use.sample}")
      pumped(use.sample, TestSettings.upTo(600, 200)).foreach(use.run)
      longer(use.sample, TestSettings.upTo(1 << 20, 1 << 17)).foreach(use.run)
    }
  }

  test("what scans texts by hand takes a megabyte of anything") {
    val bits = Seq(
      "a",
      "a://",
      "a://b:",
      "a://b:c@",
      ":",
      "1",
      "'",
      "\\'",
      "`",
      "(a ",
      "?, ",
      "DATE 1, ",
      "-1.",
      "_a.b",
      " IS NOT NULL)",
      "\n "
    )
    for (bit <- bits; behind <- Seq("", "'@`")) {
      val text = bit * ((1 << 20) / bit.length) + behind
      ends(s"$bit…") {
        Secrets.masked(text)
        val scans = ScanFacts.of(Vector(ScanRecord(1L, "", Vector(text), Map.empty)))
        scans.naming("a") + scans.naming(text)
      }
    }
  }

  /** In a minute, where the square of a million would take hours. */
  private def ends(what: String)(body: => Any): Unit = {
    @volatile var failure: Option[Throwable] = None
    val thread = new Thread(() =>
      try body: Unit
      catch { case e: Throwable => failure = Some(e) }
    )
    thread.setDaemon(true)
    thread.start()
    thread.join(60000)
    assert(!thread.isAlive && failure.isEmpty, s"$what: $failure")
  }

  test("patterns whose time or stack grows too fast are noticed") {
    Seq("(a|b)*c" -> "abc", "([a-z]+)*!" -> "ab!", ".*x.*y.*z" -> "xyz", "(?:[^'\\\\]|\\\\.)*'" -> "ab'").foreach {
      case (pattern, sample) =>
        val use = Use("", pattern, sample)
        intercept[Exception](pumped(sample, 600).++(longer(sample, 1 << 20)).foreach(use.run))
    }
  }
}

object PatternsSuite {

  /** What takes a pattern; `"x".r` beside it, and Java's own methods that make one. */
  private val site = Pattern.compile(
    "(?:\"|\\)|\\b[a-z]\\w*|\\bVersionFile)\\.r\\b|\\.matches\\(\\s*\"|\\.replaceAll\\(|\\.replaceFirst\\(|\\bPattern\\.compile\\(" +
      "|new Regex\\(|\\b[a-z]\\w*\\.split\\((?!'|\"(?:[^\\\\.$|()\\[{^?*+\"]|\\\\n)+\"|Pattern\\.quote|group,)"
  )

  private def sitesIn(file: Path): Int = {
    val code = Files.readAllLines(file).asScala.map(_.replaceAll("^\\s*(//|\\*|/\\*).*", "")).mkString("\n")
    val found = site.matcher(code)
    Iterator.continually(found.find()).takeWhile(identity).size
  }

  private lazy val sources: Vector[Path] = {
    val walk = Files.walk(Fixtures.repoRoot.resolve("jvm"))
    try
      walk.iterator.asScala
        .filter(f => f.toString.contains("/src/main/") && f.toString.matches(".*\\.(scala|java)"))
        .toVector
    finally walk.close()
  }

  /** @param sample a text that the pattern takes, as whole as it can be
    * @param way    `whole`: all of the text has to be so; `find`: it looks for its places in a text; `tokens`: it takes the text bit
    *               by bit, as far as it can
    */
  private final case class Use(
      file: String,
      pattern: String,
      sample: String,
      way: String = "whole",
      isLiteral: Boolean = true
  ) {
    private val compiled = Pattern.compile(pattern)

    def takes(text: CharSequence): Boolean = {
      val matcher = compiled.matcher(text)
      way match {
        case "find"   => Iterator.continually(matcher.find()).takeWhile(identity).size > 0
        case "tokens" =>
          var at = 0
          while (matcher.region(at, text.length).lookingAt()) at = matcher.end
          at == text.length
        case _ => matcher.matches()
      }
    }

    def run(text: String): Unit = {
      val counted = new CountedText(text, 64L * text.length + 1000)
      try takes(counted): Unit
      catch {
        case e @ (_: CountedText.TooOften | _: StackOverflowError) =>
          throw new Exception(s"$file: $pattern: $e on ${text.length} letters: ${text.take(30)}…${text.takeRight(20)}")
      }
    }
  }

  /** Bits of the sample, and some letters, over and over at each place of it. */
  private def pumped(sample: String, size: Int): Iterator[String] = {
    val bits = (for (n <- 1 to 2; i <- 0 to sample.length - n) yield sample.substring(i, i + n)) ++
      Seq(" ", "\n", "0", "a", "_", ".", "(", "'", ", ", "\\", "é")
    for {
      at <- (0 to sample.length).iterator
      bit <- bits.distinct.iterator
      behind <- Iterator("", "\u0001")
    } yield sample.substring(0, at) + bit * (size / bit.length) + sample.substring(at) + behind
  }

  /** Each letter of the sample very often in its place. */
  private def longer(sample: String, size: Int): Iterator[String] =
    for (at <- sample.indices.iterator if sample.indexOf(sample(at).toInt) == at)
      yield sample.substring(0, at) + sample.substring(at, at + 1) * size + sample.substring(at) + "\u0001"

  private val all: Vector[Use] = Vector(
    Use("ColumnExpression.scala", """(?s)(.*) \{([^{}]*)\}""", "upper(a) {a = b; c = d}"),
    Use("IndexSpec.scala", """(?s)([a-z][a-z0-9_]*)\s*\((.*)\)""", "bloom2 (a, b, fpp=0.1)"),
    Use("IndexSpec.scala", """(?s)[A-Za-z_][\w.]*\s*=[^=].*|[A-Za-z_][\w.]*\s*=""", "a.b = c d"),
    Use(
      "HudiType.scala",
      """(?i)VECTOR\(\s*(\d{1,9})\s*(?:,\s*(\w+)\s*)?(?:,\s*(\w+)\s*)?\)""",
      "VECTOR( 4 , DOUBLE , FIXED_BYTES )"
    ),
    Use("ColumnType.scala", """decimal\((\d{1,2}),(\d{1,2})\)""", "decimal(10,2)"),
    Use(
      "ArchivedTimeline.scala",
      """^\.commits_\.archive\.\d+(_\d+-\d+-\d+)?$""",
      ".commits_.archive.12_1-2-3",
      way = "find"
    ),
    Use("HashGroup.scala", "0|[1-9][0-9]{0,9}", "1234567890"),
    Use("HashRange.scala", "[0-9a-f]{8}-[0-9a-f]{8}", "00000000-7fffffff"),
    Use("BuildProgress.scala", """(\d{1,18})\.[0-9a-z]+\.(\d{1,2})\.building""", "123456.0abc.10.building"),
    Use("TableMergeRules.scala", "^com\\.uber\\.hoodie\\.", "com.uber.hoodie.", way = "find"),
    Use(
      "FileName.scala",
      """^\.([^._/]+)_([^./]*)\.log\.(\d{1,9})(?:_(\d+-\d+-\d+)(\.cdc)?)?$""",
      ".f1-0_2026.log.1_0-1-22.cdc"
    ),
    Use("PartitionRule.scala", "-?\\d{1,19}", "-123"),
    Use("PartitionRule.scala", "-?\\d+\\.\\d+(E-?\\d+)?|NaN|-?Infinity", "-12.34E-56"),
    Use("PartitionRule.scala", "-?\\d+(\\.\\d+)?", "-12.34"),
    Use("PartitionRule.scala", "\\d{4}-\\d{2}-\\d{2}", "2026-01-02"),
    Use("SchemaHistory.scala", """(\d+)(?:_\d+)?\.schemacommit""", "2026_2027.schemacommit"),
    Use("HistoryTimeline.scala", """^(\d+)_(\d+)_\d+\.parquet$""", "12_34_5.parquet"),
    Use("HistoryTimeline.scala", """^manifest_(\d{1,18})$""", "manifest_123"),
    Use("IncrementalOptions.scala", "\\d{1,17}", "20260102030405678"),
    Use("ExpressionFacts.scala", "[0-9.]{1,16}", "3.5.1"),
    Use("ExpressionFacts.scala", "[0-9a-z.]{1,16}", "2025b"),
    Use("ExpressionFacts.scala", "[\\w.:+/-]{0,64}", "Europe/Oslo"),
    Use("ExpressionFacts.scala", "[A-Za-z0-9_/+:~-]{1,64}(#[0-9a-f]{1,8})?", "Europe/Oslo#0af"),
    Use("ExpressionTypes.scala", """decimal\((\d{1,2}),(\d{1,2})\)""", "decimal(10,2)"),
    Use("ExpressionTypes.scala", "-?[0-9.]+(E-?[0-9]{1,2})?", "-12.3E-4"),
    Use("ExpressionSql.scala", "-?[0-9.E-]+", "-1.2E-3"),
    Use("ExpressionText.scala", "[0-9a-f]{4}", "0a1f"),
    Use("ExpressionFunctions.scala", "(?s).*\\d{4}.*", "a 1234 b"),
    Use("SymlinkExport.scala", "(?s)([A-Za-z][A-Za-z0-9+.-]*):(//[^/]*)?.*", "s3a://bucket/a"),
    Use(
      "OrderedFunctions.scala",
      """yyyy([-/. ]?MM([-/. ]?dd(( |'T'|-)?HH(:?mm(:?ss(\.S{1,6})?)?)?)?)?)?""",
      "yyyy-MM-dd'T'HH:mm:ss.SSS"
    ),
    Use("WriteSchema.scala", "[^A-Za-z0-9_]", "a-b", way = "find"),
    Use(
      "PlainTokens.scala",
      """\s*(?:([A-Za-z_][A-Za-z0-9_]*)|`([^`]+)`(?!`)|'([^'\\]*)'(?!\s*['"])|"([^"\\]*)"(?!\s*['"])|""" +
        """(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)(?![\w.])|(<=(?!>)|>=|<>|!=|==|[=<>(),.](?![=<>])))""",
      " a >= 'bc' and `d` < \"e\" or 12.3e-4 = f",
      way = "tokens"
    ),
    // A name in a text: of the owner's choice, and found at each of its places.
    Use("NeverColumns.scala", "(?<![\\w])\\Qssn\\E(?![\\w])", "ssn", way = "find", isLiteral = false)
  ) ++ IndexNames.patterns.map { case (pattern, sample) =>
    Use("IndexNames.scala", pattern.pattern, sample, isLiteral = false)
  }
}
