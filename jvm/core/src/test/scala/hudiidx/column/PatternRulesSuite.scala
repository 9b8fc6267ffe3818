package hudiidx.column

import java.util.regex.{Pattern, PatternSyntaxException}

import hudiidx.CountedText
import hudiidx.TestSettings.{isLong, seed}
import hudiidx.column.expression.ExpressionTree.{Call, Column, Constant}
import hudiidx.column.expression.{ExpressionGrowth, ExpressionText, ExpressionTree, PatternRules}
import org.scalatest.funsuite.AnyFunSuite

import scala.util.Random

/** Which patterns an expression may have, and what those take on texts that are made to be bad for them. */
class PatternRulesSuite extends AnyFunSuite {
  import PatternRulesSuite._

  private def text(value: String) = Constant("string", Some(value))
  private def rlike(pattern: String) = ExpressionTree.refusal(Call("rlike", Vector(Rider, text(pattern))))
  private def like(pattern: String) = ExpressionTree.refusal(Call("like", Vector(Rider, text(pattern))))

  test("patterns of the usual kinds are taken") {
    Vector(
      "",
      "a",
      "^a",
      "a$",
      "[0-9]+",
      "^[^-]*-",
      "^([^-]*)-(.*)",
      "^(\\d{4})-(\\d{2})",
      "-",
      "\\|",
      "(foo|bar)_",
      "^.*$"
    )
      .foreach(p => assert(rlike(p).isEmpty, p))
    Vector("", "a", "a%", "%a", "%a%", "a%b", "a\\%b%c", "a_b%%", "%").foreach(p => assert(like(p).isEmpty, p))
  }

  test("patterns that may take long are refused, and those that are no short constants") {
    Vector(
      "(.*a){25}b",
      "(a+)+$",
      "(a|aa)*b",
      "a*b",
      "[0-9]+$",
      "^a*a*b",
      "(?=(.*))",
      "(?<=a)b",
      "(?i)a",
      "(a)\\1",
      "a?" * 25 + "a" * 25,
      "a{1,10}" * 4,
      "a{9999}",
      "[[a]b]",
      "[a&&b]",
      "\\Qa\\E",
      "\\p{L}",
      "\\R",
      "\\b",
      "a**",
      "(a",
      "a)",
      "[a",
      "a{",
      "a{2,1}",
      "a{2}{3}",
      "a^b",
      "a$b",
      "x|^a*|b*c",
      "(a*|b)c",
      "a" * 257,
      "(a|b)" * 10,
      "\\"
    ).foreach(p => assert(rlike(p).isDefined, p))
    Vector("%a%b", "a%b%c", "%%a", "%a" * 15).foreach(p => assert(like(p).isDefined, p))
    val calls = Vector(
      "rlike(\"a\", \"b\")",
      "rlike(\"a\", upper([string]\"b\"))",
      "concat(\"a\", string(rlike([string]\"aaa\", [string]\"b\")))",
      "like(\"a\", \"b\")",
      "split(\"a\", \"b\")",
      "str_to_map(\"a\", [string]\",\", [string]\"(a+)+b\")",
      "parse_url(\"a\", [string]\"QUERY\", [string]\"(a+)+b\")",
      "concat(\"a\", space([int]\"9\"))"
    )
    calls.foreach(t => assert(ExpressionText.parse(t).isLeft, t))
    Searching.foreach { f =>
      val call = Call(f, Vector(Rider, text("(a+)+b"), text("$1")))
      assert(ExpressionTree.refusal(call).exists(_.contains("pattern")), f)
    }
  }

  test("functions that take the product of two texts' lengths are refused unless one of them is a short constant") {
    Vector(
      "levenshtein",
      "contains",
      "instr",
      "locate",
      "position",
      "replace",
      "split_part",
      "substring_index",
      "trim",
      "btrim",
      "ltrim",
      "rtrim"
    )
      .foreach { f =>
        def refusal(args: ExpressionTree*) = ExpressionTree.refusal(Call(f, args.toVector ++ ends(f)))
        def ends(f: String) = if (f == "replace") Vector(text("x")) else Vector.empty
        assert(refusal(Rider, Column(Vector("other"))).exists(_.contains("constant of at most 256")), f)
        assert(refusal(Rider, Call("upper", Vector(Rider))).isDefined, f)
        assert(refusal(Rider, text("x" * 257)).isDefined && refusal(text("x" * 257), Rider).isDefined, f)
        assert(refusal(Rider, text("x" * 256)).isEmpty && refusal(text("x"), Rider).isEmpty, f)
      }
    assert(ExpressionTree.refusal(Call("trim", Vector(Rider))).isEmpty)
  }

  test("what Spark repeats counts as often, so that few letters are not many parts") {
    def nested(f: String, n: Int): ExpressionTree =
      (0 until n).foldLeft[ExpressionTree](Rider)((x, _) => Call(f, Vector(x, text("a%b"))))
    Vector("nullif", "regexp_substr", "right", "like").foreach { f =>
      assert(ExpressionTree.refusal(nested(f, 3)).isEmpty && ExpressionTree.refusal(nested(f, 11)).isDefined, f)
    }
  }

  test(
    "whatever pattern is taken, it looks at each letter of a text a bounded number of times, and gives what its size is told by"
  ) {
    val drawn = new Random(seed)
    info(s"HUDIIDX_TEST_SEED=$seed")
    var (taken, open) = (0, 0)
    (0 until (if (isLong) 20000 else 1000)).foreach { _ =>
      val pattern = draw(drawn, 3)
      if (rlike(pattern).isEmpty && compiles(pattern)) {
        taken += 1
        if (pattern.exists("*+".indexOf(_) >= 0)) open += 1
        bad(drawn).foreach(t => withClue(s"HUDIIDX_TEST_SEED=$seed: $pattern: ")(assert(ends(pattern, t))))
        val call = Call("regexp_replace", Vector(Rider, text(pattern), text("$0x$0")))
        val growth = ExpressionGrowth.of(call).getOrElse(fail(pattern))
        val few = "aab\n" * 20
        val most = growth.perByte * few.length + growth.plus
        withClue(pattern)(assert(Pattern.compile(pattern).matcher(few).replaceAll("$0x$0").length <= most))
      }
      val letters = Seq.fill(drawn.nextInt(9))("ab_%%".charAt(drawn.nextInt(5))).mkString
      if (like(letters).isEmpty) {
        val pattern = "(?s)^" + letters.replace("_", ".").replace("%", ".*") + "\\z"
        bad(drawn).foreach(t => withClue(s"HUDIIDX_TEST_SEED=$seed: $letters: ")(assert(ends(pattern, t))))
      }
    }
    info(s"$taken patterns were taken, $open of them with parts of any length")
    assert(taken > 100 && open > 50)
  }

  test("patterns that look at letters too often are noticed") {
    Seq("a*b", "^a*a*b", "(a|aa)*b", "(?s)^.*a.*b").foreach(p => assert(!ends(p, "a" * Letters), p))
  }

  private def compiles(pattern: String): Boolean =
    try Pattern.compile(pattern) != null
    catch { case _: PatternSyntaxException => false }

  private def ends(pattern: String, text: String): Boolean = {
    val matcher = Pattern.compile(pattern).matcher(new CountedText(text, (PatternRules.MostLooks + 16) * text.length))
    try {
      while (matcher.find()) ()
      true
    } catch { case _: CountedText.TooOften | _: StackOverflowError => false }
  }
}

private object PatternRulesSuite {
  private val Letters = 10000
  private val Rider = Column(Vector("rider"))
  private val Searching = Vector(
    "rlike",
    "regexp",
    "regexp_like",
    "regexp_count",
    "regexp_extract",
    "regexp_extract_all",
    "regexp_instr",
    "regexp_replace",
    "regexp_substr",
    "split"
  )

  /** Of few letters, so that its parts take the same. */
  private def draw(drawn: Random, depth: Int): String = {
    def one(all: String*): String = all(drawn.nextInt(all.size))
    def atom(d: Int): String =
      if (d > 0 && drawn.nextInt(4) == 0) s"(${draw(drawn, d - 1)}${one("", "", "|" + draw(drawn, d - 1))})"
      else one("a", "a", "b", ".", "[ab]", "\\w", "[^b]")
    def times: String = one("", "", "", "", "*", "+", "?", "{1,3}", "{2}", "{3,}", "*?", "++")
    one("", "", "^") + Seq.fill(1 + drawn.nextInt(4))(atom(depth) + times).mkString + one("", "", "", "$")
  }

  private def bad(drawn: Random): Vector[String] = {
    val bits = Vector("a", "b", "ab", "aab", "a\n")
    Vector
      .fill(2)(bits(drawn.nextInt(bits.size)))
      .map(bit => bit * (Letters / bit.length) + Vector("", "c", "\n\n")(drawn.nextInt(3)))
  }
}
