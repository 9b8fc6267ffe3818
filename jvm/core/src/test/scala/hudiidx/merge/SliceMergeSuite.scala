package hudiidx.merge

import hudiidx.Fixtures
import hudiidx.log.LogKeysSuite._
import hudiidx.log._
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files
import org.scalacheck.{Gen, Shrink}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks
import scala.collection.mutable

/** Merged slices, against a plain fold over the records. */
final class SliceMergeSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import SliceMergeSuite._

  private implicit val dontShrink: Shrink[Vector[Version]] = Shrink.shrinkAny

  for (version <- Seq(6, 9); mode <- Seq(MergeMode.CommitTime, MergeMode.EventTime))
    test(s"version $version, $mode: a slice has the rows of a plain fold, whatever spills") {
      val rules = LogRules(version, mode, Vector("ts"), Some(DeleteMarker("op", "gone")), None)
      forAll(logs, bases, Gen.oneOf(1L, 200L, 1L << 20), minSuccessful(150), sizeRange(60)) { (log, base, budget) =>
        assert(merge(log, base, rules, MergeOptions(budget)) === naive(log, base, rules))
      }
    }

  test("runs of many keys give what one table gives, within their memory, and leave no file behind") {
    val rules = LogRules(9, MergeMode.EventTime, Vector("ts"), None, None)
    val keys = 60000
    def version(i: Int) = {
      val kind = if (i % 7 == 0) BlockDelete else Row
      Version("1", s"key-${i * 31 % keys}", kind, Some((i % 11).toLong))
    }
    val log = Vector.tabulate(keys * 2)(version)
    val base = Vector.tabulate(keys * 2)(i => BaseRow(s"key-${i * 17 % (keys * 3 / 2)}", Some((i % 13).toLong)))
    val dir = Fixtures.newFolder("merge")
    val whole = merge(log, base, rules, MergeOptions(1L << 30, dir))
    assert(whole === naive(log, base, rules))
    val file = new CountedBase(base)
    assert(merge(log, file, rules, MergeOptions(1L << 20, dir)) === whole)
    assert(file.opened > 2 && file.open === 0)
    assert(Files.list(dir).count() === 0L)
  }

  test("without logged keys the base file is not opened; without a base file the log's rows are the slice's") {
    val rules = LogRules(9, MergeMode.CommitTime, Vector.empty, None, None)
    val file = new CountedBase(Vector(BaseRow("k", None)))
    assert(merge(Vector.empty, file, rules, MergeOptions()) === ((Set.empty, Set.empty)))
    assert(file.opened === 0)
    val log = Vector(Version("1", "k", Row, None), Version("1", "l", Row, None), Version("2", "k", Row, None))
    val merged = mergeBlocks(log, None, rules, MergeOptions())
    assert(bits(merged.keptLog) === Set(1, 2))
    assert(merged.firstRecord.toVector === Vector(0, 2))
  }

  test("files are held while they fit, and read as they lie otherwise") {
    val storage = new MemoryStorage(Map("a" -> Array.fill(6)(1.toByte), "b" -> Array.fill(6)(2.toByte)))
    val held = new HeldFiles(storage, 8)
    for (_ <- 1 to 2; name <- Seq("a", "b")) {
      val reader = held.open(name)
      assert(
        reader.path === name && reader.sizeBytes === 6L && reader.read(1, 2).get(0) === (if (name == "a") 1 else 2)
      )
      assert(storage.opened === (if (name == "a") 0 else 1))
      reader.close()
    }
    assert(storage.opened === 0)
  }
}

private object SliceMergeSuite {
  final case class BaseRow(key: String, ordering: Option[Long])

  /** Keys come twice now and then. */
  val bases: Gen[Vector[BaseRow]] = Gen.listOf(versions.map(v => BaseRow(v.key, v.ordering))).map(_.toVector.take(12))

  final class CountedBase(rows: Vector[BaseRow]) extends BaseKeyFile {
    var opened, open = 0
    override def open(ordering: Boolean): BaseKeys = {
      opened += 1
      open += 1
      new BaseKeys {
        private var at = -1
        override def next(): Boolean = { at += 1; at < rows.size }
        override def row: Long = at.toLong
        override def bytes: Array[Byte] = ("_" + rows(at).key).getBytes(UTF_8)
        override def from: Int = 1
        override def length: Int = bytes.length - 1
        override def ordering: OrderingValue = rows(at).ordering.fold(OrderingValue.Default)(OrderingValue.ofLong)
        override def close(): Unit = CountedBase.this.open -= 1
      }
    }
  }

  def bits(set: java.util.BitSet): Set[Int] = set.stream.toArray.toSet

  def mergeBlocks(
      log: Vector[Version],
      base: Option[BaseKeyFile],
      rules: LogRules,
      options: MergeOptions
  ): MergedRows = {
    val files = log.grouped(1 << 14).zipWithIndex.map { case (part, i) => f"f.log.$i%04d" -> fileOf(part) }.toVector
    val storage = new MemoryStorage(files.toMap)
    val blocks = SliceLog.countedBlocks(storage, files.map(_._1), BlockRules(rules.tableVersion, None, _ => true))
    SliceMerge.rows(storage, blocks, rules, BlockReaders.AvroOnly, base, options)
  }

  /** Rows of the base file that go, and versions of the log (by their number in it) that are rows. */
  def merge(log: Vector[Version], base: BaseKeyFile, rules: LogRules, options: MergeOptions): (Set[Int], Set[Int]) = {
    val merged = mergeBlocks(log, Some(base), rules, options)
    val records = log.indices.filter(log(_).kind != BlockDelete)
    (bits(merged.droppedBase), bits(merged.keptLog).map(records(_)))
  }

  def merge(log: Vector[Version], base: Vector[BaseRow], rules: LogRules, options: MergeOptions): (Set[Int], Set[Int]) =
    merge(log, new CountedBase(base), rules, options)

  def naive(log: Vector[Version], base: Vector[BaseRow], rules: LogRules): (Set[Int], Set[Int]) = {
    val last = mutable.HashMap.empty[String, Int]
    log.indices.foreach { i =>
      val older = last.get(log(i).key)
      if (!older.exists(o => olderWins(log(o), log(i), rules))) last.put(log(i).key, i)
    }
    val open = mutable.HashMap.empty[String, Int] ++ last
    val dropped, beaten = mutable.HashSet.empty[Int]
    base.indices.foreach { row =>
      open.remove(base(row).key).foreach { i =>
        if (baseWins(base(row), log(i), rules)) beaten += i else dropped += row
      }
    }
    val kept = last.values.filter(i => !isDelete(log(i), rules) && !beaten(i))
    (dropped.toSet, kept.toSet)
  }

  private def baseWins(base: BaseRow, logged: Version, rules: LogRules): Boolean = {
    val emptyPayload = rules.tableVersion == 6 && logged.kind == BlockDelete
    rules.mode == MergeMode.EventTime && !emptyPayload && base.ordering.exists(b => logged.ordering.exists(b > _))
  }
}
