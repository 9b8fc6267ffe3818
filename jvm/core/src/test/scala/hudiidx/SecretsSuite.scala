package hudiidx

import java.nio.file.Files

import scala.collection.JavaConverters._
import scala.util.Random

import com.fasterxml.jackson.databind.ObjectMapper
import org.scalatest.funsuite.AnyFunSuite

/** The cases stand in tests/fixtures/masked-texts.json: `tests/test_patterns.py` has them too. */
class SecretsSuite extends AnyFunSuite {

  private lazy val cases =
    new ObjectMapper().readValue(
      Files.readString(Fixtures.dir.resolve("masked-texts.json")),
      classOf[java.util.Map[String, Object]]
    )

  private def listed(name: String): Vector[String] =
    cases.get(name).asInstanceOf[java.util.List[String]].asScala.toVector

  test("passwords in paths and keys in queries are masked in texts and errors") {
    val told = cases.get("masked").asInstanceOf[java.util.Map[String, String]].asScala.toVector
    assert(told.size > 15)
    told.foreach { case (text, masked) =>
      assert(Secrets.masked(text) === masked)
      assert(new DamagedIndex(text).getMessage === Texts.shown(masked))
    }
    listed("kept").foreach(text => assert(Secrets.masked(text) === text))
  }

  test("the names that bear secrets are those of the cases, in any case of letters") {
    assert(Secrets.InQueries.toVector.sorted === listed("in_queries").sorted)
    assert(Secrets.Anywhere.toVector.sorted === listed("anywhere").sorted)
    Secrets.InQueries.foreach { n =>
      val up = n.toUpperCase(java.util.Locale.ROOT)
      assert(Secrets.masked(s"x $n=1 y?$n=2&$up=3;$n=4#$n=5") === s"x $n=1 y?$n=***&$up=***;$n=***#$n=***")
    }
    Secrets.Anywhere.foreach { n =>
      val up = n.toUpperCase(java.util.Locale.ROOT)
      assert(Secrets.masked(s"x$n=1 $n=2,$up=3") === s"x$n=1 $n=***,$up=***")
    }
  }

  test("what is masked or shown stays so, whatever is told of it again") {
    val (bits, drawn) = (listed("bits"), new Random(TestSettings.seed))
    for (_ <- 0 until 50000) {
      val text = Vector.fill(drawn.nextInt(14))(bits(drawn.nextInt(bits.size))).mkString
      val (masked, shown) = (Secrets.masked(text), Texts.shown(text))
      assert(Secrets.masked(masked) === masked)
      assert(Texts.shown(shown) === shown)
    }
  }

  test("each letter of 80 KB is looked at a few times, whatever they are") {
    val bits =
      listed("bits") ++ Seq("a://b:c", "a://b:c ", "a://b:c@", "&sig=", "&sig=a ", "a://", "-", "accountkey", "@ ")
    for (bit <- bits; before <- Seq("", "a://b:c"); behind <- Seq("", "@", " @", "=", "'")) {
      val text = before + bit * (80000 / bit.length) + behind
      def counted = new CountedText(text, 40L * text.length)
      Secrets.withoutPasswords(counted)
      Secrets.withoutKeys(counted)
    }
  }

  test("paths with a password are refused, others are not") {
    val refused = intercept[InvalidOption](Secrets.refuse("s3a://key:hidden@bucket/t")).getMessage
    assert(refused.startsWith("s3a://key:***@bucket/t: ") && !refused.contains("hidden"))
    intercept[InvalidOption](Secrets.refuse("s3a://key:hid den@bucket/t"))
    listed("kept").foreach(Secrets.refuse)
    Secrets.refuse("s3a://bucket/t/a?token=1@b")
  }
}
