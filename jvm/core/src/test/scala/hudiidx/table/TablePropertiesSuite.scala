package hudiidx.table

import hudiidx.{Fixtures, UnsupportedTable}
import hudiidx.table.PropertyUse.{Honoured, Refused}
import java.nio.file.{Files, Path}
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.JavaConverters._

class TablePropertiesSuite extends AnyFunSuite {
  private val plain =
    Map("hoodie.table.name" -> "t", "hoodie.table.version" -> "9", "hoodie.table.type" -> "COPY_ON_WRITE")

  private def refusal(more: (String, String)*): String =
    intercept[UnsupportedTable](TableConfig.of("t/.hoodie/hoodie.properties", plain ++ more)).getMessage

  private def served(more: (String, String)*): TableConfig =
    TableConfig.of("t/.hoodie/hoodie.properties", plain ++ more)

  test("docs/properties.md has each property with its decision") {
    val row = """\| `([^`]+)` \| (\w+) \| ([^|]+) \|""".r
    val page = Files.readString(Fixtures.repoRoot.resolve("docs").resolve("properties.md"))
    val told =
      row.findAllMatchIn(page).map(m => m.group(1) -> (m.group(2) -> m.group(3).split("; served with")(0))).toMap
    val all = TableProperties.Known ++ TableProperties.Families.map { case (prefix, use) => s"$prefix*" -> use }
    assert(told === all.map { case (key, use) => key -> (use.name -> use.why) })
  }

  test("what is honoured stands somewhere else in the code too") {
    val walk = Files.walk(Fixtures.repoRoot.resolve("jvm"))
    val sources =
      try walk.iterator.asScala.filter(isMain).map(Files.readString(_)).toVector
      finally walk.close()
    val honoured = TableProperties.Known.collect { case (key, _: Honoured) => key }.toVector
    assert(honoured.size > 20 && honoured.filterNot(key => sources.exists(_.contains(s""""$key"""))) === Vector.empty)
  }

  private def isMain(file: Path): Boolean = {
    val path = file.toString
    path.endsWith(".scala") && path.contains("/src/main/") && !path.endsWith("TableProperties.scala")
  }

  test("a property with a value that is not served is refused by its name, whatever call it is; other values are not") {
    val refused = TableProperties.Known.collect { case (key, use: Refused) => key -> use }
    assert(refused.size === 8)
    for ((key, use) <- refused) {
      val message = refusal(key -> "lance")
      assert(message.contains(s"t/.hoodie/hoodie.properties: $key is 'lance'") && message.contains(use.why))
      for (value <- use.served.toSeq ++ use.served.map(_.toLowerCase) :+ "" :+ " ") served(key -> value): Unit
    }
  }

  test("slash-separated dates are refused beside other partition fields, hive style and escapes") {
    val slash = TableConfig.SlashDates -> "true"
    val one = "hoodie.table.partition.fields" -> "d"
    assert(served(slash, one).slashDates && !served(one).slashDates)
    for (
      other <- Seq(
        "hoodie.table.partition.fields" -> "d,e",
        "hoodie.datasource.write.hive_style_partitioning" -> "true",
        "hoodie.datasource.write.partitionpath.urlencode" -> "true"
      )
    ) assert(refusal(slash, one, other).contains(s"${TableConfig.SlashDates} is true beside"))
  }

  test(
    "of a folder with slashes for dashes a date is the value; others may have had either, and are the files' to tell"
  ) {
    val texts =
      new PartitionTexts(served(TableConfig.SlashDates -> "true", "hoodie.table.partition.fields" -> "d"), Vector("d"))
    val form = PartitionPathForm.of(served(TableConfig.SlashDates -> "true", "hoodie.table.partition.fields" -> "d"))
    assert(form.path(Vector("2026-01-05")) === "2026/01/05" && texts.of("2026/01/05") === Some(Vector("2026-01-05")))
    for (value <- Seq("lima", "20260105", PartitionPathForm.NoValue)) {
      assert(form.path(Vector(value)) === value && texts.of(value) === Some(Vector(value)))
    }
    for (value <- Seq("a-b", "2026-1-5", "2026-01-05 10:00:00", "2026-01"))
      assert(texts.of(form.path(Vector(value))) === None)
  }

  test("a key that is not known is refused where its name says partition, key, merge, layout, storage, format or log") {
    for (
      key <- Seq(
        "hoodie.table.partitioning.scheme",
        "hoodie.meta.primarykeys",
        "hoodie.record.merger.x",
        "hoodie.storage.layout.kind",
        "hoodie.table.layout",
        "hoodie.table.file_format",
        "hoodie.table.log.kind",
        "hoodie.table.logfile"
      )
    )
      assert(
        refusal(key -> "x")
          .contains(s"the table has the property $key, which hudiidx does not read, since it does not know")
      )
    for (key <- Seq("hoodie.catalog.owner", "hoodie.x", "hoodie.blog", "myhoodie.partition", "owner.key"))
      assert(served(key -> "x").unknownProperties === (if (key.startsWith("hoodie.")) Vector(key) else Vector.empty))
  }

  test("no table of stock Hudi's has a property that is not known") {
    for (name <- Fixtures.good) {
      val (file, properties) = PropertiesFile.read(hudiidx.storage.LocalStorage, Fixtures.table(name), _ => ())
      assert(TableConfig.of(file, properties).unknownProperties === Vector.empty, name)
    }
  }
}
