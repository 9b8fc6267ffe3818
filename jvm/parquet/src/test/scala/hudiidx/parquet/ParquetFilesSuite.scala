package hudiidx.parquet

import hudiidx.DamagedTable
import hudiidx.storage.LocalStorage
import java.util.concurrent.Executors
import org.apache.parquet.column.Encoding
import org.apache.parquet.column.ParquetProperties.WriterVersion
import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.example.data.Group
import org.apache.parquet.hadoop.metadata._
import org.apache.parquet.schema.MessageTypeParser
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.JavaConverters._
import scala.util.Try

class ParquetFilesSuite extends AnyFunSuite {
  private val schema = MessageTypeParser.parseMessageType("message m { required int32 a; repeated int32 r; }")
  private val column = schema.getColumns.get(0).getPrimitiveType

  private def footer(start: Long, size: Long, rows: Long = 3, values: Long = 3, name: String = "a"): ParquetMetadata = {
    val chunk = ColumnChunkMetaData.get(
      ColumnPath.get(name),
      column,
      CompressionCodecName.UNCOMPRESSED,
      null,
      java.util.Collections.emptySet[Encoding](),
      Statistics.getBuilderForReading(column).build(),
      start,
      0L,
      values,
      size,
      size
    )
    val block = new BlockMetaData
    block.setRowCount(rows)
    block.addColumn(chunk)
    new ParquetMetadata(
      new FileMetaData(schema, Map.empty[String, String].asJava, "x"),
      Seq(new BlockMetaData, block).asJava
    )
  }

  test("a chunk that lies outside of its file is damage, before its bytes are asked for") {
    for ((start, size) <- Seq(4L -> 96L, 100L -> 0L)) ParquetFiles.requireSound(footer(start, size), 100, "f.parquet")
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
      val told = intercept[DamagedTable](ParquetFiles.requireSound(footer(start, size), 100, "f.parquet")).getMessage
      assert(
        told.startsWith("f.parquet: ") && told.contains(s"$size bytes of column a at offset $start")
      )
    }
  }

  test("a row group that has other rows than a column of it is damage, of which readers would give rows without end") {
    def told(rows: Long, values: Long, name: String = "a"): Option[String] =
      Try(ParquetFiles.requireSound(footer(4, 10, rows, values, name), 100, "f.parquet")).failed.toOption
        .map(_.getMessage)
    assert(told(3, 3).isEmpty && told(0, 0).isEmpty && told(3, 7, "r").isEmpty && told(3, 3, "r").isEmpty)
    for (
      (rows, values, name) <- Seq(
        (3L, 2L, "a"),
        (2L, 3L, "a"),
        (1L << 40, 3L, "a"),
        (-1L, 3L, "a"),
        (3L, 2L, "r"),
        (3L, -1L, "r")
      )
    )
      assert(
        told(rows, values, name).exists(t => t.startsWith("f.parquet: ") && t.contains(s"$rows rows")),
        s"$rows $values"
      )
  }

  test("types that are too deep in one another for a task's stack are damage") {
    def of(depth: Int): ParquetMetadata = {
      val inner = "optional int32 x;"
      val text = (1 to depth).foldLeft(inner)((s, i) => s"optional group g$i { $s }")
      val schema = MessageTypeParser.parseMessageType(s"message m { $text }")
      new ParquetMetadata(new FileMetaData(schema, Map.empty[String, String].asJava, "x"), Seq.empty.asJava)
    }
    ParquetFiles.requireSound(of(150), 100, "f.parquet")
    for (depth <- Seq(201, 1000))
      assert(
        intercept[DamagedTable](ParquetFiles.requireSound(of(depth), 100, "f.parquet")).getMessage.contains("deep")
      )
  }

  test("files that are read at once by several threads have their own rows, whatever their compression") {
    val layout =
      ParquetLayout(CompressionCodecName.GZIP, WriterVersion.PARQUET_1_0, dictionary = true, 1 << 12, 1L << 26)
    val key = (i: Int) => (row: Group) => { row.append("_hoodie_record_key", s"k$i"): Unit }
    val path =
      ParquetTables.write("message m { optional binary _hoodie_record_key (UTF8); }", layout, (0 until 2000).map(key))
    val columns = KeyColumns(None, storedKeys = true)
    def rows(): Int = {
      val opened = BaseFileKeys.open(LocalStorage, path, columns)
      try {
        val walk = opened.read()
        var count = 0
        while (walk.next()) count += 1
        count
      } finally opened.close()
    }
    val pool = Executors.newFixedThreadPool(8)
    try {
      val counts = (1 to 400).map(_ => pool.submit(() => rows()))
      assert(counts.map(_.get()).forall(_ == 2000))
    } finally pool.shutdownNow(): Unit
  }
}
