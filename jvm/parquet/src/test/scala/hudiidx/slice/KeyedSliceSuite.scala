package hudiidx.slice

import java.io.{ByteArrayInputStream, ByteArrayOutputStream}
import java.nio.{ByteBuffer, ByteOrder}
import java.nio.file.{Files, Path, Paths}

import hudiidx.parquet.{BaseFileKeys, KeyColumns, ParquetLayout, ParquetTables}
import hudiidx.storage.LocalStorage
import hudiidx.{Allocated, DamagedTable, HudiIdxException, UnsupportedTable}
import org.apache.parquet.column.ParquetProperties.WriterVersion
import org.apache.parquet.example.data.Group
import org.apache.parquet.format.Util
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.scalatest.funsuite.AnyFunSuite

final class KeyedSliceSuite extends AnyFunSuite {
  private val keys = KeyColumns(None, storedKeys = true)
  private val layout =
    ParquetLayout(CompressionCodecName.UNCOMPRESSED, WriterVersion.PARQUET_1_0, dictionary = false, 1 << 20, 1L << 26)

  private def file(rows: Int): String = {
    val key = (i: Int) => (row: Group) => { row.append("_hoodie_record_key", s"k$i"): Unit }
    ParquetTables.write("message m { optional binary _hoodie_record_key (UTF8); }", layout, (0 until rows).map(key))
  }

  /** The file with a footer that says another number of rows, and of values of each column. */
  private def saying(path: String, rows: Long, values: Long): String = {
    val file: Path = Paths.get(path)
    val bytes = Files.readAllBytes(file)
    val length = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(bytes.length - 8)
    val start = bytes.length - 8 - length
    val footer = Util.readFileMetaData(new ByteArrayInputStream(bytes, start, length))
    footer.setNum_rows(rows)
    footer.getRow_groups.get(0).setNum_rows(rows)
    footer.getRow_groups.get(0).getColumns.forEach { c => c.getMeta_data.setNum_values(values): Unit }
    val out = new ByteArrayOutputStream
    out.write(bytes, 0, start)
    Util.writeFileMetaData(footer, out)
    val size = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(out.size - start).array
    out.write(size)
    out.write("PAR1".getBytes("US-ASCII"))
    Files.write(file, out.toByteArray)
    path
  }

  private def read(path: String): KeyedSlice = KeyedSlice.read(SliceKeySource(LocalStorage, Some(path), keys, None))

  test("a slice has a hash for each row of its file, however many there are") {
    for (rows <- Seq(1, 1023, 1024, 1025, 5000)) assert(read(file(rows)).bytes === 4L * rows)
  }

  test("what a footer says of rows that are not there takes no memory") {
    for (rows <- Seq(1L << 20, 1L << 27); values <- Seq(3L, rows)) {
      val path = saying(file(3), rows, values)
      val before = Allocated.bytes()
      val e = intercept[HudiIdxException](read(path))
      assert(Allocated.bytes() - before < (32 << 20))
      assert(e.getMessage.contains(path))
    }
  }

  test("a file of more rows than are kept in memory is refused by its name") {
    val path = saying(file(3), (1L << 27) + 1, (1L << 27) + 1)
    val e = intercept[UnsupportedTable](read(path))
    assert(e.getMessage.contains(path) && e.getMessage.contains("134217729"))
  }

  test("rows that a footer says, and no column has, end a walk over any columns as damage") {
    val columns = Seq(keys, KeyColumns(None, storedKeys = true, ordering = Vector("_hoodie_record_key"), keys = false))
    for (rows <- Seq(-1L, 2L, 1L << 40, Long.MaxValue); values <- Seq(3L, rows); asked <- columns) {
      val path = saying(file(3), rows, values)
      val told = intercept[DamagedTable] {
        val opened = BaseFileKeys.open(LocalStorage, path, asked)
        try {
          val walk = opened.read()
          while (walk.next()) {}
        } finally opened.close()
      }
      assert(told.getMessage.contains(path), s"$rows rows, $values values, $asked")
    }
  }
}
