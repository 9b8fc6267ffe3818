package hudiidx.merge

import hudiidx.UnsupportedTable
import hudiidx.log.{MergeMode, RecordOrder}
import hudiidx.table.TableConfig
import org.scalatest.funsuite.AnyFunSuite

/** How rows come about, from table properties: format notes §7.6. */
final class MergeRulesSuite extends AnyFunSuite {
  private val model = "org.apache.hudi.common.model."
  private val payload = "hoodie.compaction.payload.class"
  private val precombine = "hoodie.table.precombine.field"

  private def rules(version: Int, more: (String, String)*): MergeRules = {
    val coded = if (version == 8) Seq("hoodie.record.merge.mode" -> "CUSTOM") else Nil
    MergeRules.of(TableConfig.of("t", Map("hoodie.table.version" -> version.toString) ++ coded ++ more))
  }

  private def refused(version: Int, more: (String, String)*): String =
    intercept[UnsupportedTable](rules(version, more: _*)).getMessage

  test("before version 9 payload classes mix: Hudi 0.15 log records with the base row alone, 1.0 any two versions") {
    for (version <- Seq(6, 8)) {
      val nulls = rules(version, precombine -> "ts", payload -> (model + "PartialUpdateAvroPayload"))
      assert(nulls === MergeRules(nulls.log, ColumnMerge.Nulls, newestMeta = true))
      assert(nulls.log.mode === MergeMode.EventTime)
      val defaults =
        rules(version, precombine -> "ts", payload -> (model + "OverwriteNonDefaultsWithLatestAvroPayload"))
      assert(defaults === MergeRules(defaults.log, ColumnMerge.EqualDefaults, withBaseAlone = version == 6))
      val debezium = model + "debezium.PostgresDebeziumAvroPayload"
      val postgres = rules(version, precombine -> "_event_lsn", payload -> debezium)
      assert(postgres.mixing === ColumnMerge.Unavailable("__debezium_unavailable_value"))
      assert(postgres.withBaseAlone === (version == 6) && postgres.winnersAsTheyAre)
      val mysql = rules(version, precombine -> "_event_seq", payload -> (model + "debezium.MySqlDebeziumAvroPayload"))
      assert(mysql === MergeRules(mysql.log) && mysql.log.order === RecordOrder.Sequence)
      assert(rules(version, precombine -> "ts", payload -> (model + "AWSDmsAvroPayload")).mixing === ColumnMerge.Never)
    }
  }

  test("from version 9 on the stated mode mixes, whatever class is named") {
    val mode = "hoodie.table.partial.update.mode"
    assert(rules(9, mode -> "IGNORE_DEFAULTS").mixing === ColumnMerge.Defaults)
    val value = "hoodie.record.merge.property.hoodie.write.partial.update.unavailable.value"
    assert(rules(9, mode -> "FILL_UNAVAILABLE", value -> "?").mixing === ColumnMerge.Unavailable("?"))
    assert(rules(9, mode -> "FILL_UNAVAILABLE").mixing === ColumnMerge.Never)
    assert(refused(9, mode -> "OTHER").contains("hoodie.table.partial.update.mode is 'OTHER'"))
    assert(rules(9, payload -> (model + "PartialUpdateAvroPayload")).mixing === ColumnMerge.Never)
  }

  test("what only Hudi's code can merge is refused by the class's name, with the way to read without it") {
    for (version <- Seq(6, 8)) {
      val name = "org.example.Mine"
      val message = refused(version, precombine -> "ts", payload -> name)
      assert(message.contains(name) && message.contains("hoodie.datasource.query.type=read_optimized"))
    }
    val postgres = model + "debezium.PostgresDebeziumAvroPayload"
    val mysql = model + "debezium.MySqlDebeziumAvroPayload"
    for (name <- Seq(postgres, mysql)) assert(refused(6, precombine -> "ts", payload -> name).contains("two orders"))
    val by11 = TableConfig.of("t", Map("hoodie.table.version" -> "6", payload -> (model + "PartialUpdateAvroPayload")))
    assert(
      intercept[UnsupportedTable](MergeRules.of(by11, as11 = true)).getMessage.contains("PartialUpdateAvroPayload")
    )
  }
}
