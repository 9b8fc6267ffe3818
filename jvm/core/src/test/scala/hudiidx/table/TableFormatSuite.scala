package hudiidx.table

import hudiidx.storage.LocalStorage
import hudiidx.{Fixtures, TableFormat}
import java.nio.file.{Files, Path}
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.JavaConverters._

class TableFormatSuite extends AnyFunSuite {

  test("tables of stock Hudi are as their version's format says") {
    // The metadata tables that they bring are tables of their version too.
    val configs = for {
      name <- Fixtures.good
      path <- Vector(Fixtures.table(name), s"${Fixtures.table(name)}/.hoodie/metadata")
      if Files.exists(Path.of(path, ".hoodie", "hoodie.properties"))
    } yield TableConfig.read(LocalStorage, path)
    assert(configs.map(_.format).distinct.sortBy(_.version) === TableFormat.All)
    configs.foreach { config =>
      val format = config.format
      withClue(config.file) {
        assert(config.timelineLayout === format.timelineLayout)
        // What was upgraded has properties of both kinds.
        if (config.initialVersion == config.version)
          assert(config.text("hoodie.table.initial.version").isDefined === format.typedProperties)
        val dir = config.timelineDir(config.file.stripSuffix("/.hoodie/hoodie.properties"))
        val commits = LocalStorage.list(dir).filter(_.name.endsWith("commit"))
        assert(commits.forall(_.name.contains("_") == format.completionTimes))
      }
    }
  }

  test("no other file holds a table's version against a number") {
    val comparison = """(?:[vV]ersion|Format) *(?:<|<=|>|>=|==|!=) *\w""".r
    val tables = """(?:config|format|table)\w*\.(?:version|initialVersion)|tableVersion|initialVersion""".r
    val files = Files.walk(Fixtures.repoRoot.resolve("jvm"))
    val found =
      try
        for {
          file <- files.iterator.asScala.toVector
          text = file.toString
          if text.endsWith(".scala") && text.contains("/src/main/") && file.getFileName.toString != "TableFormat.scala"
          line <- Files.readAllLines(file).asScala
          if comparison.findFirstIn(line).isDefined && tables.findFirstIn(line).isDefined
        } yield s"${file.getFileName}: ${line.trim}"
      finally files.close()
    assert(found === Vector.empty)
  }
}
