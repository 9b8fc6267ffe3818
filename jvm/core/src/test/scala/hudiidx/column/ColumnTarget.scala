package hudiidx.column

import hudiidx.Fixtures
import hudiidx.bytes.PackedInput
import hudiidx.column.segment.{
  ColumnEntry,
  ColumnFile,
  FileTable,
  NameDigest,
  PartitionDirectory,
  SegmentShape,
  StatsPage
}
import hudiidx.fuzz.FuzzTarget
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.{ISO_8859_1, UTF_8}
import java.util.Random

/** Parts of column files; the first byte says which. */
object ColumnTarget extends FuzzTarget {
  private val types = Vector("int", "long", "double", "float", "string", "boolean", "date", "binary", "decimal(20,3)")
    .flatMap(ColumnType.of)

  /** What the writer makes of the base files of a fixture, and of values of all types. */
  override def seeds: Vector[Array[Byte]] = {
    val drawn = new Random(7)
    val pages = for ((t, i) <- types.zipWithIndex; n <- Seq(1, 40)) yield i.toByte +: page(t, n, drawn)
    val table = Fixtures.table("v9-mor-part")
    val byFolder = Fixtures
      .filesBelow(table)
      .filter(f => f.endsWith(".parquet") && !f.startsWith(".hoodie"))
      .groupBy(f => f.take(f.lastIndexOf('/')))
    val digests = byFolder.toVector.sortBy(_._1).map(_._2.map(NameDigest.of).toArray)
    val tables = digests.map(d => FileTable.encode(d, d.map(_.low >>> 40), d.map(_.high >>> 50)))
    val paths = byFolder.keys.toArray.sorted ++ Array("z=1/a", "z=1/b", "z=10")
    val directory =
      new PartitionDirectory(paths, paths.indices.map(_ * 3).toArray :+ paths.length * 3, paths.map(_.hashCode.toLong))
    val bloom = new HudiBloomBuilder
    (0 until 500).foreach(i => bloom.add(s"key-$i".getBytes(UTF_8)))
    hostile ++ pages ++ tables.map(part(0) +: _) ++ Vector(
      part(1) +: directory.encode,
      part(2) +: record(new BloomCreator(ValueOrder.Longs, 0.01)),
      part(3) +: bloom.text.getBytes(ISO_8859_1),
      part(4) +: record(new ValuesCreator(ValueOrder.Longs, 64)),
      part(5) +: record(new ValuesCreator(ValueOrder.Texts, 64)),
      part(6) +: ColumnFile.encodeNames(types.map(t => ColumnEntry(Vector(IndexedColumn("a.b", t, "range")), 3)))
    )
  }

  /** Statistics of a million files in some bytes; paths, and texts, that share all of a long one before. */
  private def hostile: Vector[Array[Byte]] = {
    val alike = StatsPage.encode(types.head, Array.fill(1 << 20)(ColumnStats.Unknown), Array.fill(1 << 20)(-1L))
    val long = "a" * 30000
    val paths = Array.tabulate(6000)(i => f"$long$i%04d")
    val directory = new PartitionDirectory(paths, Array.tabulate(6001)(identity), new Array[Long](6000))
    val text = types.indexWhere(_.order == ValueOrder.Texts)
    val stats = paths.map(p => ColumnStats(1, 0, Bounds.TextRange(p.getBytes(UTF_8), null, exact = false)))
    Vector(
      0.toByte +: alike,
      part(1) +: directory.encode,
      text.toByte +: StatsPage.encode(types(text), stats, new Array[Long](6000))
    )
  }

  private def part(n: Int): Byte = (types.size + n).toByte

  private def page(t: ColumnType, n: Int, drawn: Random): Array[Byte] = {
    val stats = Array.fill(n)(drawn.nextInt(8) match {
      case 0 => ColumnStats.Unknown
      case 1 => ColumnStats(10, 10, Bounds.NoValues)
      case _ => ColumnStats(100, drawn.nextInt(5).toLong, bounds(t, drawn))
    })
    StatsPage.encode(t, stats, Array.fill(n)(100L))
  }

  private def bounds(t: ColumnType, drawn: Random): Bounds = {
    val low = drawn.nextInt(100000)
    if (t.order == ValueOrder.Longs) Bounds.LongRange(low.toLong, low.toLong + drawn.nextInt(1000), exact = true)
    else {
      val high = if (drawn.nextInt(9) == 0) null else f"order-${low + 7}%07d-$low".getBytes(UTF_8)
      Bounds.TextRange(f"order-$low%07d".getBytes(UTF_8), high, exact = high != null)
    }
  }

  private def record(creator: IndexCreator): Array[Byte] = {
    (0 until 60).foreach { i =>
      creator.add(new ColumnValues {
        override def isNull(column: Int): Boolean = i % 9 == 0
        override def long(column: Int): Long = i * 1000003L
        override def text(column: Int): Array[Byte] = s"city-$i".getBytes(UTF_8)
      })
    }
    creator.finish()
  }

  override protected def read(bytes: Array[Byte]): Unit = if (bytes.nonEmpty) {
    val (which, rest) = ((bytes(0) & 0xff) % (types.size + 7), bytes.drop(1))
    ColumnFile.guard("f", "part") {
      which - types.size match {
        case 0 =>
          val table = FileTable.decode(new PackedInput(rest))
          table.find(NameDigest.of("a"), 7L)
          table.byPlace: Unit
        case 1 => PartitionDirectory.decode(new PackedInput(rest)): Unit
        case 2 => BloomFilter.of(ByteBuffer.wrap(rest)).foreach(_.mightHave(7L))
        case 3 =>
          val text = new String(rest, ISO_8859_1)
          HudiBloom.of(k => Some(if (k == HudiBloom.TypeKey) "DYNAMIC_V0" else text)): Unit
        case 4 => ask(ValueSets.range(5L, 7L), rest)
        case 5 => ask(ValueSets.beginning("city-7".getBytes(UTF_8)), rest)
        case 6 => ColumnFile.decodeNames(new PackedInput(rest)): Unit
        case _ => statistics(types(which), rest)
      }
    }
  }

  private def ask(set: ValueSet, record: Array[Byte]): Unit =
    new ValuesTest(LeafTest(nulls = false, Some(set))).mightMatch(ByteBuffer.wrap(record)): Unit

  private def statistics(t: ColumnType, bytes: Array[Byte]): Unit = {
    val page = StatsPage.decode(t, new PackedInput(bytes), null, SegmentShape.MostFilesPerPage)
    (0 until math.min(page.count, 100)).foreach(page.stats)
  }
}
