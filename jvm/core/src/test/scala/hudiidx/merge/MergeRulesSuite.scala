package hudiidx.merge

import hudiidx.UnsupportedTable
import hudiidx.log.MergeMode
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

  private val mixing = Vector(
    "PartialUpdateAvroPayload" -> "ts",
    "OverwriteNonDefaultsWithLatestAvroPayload" -> "ts",
    "debezium.PostgresDebeziumAvroPayload" -> "_event_lsn"
  )

  test("on version 6 payload classes mix as Hudi 0.15 runs their code") {
    val Vector(nulls, defaults, postgres) =
      mixing.map { case (name, ordering) => rules(6, precombine -> ordering, payload -> (model + name)) }
    assert(nulls === MergeRules(nulls.log, Mixing.Nulls, newestMeta = true) && nulls.log.mode === MergeMode.EventTime)
    assert(defaults === MergeRules(defaults.log, Mixing.EqualDefaults, withBaseAlone = true))
    assert(postgres.mixing === Mixing.Unavailable("__debezium_unavailable_value"))
    assert(postgres.withBaseAlone && postgres.winnersAsTheyAre)
    assert(rules(6, precombine -> "ts", payload -> (model + "AWSDmsAvroPayload")).mixing === Mixing.Never)
  }

  test("from version 9 on the stated mode mixes, whatever class is named") {
    val mode = "hoodie.table.partial.update.mode"
    assert(rules(9, mode -> "IGNORE_DEFAULTS").mixing === Mixing.Defaults)
    val value = "hoodie.record.merge.property.hoodie.write.partial.update.unavailable.value"
    assert(rules(9, mode -> "FILL_UNAVAILABLE", value -> "?").mixing === Mixing.Unavailable("?"))
    assert(rules(9, mode -> "FILL_UNAVAILABLE").mixing === Mixing.Never)
    assert(refused(9, mode -> "OTHER").contains("hoodie.table.partial.update.mode is 'OTHER'"))
    assert(rules(9, payload -> (model + "PartialUpdateAvroPayload")).mixing === Mixing.Never)
  }

  test("what only Hudi's code can merge is refused by the class's name, with the way to read without it") {
    val mysql = model + "debezium.MySqlDebeziumAvroPayload"
    val classes = for (version <- Seq(6, 8); name <- Seq(mysql, "org.example.Mine")) yield (version, name, "_event_seq")
    for ((version, name, ordering) <- classes ++ mixing.map { case (name, field) => (8, model + name, field) }) {
      val message = refused(version, precombine -> ordering, payload -> name)
      assert(message.contains(name) && message.contains("hoodie.datasource.query.type=read_optimized"))
    }
    val postgres = model + "debezium.PostgresDebeziumAvroPayload"
    assert(refused(6, precombine -> "ts", payload -> postgres).contains("two orders"))
    val by11 = TableConfig.of("t", Map("hoodie.table.version" -> "6", payload -> (model + "PartialUpdateAvroPayload")))
    assert(
      intercept[UnsupportedTable](MergeRules.of(by11, as11 = true)).getMessage.contains("PartialUpdateAvroPayload")
    )
  }
}
