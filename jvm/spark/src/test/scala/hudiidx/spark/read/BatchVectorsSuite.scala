package hudiidx.spark.read

import hudiidx.spark.rows.RowCopy
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, GenericArrayData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

class BatchVectorsSuite extends AnyFunSuite {
  private val large = UTF8String.fromBytes(Array.fill[Byte](1000)('a'))
  private def array(values: Any*) = new GenericArrayData(values.toArray)

  /** Types with a value of about 1000 bytes. */
  private val thousands: Seq[(DataType, Any)] = Seq(
    StringType -> large,
    BinaryType -> large.getBytes,
    ArrayType(LongType) -> array(Seq.fill(125)(7L): _*),
    ArrayType(StringType) -> array(Seq.fill(10)(UTF8String.fromBytes(Array.fill[Byte](80)('b'))): _*),
    MapType(StringType, IntegerType) -> new ArrayBasedMapData(array(large), array(1)),
    MapType(IntegerType, StringType) -> new ArrayBasedMapData(array(1), array(large)),
    StructType(Seq(StructField("a", IntegerType), StructField("b", StringType))) -> InternalRow(1, large),
    ArrayType(StructType(Seq(StructField("b", StringType)))) -> array(InternalRow(large))
  )

  private def rowsOf(dataType: DataType, value: Any, mostRows: Int, mostBytes: Long): Int = {
    val columns = StructType(Seq(StructField("id", LongType), StructField("v", dataType)))
    val copy = new RowCopy(columns)
    val made = new BatchVectors(mostRows, columns, mostBytes)
    try {
      // As the second batch of the same vectors.
      for (_ <- 1 to 2) {
        made.clear()
        assert(!made.isFull && made.rows === 0)
        while (!made.isFull) {
          copy.append(InternalRow(1L, value), made.vectors)
          made.endRow()
        }
      }
      made.rows
    } finally made.close()
  }

  for ((dataType, value) <- thousands)
    test(s"a batch of ${dataType.simpleString} ends by its bytes, before it has all rows") {
      val rows = rowsOf(dataType, value, mostRows = 100000, mostBytes = 1000000)
      assert(rows > 500 && rows < 1100)
      assert(rowsOf(dataType, value, mostRows = 20, mostBytes = 1000000) === 20)
      assert(rowsOf(dataType, value, mostRows = 20, mostBytes = 1) === 1)
    }

  test("a batch of numbers ends by its rows, or by its bytes") {
    assert(rowsOf(DecimalType(10, 2), Decimal(1, 10, 2), mostRows = 4096, mostBytes = BatchVectors.UsualBytes) === 4096)
    assert(rowsOf(DecimalType(38, 2), Decimal(BigDecimal(10).pow(30), 38, 2), 4096, BatchVectors.UsualBytes) === 4096)
    assert(rowsOf(IntegerType, 1, mostRows = 100000, mostBytes = 12000) === 1000)
  }
}
