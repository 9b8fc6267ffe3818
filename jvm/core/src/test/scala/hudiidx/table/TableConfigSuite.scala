package hudiidx.table

import java.nio.charset.StandardCharsets.{ISO_8859_1, UTF_8}
import java.nio.file.{Files, Paths}

import hudiidx.storage.LocalStorage
import hudiidx.{DamagedTable, Fixtures, NotAHudiTable, UnsupportedTable}
import org.scalatest.funsuite.AnyFunSuite

class TableConfigSuite extends AnyFunSuite {

  private def read(path: String): TableConfig = TableConfig.read(LocalStorage, path, _ => ())

  private def tableOf(properties: String): String = {
    val dir = Fixtures.newFolder("config")
    Files.createDirectory(dir.resolve(".hoodie"))
    Files.write(dir.resolve(".hoodie/hoodie.properties"), properties.getBytes(ISO_8859_1))
    dir.toString
  }

  test("properties of every fixture table equal those that stock Hudi sees") {
    for (name <- Fixtures.good) {
      val config = read(Fixtures.table(name))
      val stock = Fixtures.json(name)
      val fields = stock.get("table_config").properties().iterator()
      while (fields.hasNext) {
        val field = fields.next()
        assert(config.properties.get(field.getKey) === Some(field.getValue.asText), s"$name ${field.getKey}")
      }
      assert(config.version === stock.get("table_version").asInt, name)
      assert(config.tableType.name === stock.get("table_type").asText, name)
      val partitions = stock.get("metadata_partitions")
      val expected = (0 until partitions.size).map(partitions.get(_).asText).toSet
      assert(config.metadataPartitions.toSet === expected, name)
      assert(config.timelineLayout === (if (config.version == 6) 1 else 2))
      assert(LocalStorage.status(config.timelineDir(Fixtures.table(name))).exists(_.isDirectory), name)
    }
  }

  test("folders follow the layout") {
    val v6 = Fixtures.table("v6-archived-cow")
    assert(read(v6).timelineDir(v6) === s"$v6/.hoodie")
    assert(read(v6).archiveDir(v6) === s"$v6/.hoodie/archived")
    val v9 = Fixtures.table("v9-archived-cow")
    assert(read(v9).timelineDir(v9) === s"$v9/.hoodie/timeline")
    assert(read(v9 + "/").historyDir(v9) === s"$v9/.hoodie/timeline/history")
  }

  test("typed fields of a table with complex keys and virtual keys") {
    val complex = read(Fixtures.table("v8-cow-complex"))
    assert(complex.partitionFields === Vector("region", "kind"))
    assert(complex.recordKeyFields === Vector("id", "sub"))
    assert(complex.keyGenerator === Some("COMPLEX"))
    assert(complex.hiveStyle && complex.urlEncode && complex.populateMetaFields && !complex.dropPartitionColumns)
    assert(!read(Fixtures.table("v9-virtual-mor")).populateMetaFields)
    assert(read(Fixtures.table("v9-mor-event")).partitionFields === Vector.empty)
  }

  test("a partition field is cut at its type, and escapes are undone") {
    val path = tableOf(
      "hoodie.table.name=t\nhoodie.table.version=9\nhoodie.table.partition.fields=a.b\\:SIMPLE,c:TIMESTAMP\n" +
        "hoodie.table.create.schema={\"type\"\\:\"record\"\\,\"doc\"\\=\"\\u00fc \\#\\!\"}\nhoodie.unknown = x \n"
    )
    val config = read(path)
    assert(config.partitionFields === Vector("a.b", "c"))
    assert(config.createSchema === Some("{\"type\":\"record\",\"doc\"=\"ü #!\"}"))
    assert(config.timelineDir(path) === s"$path/.hoodie/timeline")
    assert(config.text("hoodie.unknown") === Some("x"))
  }

  test(
    "a file of more properties than any table has is refused by its name and their number, and most is passed over"
  ) {
    def lines(count: Int) = "hoodie.table.name=t\nhoodie.table.version=9\n" + (3 to count).map(n => s"p$n=\n").mkString
    assert(read(tableOf(lines(10000))).properties.size === 10000)
    assert(read(tableOf(lines(10000) + "p3=1\n" * 5)).properties("p3") === "1")
    for (count <- Seq(10001, 400000)) {
      val path = tableOf(lines(count))
      val told = intercept[DamagedTable](read(path)).getMessage
      assert(
        told.startsWith(
          s"$path/.hoodie/hoodie.properties: it has $count properties, and 10000 are the most that are read"
        )
      )
      assert(told.endsWith("restore the file from a backup"))
    }
  }

  test("unknown versions, types, layouts and formats are refused by name") {
    def refusal(properties: String): String =
      intercept[UnsupportedTable](read(tableOf("hoodie.table.name=t\n" + properties))).getMessage
    assert(
      refusal("hoodie.table.version=5").contains(
        "version is 5, which hudiidx does not read, since supported are 6, 8, 9; upgrade"
      )
    )
    assert(refusal("hoodie.table.version=7").contains("version is 7"))
    assert(
      refusal("hoodie.table.version=10").contains(
        "version is 10, which hudiidx does not read, since supported are 6, 8, 9, and tables of version 10 keep their logs in"
      )
    )
    assert(
      refusal("hoodie.table.version=11").contains(
        "version is 11, which hudiidx does not read, since supported are 6, 8, 9; use a newer hudiidx"
      )
    )
    assert(refusal("").contains("version is 0"))
    assert(refusal("hoodie.table.version=9\nhoodie.meta.fields.mode=COMMIT_TIME_ONLY").contains("'COMMIT_TIME_ONLY'"))
    assert(refusal("hoodie.table.version=9\nhoodie.table.type=X").contains("'X'"))
    assert(refusal("hoodie.table.version=9\nhoodie.timeline.layout.version=3").contains("layout"))
    assert(refusal("hoodie.table.version=9\nhoodie.table.format=iceberg").contains("'iceberg'"))
  }

  test("properties that name a folder outside the table are refused by name") {
    def having(property: String): TableConfig =
      read(tableOf(s"hoodie.table.name=t\nhoodie.table.version=9\n$property\n"))
    def refused(property: String)(ask: TableConfig => Any): Unit = {
      val said = intercept[DamagedTable](ask(having(property))).getMessage
      assert(said.contains(property.takeWhile(_ != '=')), said)
    }
    refused("hoodie.timeline.path=../../other")(_.timelineDir("/t"))
    refused("hoodie.timeline.history.path=a/../../..")(_.historyDir("/t"))
    refused("hoodie.archivelog.folder=..")(_.archiveDir("/t"))
    for (bad <- Seq("/x", "s3a://x/y", "file:/x")) {
      refused(s"hoodie.timeline.path=$bad")(_.timelineDir("/t"))
      refused(s"hoodie.timeline.history.path=$bad")(_.historyDir("/t"))
      refused(s"hoodie.archivelog.folder=$bad")(_.archiveDir("/t"))
      refused(s"hoodie.table.metadata.partitions=files,$bad")(_.metadataPartitions)
      refused(s"hoodie.table.metadata.partitions.inflight=$bad")(_.inflightMetadataPartitions)
    }
    // A write takes the folders of these away.
    refused("hoodie.table.metadata.partitions=files,../../p")(_.metadataPartitions)
    refused("hoodie.table.metadata.partitions=..")(_.metadataPartitions)
    refused("hoodie.table.metadata.partitions.inflight=a/b")(_.inflightMetadataPartitions)
    for (bad <- Seq(".", "a/./b", "a//b", "a\\u0000b", "a\\nb"))
      refused(s"hoodie.timeline.path=$bad")(_.timelineDir("/t"))
    assert(having("hoodie.timeline.path=a/..b").timelineDir("/t") === "/t/.hoodie/a/..b")
    assert(having("hoodie.timeline.path=a/").timelineDir("/t") === "/t/.hoodie/a/")
  }

  test("properties that name no field are refused by name") {
    def having(property: String): TableConfig =
      read(tableOf(s"hoodie.table.name=t\nhoodie.table.version=9\n$property\n"))
    val names = Seq("recordkey.fields", "partition.fields", "ordering.fields", "precombine.field")
    for (
      name <- names.map(n => s"hoodie.table.$n"); bad <- Seq(".", "..", "a..b", ".a", "a.", "id,.", "a" + ".a" * 201)
    ) {
      val said = intercept[DamagedTable](having(s"$name=$bad")).getMessage
      assert(said.contains(name) && said.contains("names no field"), said)
    }
    names.foreach(n => having(s"hoodie.table.$n="))
    assert(having("hoodie.table.recordkey.fields=a.b, c").recordKeyFields === Vector("a.b", "c"))
    assert(having("hoodie.table.partition.fields=ts:TIMESTAMP").partitionFields === Vector("ts"))
  }

  test("a table that was made anew has its own timeline and no other, whatever an upgrade says") {
    def having(properties: String*): TableConfig =
      read(
        tableOf(
          properties.mkString("hoodie.table.name=t\nhoodie.hudiidx.remade.instant=20260101000000000\n", "\n", "\n")
        )
      )
    val own = "hoodie.timeline.path=timeline_20260101000000000"
    assert(having("hoodie.table.version=9", own).timelineDir("/t") === "/t/.hoodie/timeline_20260101000000000")
    val down = having("hoodie.table.version=6", own)
    assert(down.timelineDir("/t") === "/t/.hoodie" && down.timelineFolder === "timeline_20260101000000000")
    for (other <- Seq("hoodie.timeline.path=timeline", "hoodie.unknown=x"); version <- Seq(8, 9)) {
      val up = having(s"hoodie.table.version=$version", other)
      val said = Seq[TableConfig => String](_.timelineDir("/t"), _.historyDir("/t"))
        .map(ask => intercept[DamagedTable](ask(up)).getMessage)
      said.foreach(s => assert(s.contains(s"Set $own")))
    }
  }

  test("a path that is missing or no table is NotAHudiTable, at once") {
    val dir = Fixtures.newFolder("none").toString
    val noPause: Int => Unit = _ => fail("must not wait")
    def message(path: String) =
      intercept[NotAHudiTable](TableConfig.read(LocalStorage, path, noPause)).getMessage
    assert(message(s"$dir/x").startsWith(s"$dir/x: there is nothing at this path"))
    assert(message(dir).startsWith(s"$dir: not a Hudi table"))
  }

  test("tables without usable properties give typed errors") {
    for (name <- Fixtures.damaged("no-properties")) {
      val path = Fixtures.table(name)
      val error = intercept[NotAHudiTable](read(path))
      assert(error.getMessage.contains(s"$path/.hoodie/hoodie.properties"))
    }
    for (garbage <- Seq("", "\u0000\u0001\u00ff", "x=\\u00zz", "hoodie.table.type=COPY_ON_WRITE")) {
      val path = tableOf(garbage)
      assert(intercept[DamagedTable](read(path)).getMessage.startsWith(s"$path/.hoodie/hoodie.properties: "))
    }
    val wrong = tableOf("hoodie.table.name=t\nhoodie.table.version=9\nhoodie.table.checksum=1\n")
    assert(
      intercept[DamagedTable](read(wrong)).getMessage.contains("checksum is 1 but the table's name gives 498511606")
    )
    val noNumber = tableOf("hoodie.table.name=t\nhoodie.table.version=nine\n")
    assert(intercept[DamagedTable](read(noNumber)).getMessage.contains("'nine'"))
  }

  test("while a writer replaces the file, its backup is read") {
    for (main <- Seq(None, Some("hoodie.table.na"))) {
      val path = Fixtures.copy("v9-props-only")
      val file = Paths.get(path, ".hoodie/hoodie.properties")
      Files.move(file, Paths.get(file.toString + ".backup"))
      main.foreach(text => Files.write(file, text.getBytes(UTF_8)))
      assert(read(path).tableName === "t_props")
    }
  }

  test("a file that comes back during the pauses is read") {
    val path = Fixtures.copy("v9-props-only")
    val file = Paths.get(path, ".hoodie/hoodie.properties")
    val away = Paths.get(path, "away")
    Files.move(file, away)
    val config = TableConfig.read(LocalStorage, path, attempt => if (attempt == 2) Files.move(away, file): Unit)
    assert(config.tableName === "t_props")
  }
}
