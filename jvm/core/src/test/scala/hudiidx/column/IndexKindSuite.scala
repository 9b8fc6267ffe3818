package hudiidx.column

import hudiidx.column.segment.{ColumnIndex, ColumnKind, CoveredFile, RecordsMerge, RecordsWriter}
import hudiidx.{DamagedIndex, InvalidOption}
import hudiidx.hfile.BlockCache
import hudiidx.store.IndexStore
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks
import scala.collection.JavaConverters._

/** Kinds that keep records: bloom filters, value sets, and one of two columns that comes from the class path. */
class IndexKindSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val city = IndexedColumn("city", ColumnType.Text, "bloom")
  private val number = IndexedColumn("n", ColumnType.Int64, "bloom")

  private def record(
      kind: IndexKind,
      column: IndexedColumn,
      options: Map[String, String],
      values: Seq[Any]
  ): ByteBuffer = {
    val creator = kind.creator(Vector(column), options)
    values.foreach(v => creator.add(IndexKindSuite.row(v)))
    ByteBuffer.wrap(creator.finish())
  }

  private def longs(values: Long*): LeafTest = {
    val sorted = values.sorted.toArray
    LeafTest(nulls = false, Some(new ValueSet.Longs(sorted, sorted)))
  }

  private def texts(values: String*): LeafTest = {
    val sorted = values.map(_.getBytes(UTF_8)).sortWith((a, b) => java.util.Arrays.compareUnsigned(a, b) < 0).toArray
    LeafTest(nulls = false, Some(new ValueSet.Texts(sorted, sorted.map(_ :+ 0.toByte))))
  }

  private def test(kind: IndexKind, column: IndexedColumn, wanted: LeafTest): Option[RecordTest] =
    kind.test(Vector(column), Vector(Some(wanted)))

  test("a bloom filter has every value that was put in, numbers and texts") {
    forAll(Gen.listOf(Gen.long), Gen.listOf(Gen.alphaNumStr), Gen.oneOf("0.5", "0.01", "0.000001")) { (ns, ts, fpp) =>
      val options = Map(BloomKind.FalsePositives -> fpp)
      val ofLongs = record(BloomKind, number, options, ns)
      ns.foreach(n => assert(test(BloomKind, number, longs(n)).get.mightMatch(ofLongs)))
      val ofTexts = record(BloomKind, city, options, ts :+ null)
      ts.foreach(t => assert(test(BloomKind, city, texts(t)).get.mightMatch(ofTexts)))
      assert(test(BloomKind, city, texts("?").copy(nulls = true)).get.mightMatch(ofTexts))
    }
  }

  test("a bloom filter errs as often as asked, and takes at most 1.25 times the least bits") {
    Seq(0.1, 0.01, 0.001, 0.0001).foreach { fpp =>
      val n = 5000
      val random = new scala.util.Random(7)
      Seq(Seq.tabulate(n)(_.toLong), Seq.fill(n)(random.nextLong())).foreach { values =>
        val filter =
          record(BloomKind, number, Map(BloomKind.FalsePositives -> fpp.toString), values ++ values.take(100))
        val bitsAKey = filter.remaining * 8.0 / n
        assert(bitsAKey <= 1.25 * 1.44 * math.log(1 / fpp) / math.log(2), s"$fpp")
        val tries = 400000
        val wrong = (0 until tries).count(i => test(BloomKind, number, longs(1000000L + i * 7L)).get.mightMatch(filter))
        val expected = tries * fpp
        assert(math.abs(wrong - expected) < 0.2 * expected + 5 * math.sqrt(expected), s"$fpp: $wrong of $expected")
      }
    }
  }

  test("a bloom filter says nothing of ranges, and what it cannot read rules out nothing") {
    assert(test(BloomKind, number, LeafTest(nulls = false, Some(new ValueSet.Longs(Array(1L), Array(2L))))).isEmpty)
    val prefix = new ValueSet.Texts(Array("a".getBytes), Array("b".getBytes))
    assert(test(BloomKind, city, LeafTest(nulls = false, Some(prefix))).isEmpty)
    assert(test(BloomKind, city, LeafTest(nulls = true, None)).isEmpty)
    val whole = record(BloomKind, number, Map.empty, Seq(1L, 2L))
    val ask = test(BloomKind, number, longs(99)).get
    assert(!ask.mightMatch(whole))
    (0 until whole.remaining).foreach(n => assert(ask.mightMatch(ByteBuffer.wrap(whole.array, 0, n))))
    assert(ask.mightMatch(ByteBuffer.wrap(whole.array.updated(0, 9.toByte))))
    assertThrows[InvalidOption](BloomKind.creator(Vector(city, number), Map.empty))
    Seq("0", "1", "x").foreach(f => assertThrows[InvalidOption](BloomKind.falsePositives(Map("fpp" -> f))))
  }

  test("a value set rules out exactly the conditions that none of its values meets, up to its size") {
    val values = ColumnGen.columnType.flatMap { t =>
      val value: Gen[Any] = t.order match {
        case ValueOrder.Longs => ColumnGen.longOf(t)
        case ValueOrder.Texts => ColumnGen.textOf(t)
      }
      Gen.zip(
        Gen.const(t),
        Gen.listOf(Gen.frequency(9 -> value, 1 -> Gen.const(null))),
        ColumnGen.valueSet(t),
        Gen.prob(0.3)
      )
    }
    forAll(values) { case (columnType, rows, set, nulls) =>
      val column = IndexedColumn("v", columnType, "values")
      val kept = record(ValuesKind, column, Map.empty, rows)
      val meets = rows.exists {
        case null           => nulls
        case v: Long        => set.asInstanceOf[ValueSet.Longs].meets(v, v)
        case v: Array[Byte] => set.asInstanceOf[ValueSet.Texts].meets(v, v)
        case other          => fail(s"$other")
      }
      assert(
        test(ValuesKind, column, LeafTest(nulls, Some(set))).get.mightMatch(kept) === (meets || !kept.hasRemaining)
      )
    }
    val many = record(ValuesKind, number, Map(ValuesKind.Most -> "3"), Seq(1L, 2L, 3L, 3L, 4L))
    assert(many.remaining === 0 && test(ValuesKind, number, longs(99)).get.mightMatch(many))
    Seq("0", "x", "65537").foreach(m => assertThrows[InvalidOption](ValuesKind.most(Map("most" -> m))))
  }

  private def withRecords(entries: Seq[(Vector[IndexedColumn], Map[Int, Array[Byte]])], files: Vector[ModelFile])(
      use: (ColumnModel, ColumnIndex) => Unit
  ): Unit = {
    val model = new ColumnModel(ColumnModel.Tiny)
    try {
      val file =
        model.store.write(ColumnKind.fileName("1", IndexStore.newToken(), ColumnKind.Records), ColumnKind.Records) {
          out =>
            val writer = new RecordsWriter(out, ColumnModel.Tiny)
            writer.partition("p", files.map(f => CoveredFile(f.name, f.sizeBytes, f.rows)))
            entries.foreach { case (columns, records) =>
              writer.columns(columns)
              records.toVector.sortBy(_._1).foreach { case (ordinal, bytes) => writer.record(ordinal, bytes) }
            }
            writer.close(): Unit
        }
      val choice = entries.groupBy(_._1.head.kind).map { case (k, _) => k -> Vector("*") }
      val index = model.open(model.version(Vector(file), choice), new BlockCache)
      try use(model, index)
      finally index.close()
    } finally model.delete()
  }

  test("slices are ruled out by the records of all their files; files without a record match") {
    val files = Vector.tabulate(4)(i => ModelFile("p", s"f$i.parquet", 10L + i, 5))
    val log = ModelFile("p", ".f0.log.1_0-1-2", 77, 1)
    def of(values: Long*): Array[Byte] = record(BloomKind, number, Map.empty, values).array
    val records = Map(0 -> of(1, 2), 1 -> of(3), 3 -> of(5), 4 -> of(9))
    withRecords(Seq(Vector(number) -> records), files :+ log) { (model, index) =>
      def kept(value: Long, index: ColumnIndex): Seq[Boolean] = {
        val set = new ValueSet.Longs(Array(value), Array(value))
        val selection = index.select(ColumnCondition.In("n", nulls = false, _ => Some(set)))
        val found = (files.map(Seq(_)) :+ Seq(files.head, log)).map(f => selection.mightMatch(ColumnModel.slice(f)))
        assert(selection.report.head.kinds === Vector("bloom"))
        assert(selection.report.head.files >= found.count(!_))
        found
      }
      assert(kept(1, index) === Seq(true, false, true, false, true))
      assert(kept(9, index) === Seq(false, false, true, false, true))
      assert(kept(5, index) === Seq(false, false, true, true, false))
      // Merged with itself and without one file it says the same of the others.
      val merge =
        new RecordsMerge(index.records, _ => (files.drop(1) :+ log).iterator.map(f => (f.name, f.sizeBytes)), _ => true)
      val merged =
        model.store.write(ColumnKind.fileName("2", IndexStore.newToken(), ColumnKind.Records), ColumnKind.Records)(
          merge.write(_, ColumnModel.Tiny): Unit
        )
      model.opened(model.version(Vector(merged), Map("bloom" -> Vector("n")))) { after =>
        assert(kept(5, after) === Seq(true, false, true, true, true))
      }
    }
  }

  test("any flipped byte of a file of records is noticed, by name") {
    val files = Vector.tabulate(3)(i => ModelFile("p", s"f$i.parquet", 10L + i, 5))
    val records = Map(0 -> record(BloomKind, number, Map.empty, Seq(1L)).array, 2 -> Array[Byte](1, 2, 3))
    withRecords(Seq(Vector(number) -> records), files) { (model, index) =>
      val written = Files.list(model.dir).iterator.asScala.find(_.toString.endsWith(ColumnKind.Records)).get
      val whole = Files.readAllBytes(written)
      val version = model.version(
        Vector(hudiidx.store.IndexFile(written.getFileName.toString, ColumnKind.Records, whole.length.toLong)),
        Map("bloom" -> Vector("*"))
      )
      def readAll(): Unit = {
        val opened = model.open(version, new BlockCache(0))
        try {
          opened.columns
          val set = new ValueSet.Longs(Array(7L), Array(7L))
          val selection = opened.select(ColumnCondition.In("n", nulls = false, _ => Some(set)))
          files.foreach(f => selection.mightMatch(ColumnModel.slice(Seq(f))))
        } finally opened.close()
      }
      readAll()
      whole.indices.filter(i => i < whole.length - 3800 || i % 295 == 0).foreach { i =>
        Files.write(written, whole.updated(i, (whole(i) ^ (1 << (i % 8))).toByte))
        val error = intercept[DamagedIndex](readAll())
        assert(error.getMessage.contains(written.getFileName.toString), s"byte $i")
      }
      assert(index.columns === Vector(Vector(number)))
    }
  }

  test("a kind of two columns from the class path rules out files, but never slices of several files") {
    val columns = Vector("x", "y").map(IndexedColumn(_, ColumnType.Int64, "test_cells"))
    val kind = IndexKind.find("test_cells").get
    val creator = kind.creator(columns, Map.empty)
    creator.add(IndexKindSuite.row(1L, 10L))
    creator.add(IndexKindSuite.row(2L, 20L))
    val file = ModelFile("p", "f.parquet", 1, 2)
    val log = ModelFile("p", ".f.log.1_0-1-2", 2, 1)
    val later = kind.creator(columns, Map.empty)
    later.add(IndexKindSuite.row(9L, 90L))
    withRecords(Seq(columns -> Map(0 -> creator.finish(), 1 -> later.finish())), Vector(file, log)) { (_, index) =>
      def kept(x: Long, y: Long, files: ModelFile*): Boolean = {
        def is(path: String, v: Long) =
          ColumnCondition.In(path, nulls = false, _ => Some(new ValueSet.Longs(Array(v), Array(v))))
        val selection = index.select(ColumnCondition.And(Vector(is("x", x), is("y", y))))
        val found = selection.mightMatch(ColumnModel.slice(files))
        assert(selection.report.exists(r => r.path == "x, y" && r.files == (if (found) 0 else 1)))
        found
      }
      assert(kept(1, 10, file) && kept(2, 20, file))
      assert(!kept(1, 20, file) && !kept(1, 20, log))
      // A row that was merged may have one value of each.
      assert(kept(1, 20, file, log))
    }
    assert(IndexKind.find("no_such_kind").isEmpty)
  }
}

object IndexKindSuite {

  /** A row of longs, texts and nulls. */
  def row(values: Any*): ColumnValues = new ColumnValues {
    override def isNull(column: Int): Boolean = values(column) == null
    override def long(column: Int): Long = values(column).asInstanceOf[Long]
    override def text(column: Int): Array[Byte] = values(column) match {
      case s: String => s.getBytes(UTF_8)
      case other     => other.asInstanceOf[Array[Byte]]
    }
  }
}

/** The pairs of values of two columns, in plain text. */
final class TestCellsKind extends IndexKind {
  override val name = "test_cells"

  override def creator(columns: Vector[IndexedColumn], options: Map[String, String]): IndexCreator = new IndexCreator {
    private var cells = Set.empty[String]
    override def add(row: ColumnValues): Unit = cells += s"${row.long(0)}/${row.long(1)}"
    override def finish(): Array[Byte] = cells.mkString(",").getBytes(UTF_8)
  }

  override def test(columns: Vector[IndexedColumn], wanted: Vector[Option[LeafTest]]): Option[RecordTest] =
    wanted match {
      case Vector(
            Some(LeafTest(false, Some(x: ValueSet.Longs), _)),
            Some(LeafTest(false, Some(y: ValueSet.Longs), _))
          ) =>
        Some { record =>
          UTF_8.decode(record.duplicate()).toString.split(",").map(_.split("/").map(_.toLong)).exists { c =>
            x.meets(c(0), c(0)) && y.meets(c(1), c(1))
          }
        }
      case _ => None
    }
}
