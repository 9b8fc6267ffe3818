package hudiidx.spark.rows

import hudiidx.UnsupportedTable
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

class RequiredColumnsSuite extends AnyFunSuite {
  private def struct(ddl: String) = StructType.fromDDL(ddl)

  private def lacking(table: String, file: String): Option[String] =
    try {
      RequiredColumns.requireIn("f", RequiredColumns.of(struct(table)), struct(file), _.equalsIgnoreCase(_))
      None
    } catch { case e: UnsupportedTable => Some(e.getMessage.split(" ")(6)) }

  test("a column or a field without nulls that a file lacks is told, wherever it lies") {
    assert(lacking("a int, b struct<c:int>, d array<struct<e:int>>", "z int").isEmpty)
    assert(lacking("a int not null", "A int").isEmpty)
    assert(lacking("a int not null", "z int").contains("a"))
    assert(lacking("b struct<c: int, d: int not null>", "b struct<c: int>").contains("b.d"))
    assert(lacking("b array<struct<c: int not null>>", "b array<struct<d: int>>").contains("b.c"))
    assert(lacking("b map<string, struct<c: int not null>>", "b map<string, struct<d: int>>").contains("b.c"))
    assert(lacking("b struct<c: int not null>", "z int").isEmpty)
  }
}
