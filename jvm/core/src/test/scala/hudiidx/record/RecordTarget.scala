package hudiidx.record

import hudiidx.DamagedIndex
import hudiidx.bytes.{PackedInput, PackedOutput}
import hudiidx.fuzz.FuzzTarget
import hudiidx.record.page.{
  DamagedPage,
  EntryColumns,
  EntryPage,
  EntryPageBuilder,
  FileGroupPage,
  KeyCode,
  PageReader,
  ParsedKey
}
import hudiidx.table.FileGroup
import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID

/** Pages of record indexes; the first byte says whether of file groups or of entries. */
object RecordTarget extends FuzzTarget {
  private val Groups: Byte = 0
  private val Entries: Byte = 1

  override def seeds: Vector[Array[Byte]] = {
    val uuids = (0 until 9).map(i => new UUID(i * 0x9e3779b97f4a7c15L, i * 0xc2b2ae3d27d4eb4fL).toString)
    val groups = Seq(
      uuids.map(u => FileGroup("day=1", s"$u-0")),
      uuids.indices.map(i => FileGroup(s"p${i % 2}", UUID.nameUUIDFromBytes(Array(i.toByte)).toString)),
      uuids.indices.map(i => FileGroup("", s"name-$i"))
    )
    val keys = Seq(
      (0 until 20).map(i => (i * 7).toString),
      uuids,
      (0 until 20).map(i => f"order-${i * 131}%05d"),
      Seq("a", "ab", "of no pattern", "\u00fc", "z" * 40)
    )
    groups.map(g => Groups +: FileGroupPage.encode(g)).toVector ++ keys.map(k => Entries +: entries(k)) :+ longPrefix
  }

  /** The texts of a page may take more than other files. */
  override def most(length: Int): Long = super.most(length) + (64L << 20)

  /** As many texts as a page may have, all with a prefix of 30,000 bytes. */
  private def longPrefix: Array[Byte] = {
    val out = new PackedOutput
    out.byte(Entries.toInt)
    out.byte(EntryPage.Version)
    out.byte(EntryPage.Texts)
    out.varint(EntryPage.MaxEntries.toLong)
    out.bytes(Array.fill[Byte](30000)('a'))
    (0 until 4).foreach(_ => out.column(new Array[Long](EntryPage.MaxEntries), EntryPage.MaxEntries))
    out.toBytes
  }

  private def entries(keys: Seq[String]): Array[Byte] = {
    val sorted = keys
      .map(_.getBytes(UTF_8))
      .sortWith((a, b) => hudiidx.bytes.Bytes.compare(KeyCode.encode(a), KeyCode.encode(b)) < 0)
    val builder = new EntryPageBuilder(sorted.size)
    sorted.zipWithIndex.foreach { case (k, i) => builder.add(parsed(k), i % 3, i & 1, i) }
    builder.encode().toBytes
  }

  private def parsed(key: Array[Byte]): ParsedKey = {
    val p = new ParsedKey
    p.set(key, 0, key.length)
    p
  }

  override protected def read(bytes: Array[Byte]): Unit = if (bytes.nonEmpty) {
    if ((bytes(0) & 1) == Groups)
      // As its documentation has it; who reads it makes them DamagedIndex.
      try FileGroupPage.decode(new PackedInput(bytes, 1, bytes.length)): Unit
      catch {
        case e @ (_: IllegalArgumentException | _: IndexOutOfBoundsException) => throw new DamagedIndex(e.getMessage, e)
      }
    else
      DamagedPage.guard("f") {
        val reader = new PageReader
        reader.open(bytes, 1, bytes.length - 1)
        Seq("49", "order-01310", "ab").foreach(k => reader.search(parsed(k.getBytes(UTF_8))))
        reader.decode(new EntryColumns)
      }
  }
}
