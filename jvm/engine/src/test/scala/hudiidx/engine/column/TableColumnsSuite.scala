package hudiidx.engine.column

import hudiidx.DamagedTable
import hudiidx.table.{LatestSchema, TableConfig}
import org.scalatest.funsuite.AnyFunSuite

class TableColumnsSuite extends AnyFunSuite {
  private val config = TableConfig.of("t/.hoodie/hoodie.properties", Map("hoodie.table.version" -> "6"))

  private def columns(default: String) = TableColumns(
    config,
    Some(
      LatestSchema(
        s"""{"type":"record","name":"r","fields":[{"name":"q","type":["long","null"]$default}]}""",
        hasHistory = false,
        hasOperation = false,
        "t/.hoodie/1.commit"
      )
    )
  )

  test("a column that files lack is null, unless the schema has a value for it; one of another type is damage") {
    assert(columns("").readsNull("q"))
    assert(!columns(",\"default\":7").readsNull("q"))
    val told = intercept[DamagedTable](columns(",\"default\":{}").readsNull("q")).getMessage
    assert(told.startsWith("t/.hoodie/1.commit: the default of field q"))
  }
}
