package hudiidx.table

import hudiidx.log._
import hudiidx.merge.{HFileBlockRows, MergeRules}
import hudiidx.{Fixtures, TableFormat, UnsupportedTable}
import org.scalatest.funsuite.AnyFunSuite

/** Merge rules from table properties, by the tables of the format notes §7.2, §7.3 and §7.6. */
final class TableMergeRulesSuite extends AnyFunSuite {
  private val model = "org.apache.hudi.common.model."
  private val payload = "hoodie.compaction.payload.class"
  private val precombine = "hoodie.table.precombine.field" -> "ts"

  private def configOf(version: Int, more: (String, String)*): TableConfig =
    TableConfig.of("t", Map("hoodie.table.version" -> version.toString) ++ more)

  private def rules(version: Int, more: (String, String)*): LogRules = TableMergeRules.of(configOf(version, more: _*))

  test("version 6 goes by the payload class, whatever the strategy id; without one records overwrite") {
    val strategy = "hoodie.compaction.record.merger.strategy" -> "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5"
    def mode(name: String) = rules(6, precombine, strategy, payload -> name).mode
    assert(mode(model + "DefaultHoodieRecordPayload") === MergeMode.EventTime)
    assert(mode("com.uber.hoodie.common.model.OverwriteWithLatestAvroPayload") === MergeMode.CommitTime)
    assert(mode(model + "PartialUpdateAvroPayload") === MergeMode.EventTime)
    assert(mode("org.example.DefaultHoodieRecordPayload") === MergeMode.Custom)
    assert(rules(6, precombine, strategy).mode === MergeMode.CommitTime)
  }

  test("later versions go by the stated mode; event time without an ordering field is commit time") {
    def mode(version: Int, stated: String, more: (String, String)*) =
      rules(version, more :+ ("hoodie.record.merge.mode" -> stated): _*).mode
    for (version <- Seq(8, 9)) {
      assert(mode(version, "EVENT_TIME_ORDERING", precombine) === MergeMode.EventTime)
      assert(mode(version, "EVENT_TIME_ORDERING") === MergeMode.CommitTime)
      assert(mode(version, "COMMIT_TIME_ORDERING", precombine) === MergeMode.CommitTime)
      assert(mode(version, "CUSTOM", precombine, payload -> "org.example.Mine") === MergeMode.Custom)
      assert(mode(version, "CUSTOM", precombine) === MergeMode.Custom)
    }
    assert(rules(9, precombine).mode === MergeMode.EventTime)
    assert(rules(9).mode === MergeMode.CommitTime)
    assert(rules(9, "hoodie.table.ordering.fields" -> "a, b.c").orderingFields === Vector("a", "b.c"))
    val e = intercept[UnsupportedTable](mode(9, "OTHER"))
    assert(e.getMessage.contains("hoodie.record.merge.mode 'OTHER'"))
  }

  test(
    "stock's payload classes that mean no merge mode are refused by their names, and so is the one that turns the order around"
  ) {
    val unknown =
      Seq("ReverseOrderHoodieRecordPayload", "HoodieAvroPayload", "RewriteAvroPayload", "EmptyHoodieRecordPayload")
    for (name <- unknown.map(model + _) :+ "org.apache.hudi.common.HoodieJsonPayload"; version <- Seq(6, 8, 9)) {
      val custom = if (version == 6) Nil else Seq("hoodie.record.merge.mode" -> "CUSTOM")
      val config = configOf(version, precombine +: (payload -> name) +: custom: _*)
      assert(intercept[UnsupportedTable](MergeRules.of(config)).getMessage.contains(name), version)
    }
  }

  test("delete markers come from either form of the properties, and before version 9 from the payload class") {
    val (field, marker) = ("hoodie.payload.delete.field", "hoodie.payload.delete.marker")
    assert(rules(8, field -> "op", marker -> "x").deleteMarker === Some(DeleteMarker("op", "x")))
    val prefix = "hoodie.record.merge.property."
    assert(rules(9, prefix + field -> "op", prefix + marker -> "x").deleteMarker === Some(DeleteMarker("op", "x")))
    assert(rules(8, field -> "op").deleteMarker === None)
    assert(rules(6, payload -> (model + "AWSDmsAvroPayload")).deleteMarker === Some(DeleteMarker("Op", "D")))
    val postgres = rules(6, precombine, payload -> (model + "debezium.PostgresDebeziumAvroPayload"))
    assert(postgres.deleteMarker === Some(DeleteMarker("_change_operation_type", "d")))
    assert(postgres.orderingFields === Vector("_event_lsn") && postgres.mode === MergeMode.EventTime)
    val mysql = rules(8, precombine, payload -> (model + "debezium.MySqlDebeziumAvroPayload"))
    assert(mysql.deleteMarker === postgres.deleteMarker && mysql.orderingFields === Vector("_event_seq"))
    assert(mysql.order === RecordOrder.Sequence && postgres.order === RecordOrder.LastOfEqual)
    val nine = rules(9, precombine, payload -> (model + "debezium.MySqlDebeziumAvroPayload"))
    assert(nine.order === RecordOrder.LastOfEqual)
    val first = rules(8, precombine, payload -> (model + "FirstValueAvroPayload"))
    assert(first.order === RecordOrder.FirstOfEqual && first.mode === MergeMode.EventTime)
    assert(
      rules(6, payload -> "org.apache.hudi.payload.AWSDmsAvroPayload").deleteMarker === Some(DeleteMarker("Op", "D"))
    )
    assert(rules(9).deleteMarker === None)
  }

  test(
    "before version 9 payload classes without an order are asked of deletes alone by Hudi 1.0, of log records by 0.15"
  ) {
    for (name <- Seq("AWSDmsAvroPayload", "OverwriteNonDefaultsWithLatestAvroPayload")) {
      assert(rules(6, precombine, payload -> (model + name)).mode === MergeMode.CommitTime)
      val eight = Seq("hoodie.record.merge.mode" -> "CUSTOM", payload -> (model + name))
      assert(rules(8, eight :+ precombine: _*).mode === MergeMode.OrderedDeletes)
      assert(rules(8, eight: _*).mode === MergeMode.CommitTime)
    }
  }

  test("by the rules of 1.1 version 6 merges as later versions, by its payload class or its ordering field") {
    def of(more: (String, String)*) =
      TableMergeRules.of(TableConfig.of("t", Map("hoodie.table.version" -> "6") ++ more), as11 = true)
    assert(of(precombine, payload -> (model + "OverwriteWithLatestAvroPayload")).mode === MergeMode.CommitTime)
    assert(of(precombine, payload -> (model + "DefaultHoodieRecordPayload")).mode === MergeMode.EventTime)
    assert(of(precombine, payload -> (model + "PartialUpdateAvroPayload")).mode === MergeMode.Custom)
    assert(of(precombine).mode === MergeMode.EventTime && of().mode === MergeMode.CommitTime)
    assert(!of(precombine).asHudi015 && rules(6, precombine).asHudi015)
    val later = TableConfig.of("t", Map("hoodie.table.version" -> "9", precombine))
    assert(TableMergeRules.of(later, as11 = true) === TableMergeRules.of(later))
  }

  test("key fields are needed for virtual keys alone") {
    assert(rules(9, "hoodie.table.recordkey.fields" -> "a").keyForm === None)
    val virtual = "hoodie.populate.meta.fields" -> "false"
    assert(rules(9, virtual, "hoodie.table.recordkey.fields" -> "a,b").keyForm.map(_.fields) === Some(Vector("a", "b")))
    assert(intercept[UnsupportedTable](rules(9, virtual)).getMessage.contains("hoodie.table.recordkey.fields"))
  }

  test("HFile blocks of stock's metadata tables give their cells' keys") {
    val storage = hudiidx.storage.LocalStorage
    for (name <- Seq("v6-mor-part", "v9-mor-part")) {
      val table = Fixtures.table(name)
      val logs = Fixtures.filesBelow(table).filter(f => f.contains("/metadata/files/.") && f.contains(".log."))
      val rules = LogRules(TableFormat.V9, MergeMode.CommitTime, Vector.empty, None, None)
      val all = logs
        .map(f => s"$table/$f")
        .flatMap { file =>
          val blocks = SliceLog.countedBlocks(storage, Vector(file), BlockRules(TableFormat.V9, None, _ => true))
          val readers = BlockReaders(hfile = Some(HFileBlockRows), parquet = None)
          val keys = LogKeys.of(storage, blocks, rules, readers, LogKeysOptions())
          try keys.map(k => new String(k.keyUtf8, "UTF-8")).toVector
          finally keys.close()
        }
        .toSet
      val partitions = Set("lima", "nyc", "oslo", "sf", "__all_partitions__")
      assert(all.nonEmpty && all.subsetOf(partitions) && all.size > 2, all)
    }
  }
}
