package hudiidx.log

import hudiidx.{DamagedTable, Fixtures, HudiIdxException, TableFormat, TableFormats, UnsupportedTable}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files
import org.apache.avro.{Schema, SchemaBuilder}
import org.apache.avro.generic.{GenericData, GenericRecord}
import org.scalacheck.{Gen, Shrink}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks
import scala.util.{Failure, Success, Try}

/** States of keys, against the tables of the format notes §7.3 to §7.5 written down plainly. */
final class LogKeysSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import LogKeysSuite._

  private implicit val dontShrink: Shrink[Vector[Version]] = Shrink.shrinkAny

  private val modes = for {
    version <- Seq(6, 9)
    mode <- Seq(MergeMode.CommitTime, MergeMode.EventTime, MergeMode.Custom)
  } yield (version, mode)

  for ((version, mode) <- modes :+ ((8, MergeMode.OrderedDeletes)))
    test(
      s"version $version, $mode: keys and states are those of the tables, sorted, whatever spills; so are touched keys"
    ) {
      val rules = LogRules(TableFormats.of(version), mode, Vector("ts"), Some(DeleteMarker("op", "gone")), None)
      forAll(logs, Gen.oneOf(1L, 200L, 1L << 20), instants, minSuccessful(80), sizeRange(60)) {
        (log, budget, instant) =>
          val expected = model(log, rules)
          val found = read(log, rules, budget, None)
          assert(found.map(k => textOf(k) -> k.state) === expected)
          assert(found.forall(k => k.mayBeDeleted === (mode == MergeMode.Custom && k.state != KeyState.Deleted)))
          val own = log.filter(_.instant == instant).map(_.key).toSet
          assert(
            read(log, rules, budget, Some(Set(instant))).map(k => textOf(k) -> k.state) === expected
              .filter(e => own(e._1))
          )
      }
    }

  private val event = LogRules(TableFormat.V9, MergeMode.EventTime, Vector("ts"), None, None)

  test("a late delete spares a newer base row, and never one that it cannot be compared with") {
    val late = KeyState.DeletedUnlessBaseIsNewer(OrderingValue.ofLong(5))
    assert(read(Vector(Version("1", "k", BlockDelete, Some(5))), event, 1, None).map(_.state) === Vector(late))
    assert(late.spares(OrderingValue.ofLong(6)) && late.spares(OrderingValue.ofMicros(6)))
    assert(!late.spares(OrderingValue.ofLong(5)) && !late.spares(OrderingValue.Default))
    assert(!late.spares(OrderingValue.ofBoolean(true)) && !late.spares(OrderingValue.ofDate(9)))
    val delete = KeyState.DeletedUnlessBaseIsNewer(OrderingValue.ofMicros(1717200000005001L))
    assert(
      delete.spares(OrderingValue.ofMillis(1717200000006L)) && !delete.spares(OrderingValue.ofMillis(1717200000005L))
    )
  }

  test("ordering values of a column that was widened are compared as the wider type has them") {
    import OrderingValue._
    def text(of: String) = ofUtf8(of.getBytes)
    def decimal(of: String) = ofDecimal(new java.math.BigDecimal(of))
    val above = Seq(
      ofInt(10) -> ofLong(5L),
      ofLong(1L << 40) -> ofInt(5),
      ofInt(3) -> ofFloat(2.5f),
      ofLong(3L) -> ofFloat(2.5f),
      ofDouble(2.5) -> ofInt(2),
      ofDouble(170.07) -> ofFloat(170.06f),
      ofFloat(170.07f) -> ofDouble(170.06),
      ofLong(5L) -> ofDouble(4.5),
      decimal("5.5") -> ofInt(5),
      ofLong(6L) -> decimal("5.5"),
      ofDouble(Double.NaN) -> decimal("5.5"),
      ofFloat(Float.PositiveInfinity) -> decimal("5.5"),
      text("5") -> ofInt(10),
      text("2026-01-02") -> ofDate(0),
      ofLong(7L) -> text("10"),
      text("9") -> decimal("10.25")
    )
    for ((a, b) <- above)
      assert(a.isAbove(b) && !b.isAbove(a) && a.comparesWith(b) && b.compare(a) < 0, s"$a and $b")
    val huge = ofDecimal(new java.math.BigDecimal(java.math.BigInteger.ONE, 2000000000))
    assert(huge.comparesWith(text("0")) && text("9").isAbove(huge))
    for ((a, b) <- Seq(ofInt(5) -> ofLong(5L), ofFloat(170.06f) -> ofDouble(170.06), decimal("5.0") -> ofInt(5)))
      assert(a.comparesWith(b) && a.compare(b) === 0 && b.compare(a) === 0, s"$a and $b")
    for (
      (a, b) <- Seq(
        ofBoolean(true) -> ofInt(0),
        ofDate(3) -> ofLong(3L),
        Default -> ofLong(3L),
        ofMicros(3L) -> ofInt(3)
      )
    )
      assert(!a.comparesWith(b) && !a.isAbove(b) && !b.isAbove(a))
  }

  test("numbers are held against times in milliseconds in the unit that they can be of") {
    import OrderingValue._
    val row = ofMillis(1717200000000L)
    for ((micros, order) <- Seq(1577836800000L -> 1, 1717200000000L -> 0, 1748736000000L -> -1); by <- Seq(1L, 1000L))
      assert(row.compare(ofMicros(micros * by)) === order && ofMicros(micros * by).compare(row) === -order)
    for (earlier <- Seq(1577836800000L, 1577836800000000L)) assert(row.isAbove(ofLong(earlier)), earlier)
    for (later <- Seq(1748736000000L, 1748736000000000L)) assert(ofLong(later).isAbove(row), later)
    for (same <- Seq(1717200000000L, 1717200000000000L))
      assert(ofLong(same).compare(row) === 0 && row.compare(ofLong(same)) === 0)
    assert(ofMillis(-1717200000000L).isAbove(ofLong(-1748736000000000L)))
  }

  test("MySQL's sequences are compared number by number, an equal one stays, and of another form is an error") {
    def of(text: String) = OrderingValue.ofUtf8(text.getBytes)
    def stays(older: String, newer: String) = EventSequence.olderStays(of(older), of(newer))
    assert(stays("000010.5", "9.70") && !stays("9.70", "10.5") && stays("1.000010", "1.9") && !stays("1.9", "1.10"))
    assert(stays("1.5", "1.5") && !EventSequence.olderStays(OrderingValue.Default, of("1.5")))
    for (bad <- Seq("", "1", "x.1", "1.y"))
      assert(intercept[UnsupportedTable](stays("1.5", bad)).getMessage.contains("read_optimized"))
    intercept[UnsupportedTable](EventSequence.olderStays(of("1.5"), OrderingValue.Default))

    val v6 = LogRules(TableFormat.V6, MergeMode.EventTime, Vector("_event_seq"), None, None, RecordOrder.Sequence)
    val (nine, ten) = (KeyVersion(false, false, of("9.0"), 1), KeyVersion(false, false, of("10.0"), 2))
    // Hudi 0.15 compares texts within the log, numbers with the base file; 1.0 numbers everywhere but for delete blocks.
    assert(
      KeyMerge.latest(nine, ten, v6) === nine && KeyMerge.latest(nine, ten, v6.copy(format = TableFormat.V8)) === ten
    )
    assert(!KeyMerge.baseStays(ten, nine.ordering, v6) && KeyMerge.baseStays(nine, ten.ordering, v6))
    assert(KeyMerge.baseStays(nine, nine.ordering, v6))
    val delete = KeyVersion(true, true, of("10.0"), KeyVersion.NoNote)
    assert(KeyMerge.latest(nine, delete, v6.copy(format = TableFormat.V8)) === delete)
    val marked = KeyMerge.state(ten.copy(isDelete = true), v6)
    assert(marked === KeyState.DeletedUnlessBaseIsNewer(ten.ordering, RecordOrder.Sequence))
    // FirstValueAvroPayload: of equal values the first stays, of deletes the last.
    val first = v6.copy(order = RecordOrder.FirstOfEqual)
    for (rules <- Seq(first, first.copy(format = TableFormat.V8))) {
      val same = nine.copy(note = 2)
      assert(KeyMerge.latest(nine, same, rules) === nine && KeyMerge.baseStays(nine, nine.ordering, rules))
      assert(KeyMerge.latest(nine, delete.copy(ordering = nine.ordering), rules).isDelete)
      assert(!KeyMerge.baseStays(nine, OrderingValue.Default, rules))
    }
  }

  test("the commit time is the winning row's") {
    val log = Vector(Version("1", "k", Row, Some(9)), Version("2", "k", Row, Some(5)), Version("2", "l", Row, Some(1)))
    assert(read(log, event, 1, None).map(_.commitTime) === Vector(Some("1"), Some("2")))
    assert(
      read(log, event.copy(mode = MergeMode.CommitTime), 1, None).map(_.commitTime) === Vector(Some("2"), Some("2"))
    )
  }

  test("virtual keys are made from the key fields; a record without a key is damage") {
    val form = RecordKeyForm(Vector("_hoodie_record_key", "op"), named = true, timestamps = false)
    val log = Vector(Version("1", "k", Row, Some(9)), Version("1", "l", OperationDelete, Some(5)))
    val keys = read(log, event.copy(keyForm = Some(form)), 1, None)
    assert(keys.map(textOf) === Vector("_hoodie_record_key:k,op:__null__", "_hoodie_record_key:l,op:__null__"))
    val none = event.copy(keyForm = Some(RecordKeyForm(Vector("op"), named = false, timestamps = false)))
    assert(
      intercept[DamagedTable](read(log, none, 1, None)).getMessage.startsWith("f.log.0000: a record without a key")
    )
  }

  test("a log whose bytes are changed or cut gives keys or a typed error, and leaves no file open and none behind") {
    val log =
      (1 to 8).toVector.map(i => Version(i.toString, s"key$i", if (i % 3 == 0) BlockDelete else Row, Some(i.toLong)))
    val whole = fileOf(log)
    val dir = Fixtures.newFolder("damage")
    def check(bytes: Array[Byte]): Unit = {
      val storage = new MemoryStorage(Map("f.log.1" -> bytes))
      Try {
        val blocks = SliceLog.countedBlocks(storage, Vector("f.log.1"), BlockRules(TableFormat.V9, None, _ => true))
        val keys = LogKeys.of(storage, blocks, event, BlockReaders.AvroOnly, LogKeysOptions(20, dir))
        try keys.size
        finally keys.close()
      } match {
        case Success(_) | Failure(_: HudiIdxException) => ()
        case Failure(other)                            => fail(other)
      }
      assert(storage.opened === 0)
    }
    for (at <- whole.indices if at % 23 == 0; mask <- Seq(1, 0x80, 0xff)) {
      val bad = whole.clone()
      bad(at) = (bad(at) ^ mask).toByte
      check(bad)
    }
    whole.indices.by(31).foreach(length => check(whole.take(length)))
    assert(Files.list(dir).count() === 0L)
  }

  test("a block of a format without a reader is refused by name, and keys are read no further") {
    val parquet = LogFiles.block(5, LogFiles.instant(1), "PAR1".getBytes)
    val storage = new MemoryStorage(Map("f.log.1" -> parquet))
    val blocks = SliceLog.countedBlocks(storage, Vector("f.log.1"), BlockRules(TableFormat.V9, None, _ => true))
    val e = intercept[UnsupportedTable](LogKeys.of(storage, blocks, event, BlockReaders.AvroOnly, LogKeysOptions()))
    assert(e.getMessage.contains("ParquetData") && storage.opened === 0)
  }

  test("keys that a write touched are those of the log compaction which holds them in the end") {
    def block(header: (Int, String)*) = LogBlocks.avro(header, schema, Vector(record(Version("1", "k", Row, Some(9)))))
    def compacted(instant: String, of: String) =
      block(LogHeaderKey.InstantTime -> instant, LogHeaderKey.CompactedBlockTimes -> of)
    val log = (block(LogHeaderKey.InstantTime -> "1") ++ compacted("2", "1") ++ compacted("3", "2")).toArray
    val storage = new MemoryStorage(Map("f.log.1" -> log))
    val blocks = SliceLog.countedBlocks(storage, Vector("f.log.1"), BlockRules(event.format, None, _ => true))
    def touched(instant: String): Vector[String] = {
      val keys = LogKeys.touchedBy(Set(instant), storage, blocks, event, BlockReaders.AvroOnly, LogKeysOptions(1))
      try keys.map(textOf).toVector
      finally keys.close()
    }
    assert(blocks.flatMap(_.block.instantTime) === Vector("3"))
    assert(touched("1") === Vector("k"))
    assert(touched("4") === Vector.empty)
  }

  test("keys touched by instants that wrote no block are none, and no block is opened for them") {
    val log = Vector(Version("1", "k", Row, Some(9)))
    assert(read(log, event, 1, Some(Set("7"))) === Vector.empty)
  }
}

private[hudiidx] object LogKeysSuite {
  sealed trait Kind
  case object Row extends Kind
  case object FlagDelete extends Kind
  case object OperationDelete extends Kind
  case object MarkerDelete extends Kind
  case object BlockDelete extends Kind

  /** `ordering` None: a row without one, a delete block's Int 0. */
  final case class Version(instant: String, key: String, kind: Kind, ordering: Option[Long])

  val instants: Gen[String] = Gen.oneOf("1", "2", "3", "4")

  val versions: Gen[Version] = for {
    instant <- instants
    key <- Gen.oneOf("", "a", "b", "b\u0000", "\u00e9", "\ud83d\ude00", "\uffff", "k" * 300)
    kind <- Gen.frequency[Kind](5 -> Row, 1 -> FlagDelete, 1 -> OperationDelete, 1 -> MarkerDelete, 3 -> BlockDelete)
    ordering <- Gen.option(Gen.choose(-2L, 3L))
  } yield Version(instant, key, kind, ordering)

  val logs: Gen[Vector[Version]] = Gen.listOf(versions).map(_.toVector)

  val schema: Schema = SchemaBuilder
    .record("r")
    .fields()
    .optionalString("_hoodie_commit_time")
    .optionalString("_hoodie_record_key")
    .name("nested")
    .`type`()
    .array()
    .items()
    .map()
    .values()
    .doubleType()
    .noDefault()
    .optionalLong("ts")
    .optionalString("op")
    .optionalBoolean("_hoodie_is_deleted")
    .optionalString("_hoodie_operation")
    .optionalString("rest")
    .endRecord()

  def record(v: Version): GenericRecord = {
    val r = new GenericData.Record(schema)
    r.put("_hoodie_commit_time", v.instant)
    r.put("_hoodie_record_key", v.key)
    r.put("nested", java.util.Arrays.asList(java.util.Collections.singletonMap("x", 1.0)))
    v.ordering.foreach(o => r.put("ts", o))
    if (v.kind == MarkerDelete) r.put("op", "gone")
    r.put("_hoodie_is_deleted", v.kind == FlagDelete)
    r.put("_hoodie_operation", if (v.kind == OperationDelete) "-U" else "I")
    r
  }

  /** Neighbours of one instant and block type share a block. */
  def fileOf(log: Vector[Version]): Array[Byte] = {
    val blocks = log.foldLeft(Vector.empty[Vector[Version]]) { (found, v) =>
      def same(u: Version) = u.instant == v.instant && (u.kind == BlockDelete) == (v.kind == BlockDelete)
      if (found.nonEmpty && same(found.last.last)) found.init :+ (found.last :+ v) else found :+ Vector(v)
    }
    blocks.flatMap { b =>
      val header = Seq(LogHeaderKey.InstantTime -> b.head.instant)
      if (b.head.kind == BlockDelete) LogBlocks.deletes(header, b.map(v => v.key -> v.ordering))
      else LogBlocks.avro(header, schema, b.map(record))
    }.toArray
  }

  def textOf(k: LoggedKey): String = new String(k.keyUtf8, UTF_8)

  def read(log: Vector[Version], rules: LogRules, budget: Long, touched: Option[Set[String]]): Vector[LoggedKey] = {
    val files = log.grouped(3).zipWithIndex.map { case (part, i) => f"f.log.$i%04d" -> fileOf(part) }.toVector
    val storage = new MemoryStorage(files.toMap)
    val blocks = SliceLog.countedBlocks(storage, files.map(_._1), BlockRules(rules.format, None, _ => true))
    val options = LogKeysOptions(budget)
    val keys = touched match {
      case Some(of) => LogKeys.touchedBy(of, storage, blocks, rules, BlockReaders.AvroOnly, options)
      case None     => LogKeys.of(storage, blocks, rules, BlockReaders.AvroOnly, options)
    }
    try keys.toVector
    finally keys.close()
  }

  def model(log: Vector[Version], rules: LogRules): Vector[(String, KeyState)] = {
    val keys = log.map(_.key).distinct.sortBy(_.getBytes(UTF_8).toVector.map(_ & 0xff))(lexicographic)
    keys.map { key =>
      val last = log.filter(_.key == key).reduceLeft((a, b) => if (olderWins(a, b, rules)) a else b)
      key -> state(last, rules)
    }
  }

  private val lexicographic: Ordering[Vector[Int]] =
    Ordering.fromLessThan { (a, b) =>
      val differs = a.zip(b).find(p => p._1 != p._2)
      differs.fold(a.size < b.size)(p => p._1 < p._2)
    }

  def isDelete(v: Version, rules: LogRules): Boolean =
    v.kind == BlockDelete || (v.kind != Row && rules.mode != MergeMode.Custom)

  def isGreater(a: Version, b: Version): Boolean = a.ordering.exists(x => b.ordering.exists(x > _))

  /** A value of another class than the other's is not compared: the newer version wins. */
  def olderWins(older: Version, newer: Version, rules: LogRules): Boolean =
    (rules.format.version, rules.mode) match {
      case (6, MergeMode.Custom) | (9, MergeMode.Custom) => !isDelete(older, rules) && isGreater(older, newer)
      // 0.15: an empty payload in the map gives way to any record; all else is compared.
      case (6, _) => (older.kind != BlockDelete || newer.kind == BlockDelete) && isGreater(older, newer)
      case (_, MergeMode.CommitTime)                                                           => false
      case (_, MergeMode.OrderedDeletes) if !isDelete(older, rules) && !isDelete(newer, rules) => false
      case _                                                                                   =>
        (isDelete(older, rules), isDelete(newer, rules)) match {
          case (_, true) if newer.ordering.isEmpty => false
          case (true, _) if older.ordering.isEmpty => false
          case _                                   => isGreater(older, newer)
        }
    }

  private def state(last: Version, rules: LogRules): KeyState = {
    val always = rules.mode == MergeMode.CommitTime || last.ordering.isEmpty ||
      (rules.format.version == 6 && last.kind == BlockDelete)
    if (!isDelete(last, rules)) KeyState.Live
    else if (always) KeyState.Deleted
    else KeyState.DeletedUnlessBaseIsNewer(OrderingValue.ofLong(last.ordering.get))
  }
}
