package hudiidx.engine.column

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Base64

import hudiidx.Fixtures
import hudiidx.column._
import hudiidx.storage.LocalStorage
import hudiidx.table.FileKind
import org.scalatest.funsuite.AnyFunSuite

/** Bloom filters of record keys from the footers that stock Hudi wrote. */
class HudiBloomSuite extends AnyFunSuite {
  private val spec = IndexSpec("bloom", Vector("_hoodie_record_key"))

  private def mightHave(record: ColumnRecord, key: String): Boolean = {
    val bytes = key.getBytes(UTF_8)
    val leaf = LeafTest(nulls = false, Some(ValueSets.oneOf(Array(bytes))))
    BloomKind.test(record.columns, Vector(Some(leaf))).get.mightMatch(ByteBuffer.wrap(record.bytes))
  }

  for (name <- Seq("v6-cow-part", "v6-mor-part", "v8-cow-part", "v9-cow-part", "v9-mor-types", "v9-archived-cow"))
    test(s"$name: filters of footers have every key of their files, few others, and few bits a key") {
      val table = new TableFiles(Fixtures.table(name))
      var (files, keys, wrong, asked) = (0, 0, 0, 0)
      table.files.filter(f => f.kind == FileKind.Parquet && table.isThere(f)).foreach { file =>
        val reader = LocalStorage.open(FileColumns.pathOf(Fixtures.table(name), file))
        try {
          val rows = new ParquetRows(reader)
          val record = new FileRecords(table.columns, Vector(spec)).of(reader, file.kind).head
          assert(record.bytes(0) === 2, file.fileName)
          var count = 0
          val row = new RowBuffer(Vector(ColumnType.Text))
          rows.foreach(spec.columns, row) { () =>
            assert(mightHave(record, new String(row.text(0), UTF_8)), file.fileName)
            count += 1
          }
          files += 1
          keys += count
          (0 until 500).foreach { i =>
            asked += 1
            if (mightHave(record, s"no-such-key-$i-${file.fileName}")) wrong += 1
          }
          assert(record.bytes.length * 8 < 40 * count + 1000, s"${record.bytes.length} bytes for $count keys")
        } finally reader.close()
      }
      info(s"$keys keys in $files files; $wrong of $asked others were taken for keys")
      assert(files > 0 && keys > 0 && wrong < asked / 25)
    }

  private def withByte(filter: String): String =
    Base64.getEncoder.encodeToString(Base64.getDecoder.decode(filter) :+ 0.toByte)

  private def ofNoKeys: String =
    Base64.getEncoder.encodeToString(ByteBuffer.allocate(21).putInt(-1).putInt(3).put(1.toByte).putInt(64).array)

  test(
    "a footer without a filter, or with one that is not known, damaged or lacks its keys, leaves the keys to be read"
  ) {
    val table = new TableFiles(Fixtures.table("v9-cow-part"))
    val file = table.files.find(f => f.kind == FileKind.Parquet && table.isThere(f)).get
    val reader = LocalStorage.open(FileColumns.pathOf(Fixtures.table("v9-cow-part"), file))
    try {
      val footer = new ParquetRows(reader).properties
      assert(HudiBloom.of(footer.get).isDefined)
      val name = HudiBloom.FilterKeys.find(footer.contains).get
      Seq(
        footer -- HudiBloom.FilterKeys,
        footer.updated(HudiBloom.TypeKey, "OTHER"),
        footer.updated(name, footer(name).take(footer(name).length / 8 * 4)),
        footer.updated(name, "?"),
        footer.updated(name, ""),
        footer - HudiBloom.TypeKey updated (name, "AAAAHg=="),
        footer.updated(name, withByte(footer(name))),
        footer.updated("hoodie_min_record_key", "no key of the file"),
        Map(name -> ofNoKeys)
      ).zipWithIndex.foreach { case (f, i) => assert(HudiBloom.of(f.get).isEmpty, i) }
      // So small a share of false positives that the footer's filter cannot keep it.
      assert(HudiBloom.of(footer.get).flatMap(_.record(1e-300)).isEmpty)
    } finally reader.close()
    val virtual = new TableFiles(Fixtures.table("v6-virtual-cow"))
    assert(!virtual.columns.config.populateMetaFields)
  }
}
