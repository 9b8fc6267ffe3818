package hudiidx

import java.nio.file.{Files, Path}
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.JavaConverters._

/** docs/laws.md names tests that exist. */
class LawsSuite extends AnyFunSuite {
  private val mention = """`(\w+|\w+\.py)` "([^"]+)"""".r

  private lazy val sources: Map[String, Vector[Path]] = {
    val roots = Seq("jvm", "tests", "integration").map(Fixtures.repoRoot.resolve(_))
    val found = roots.flatMap { root =>
      val walk = Files.walk(root)
      try walk.iterator.asScala.filter(f => isTest(f)).toVector
      finally walk.close()
    }
    found.toVector.groupBy(_.getFileName.toString)
  }

  private def isTest(file: Path): Boolean = {
    val path = file.toString
    path.endsWith(".py") || (path.endsWith(".scala") && path.contains("/src/test/"))
  }

  private lazy val page: String = Files.readString(Fixtures.repoRoot.resolve("docs").resolve("laws.md"))

  test("every test that the page of laws names exists under that name in that suite") {
    val named = mention.findAllMatchIn(page).map(m => m.group(1) -> m.group(2)).toVector
    assert(named.size > 50)
    val missing = named.distinct.filterNot { case (suite, name) => isThere(suite, name) }
    assert(missing === Vector.empty)
  }

  test("every law and every row of the page names a test") {
    val sections = page.split("\n### ").drop(1).map(_.split("\n## ")(0))
    val silent = sections.filter(s => mention.findFirstIn(s).isEmpty).map(_.takeWhile(_ != '\n'))
    assert(sections.length === 7 && silent.isEmpty)
    val rows = page.linesIterator.filter(_.startsWith("| ")).drop(1).toVector
    assert(rows.size > 15 && rows.filter(r => mention.findFirstIn(r).isEmpty) === Vector.empty)
  }

  private def isThere(suite: String, name: String): Boolean = {
    val quoted = if (suite.endsWith(".py")) s"def $name(" else s""""$name""""
    val file = if (suite.endsWith(".py")) suite else s"$suite.scala"
    sources.getOrElse(file, Vector.empty).exists(f => Files.readString(f).contains(quoted))
  }
}
