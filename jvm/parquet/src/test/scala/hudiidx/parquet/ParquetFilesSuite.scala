package hudiidx.parquet

import hudiidx.DamagedTable
import org.apache.parquet.column.Encoding
import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.hadoop.metadata._
import org.apache.parquet.schema.MessageTypeParser
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.JavaConverters._

class ParquetFilesSuite extends AnyFunSuite {
  private val schema = MessageTypeParser.parseMessageType("message m { required int32 a; }")
  private val column = schema.getColumns.get(0).getPrimitiveType

  private def footer(start: Long, size: Long): ParquetMetadata = {
    val chunk = ColumnChunkMetaData.get(
      ColumnPath.get("a"),
      column,
      CompressionCodecName.UNCOMPRESSED,
      null,
      java.util.Collections.emptySet[Encoding](),
      Statistics.getBuilderForReading(column).build(),
      start,
      0L,
      3L,
      size,
      size
    )
    val block = new BlockMetaData
    block.addColumn(chunk)
    new ParquetMetadata(
      new FileMetaData(schema, Map.empty[String, String].asJava, "x"),
      Seq(new BlockMetaData, block).asJava
    )
  }

  test("a chunk that lies outside of its file is damage, before its bytes are asked for") {
    for ((start, size) <- Seq(4L -> 96L, 100L -> 0L)) ParquetFiles.requireWithin(footer(start, size), 100, "f.parquet")
    for (
      (start, size) <- Seq(
        4L -> 97L,
        4L -> Int.MaxValue.toLong,
        4L -> Long.MaxValue,
        101L -> 0L,
        4L -> -1L,
        Long.MaxValue -> 10L
      )
    ) {
      val told = intercept[DamagedTable](ParquetFiles.requireWithin(footer(start, size), 100, "f.parquet")).getMessage
      assert(
        told.startsWith("f.parquet: ") && told.contains("column a") && told.contains(s"$size bytes at offset $start")
      )
    }
  }
}
