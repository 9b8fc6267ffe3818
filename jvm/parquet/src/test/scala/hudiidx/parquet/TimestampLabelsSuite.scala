package hudiidx.parquet

import org.apache.avro.Schema
import org.apache.parquet.schema.{MessageType, MessageTypeParser}
import org.scalatest.funsuite.AnyFunSuite

final class TimestampLabelsSuite extends AnyFunSuite {
  private def long(logical: String): String = s"""{"type":"long","logicalType":"$logical"}"""

  private def table(fieldType: String): Schema = new Schema.Parser().parse(
    s"""{"type":"record","name":"r","fields":[{"name":"id","type":"string"},{"name":"c","type":$fieldType}]}"""
  )

  private def file(field: String): MessageType =
    MessageTypeParser.parseMessageType(s"message r { required binary id (UTF8); $field }")

  private val millis = long("timestamp-millis")
  private def repaired(field: String, fieldType: String): MessageType =
    TimestampLabels.repaired(file(field), table(fieldType))

  test("milliseconds under the label of microseconds get their own, nullable or not, nested or not") {
    val micros = "TIMESTAMP(MICROS,true)"
    val right = "TIMESTAMP(MILLIS,true)"
    def same(before: String, fieldType: String): Unit =
      assert(repaired(before, fieldType) === file(before.replace(micros, right))): Unit
    same(s"required int64 c ($micros);", millis)
    same(s"optional int64 c ($micros);", s"""["null",$millis]""")
    val struct = s"""{"type":"record","name":"s","fields":[{"name":"n","type":"long"},{"name":"at","type":$millis}]}"""
    same(s"optional group c { required int64 n; optional int64 at ($micros); }", s"""["null",$struct]""")
    val items = s"""{"type":"array","items":["null",$millis]}"""
    same(s"optional group c (LIST) { repeated group list { optional int64 element ($micros); } }", items)
    same(s"optional group c (LIST) { repeated int64 array ($micros); }", items)
    val map = s"""{"type":"map","values":$millis}"""
    same(
      s"optional group c (MAP) { repeated group key_value { required binary key (UTF8); optional int64 value ($micros); } }",
      map
    )
  }

  test("local times under no label get the table's") {
    val plain = "optional int64 c;"
    assert(repaired(plain, long("local-timestamp-millis")) === file("optional int64 c (TIMESTAMP(MILLIS,false));"))
    assert(repaired(plain, long("local-timestamp-micros")) === file("optional int64 c (TIMESTAMP(MICROS,false));"))
  }

  test("whatever else a file says stays as it is, the same object") {
    Seq(
      "required int64 c (TIMESTAMP(MILLIS,true));" -> long("timestamp-micros"),
      "required int64 c (TIMESTAMP(MICROS,true));" -> long("timestamp-micros"),
      "required int64 c (TIMESTAMP(MICROS,false));" -> long("local-timestamp-millis"),
      "required int64 c;" -> millis,
      "required int64 c;" -> "\"long\"",
      "required binary c (UTF8);" -> millis,
      "required int96 c;" -> millis,
      "required int64 other (TIMESTAMP(MICROS,true));" -> millis
    ).foreach { case (field, fieldType) =>
      val before = file(field)
      assert(TimestampLabels.repaired(before, table(fieldType)) eq before, field)
    }
  }

  test("columns for which labels may be wrong are told, nested ones by their own") {
    assert(TimestampLabels.unsure(table(millis)) === Set("c"))
    assert(TimestampLabels.unsure(table(s"""["null",{"type":"array","items":$millis}]""")) === Set("c"))
    assert(TimestampLabels.unsure(table(long("timestamp-micros"))) === Set.empty)
    assert(TimestampLabels.unsure(table(long("local-timestamp-micros"))) === Set("c"))
  }
}
