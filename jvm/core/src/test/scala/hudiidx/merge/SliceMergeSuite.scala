package hudiidx.merge

import hudiidx.{Fixtures, TableFormat, TableFormats, TestSettings}
import hudiidx.log.LogKeysSuite._
import hudiidx.log._
import java.nio.file.Files
import org.scalactic.anyvals.PosInt
import org.scalacheck.{Gen, Shrink}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Merged slices, against a plain fold over the records. */
final class SliceMergeSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import SliceModel._

  private def draws(long: Int) = minSuccessful(PosInt.ensuringValid(TestSettings.upTo(long, long / 4)))
  private implicit val dontShrink: Shrink[Vector[Version]] = Shrink.shrinkAny

  private val modes =
    for (version <- Seq(6, 9); mode <- Seq(MergeMode.CommitTime, MergeMode.EventTime)) yield (version, mode)

  for ((version, mode) <- modes :+ ((8, MergeMode.OrderedDeletes)))
    test(s"version $version, $mode: a slice has the rows of a plain fold, whatever spills") {
      val rules = LogRules(TableFormats.of(version), mode, Vector("ts"), Some(DeleteMarker("op", "gone")), None)
      forAll(logs, bases, Gen.oneOf(1L, 200L, 1L << 20), draws(150), sizeRange(60)) { (log, base, budget) =>
        assert(merge(log, base, rules, MergeOptions(budget)) === naive(log, base, rules))
      }
    }

  test("runs of many keys give what one table gives, within their memory, and leave no file behind") {
    val rules = LogRules(TableFormat.V9, MergeMode.EventTime, Vector("ts"), None, None)
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

  for (mode <- Seq(MergeMode.CommitTime, MergeMode.EventTime, MergeMode.OrderedDeletes))
    test(
      s"$mode: with positions a slice has the rows that keys give, and keys are asked for only where they are needed"
    ) {
      val rules = LogRules(TableFormat.V9, mode, Vector("ts"), Some(DeleteMarker("op", "gone")), None)
      forAll(positioned(fortyRows.map(_.key)), Gen.oneOf(1L, 1L << 20), draws(60)) { (blocks, budget) =>
        val (byKey, byPosition, file) = mergedBothWays(blocks, MergeRules(rules), budget)
        assert((byPosition.droppedBase, byPosition.keptLog) === ((byKey.droppedBase, byKey.keptLog)))
        assert(!file.keysAsked && (rules.comparesBase || file.opened === 0))
        val later = new CountedBase(fortyRows, "20261120000000009")
        val log = Vector(fileOfPositioned(blocks, withPositions = true))
        assert(mergeFiles(log, Some(later), rules, MergeOptions()).keptLog === byKey.keptLog)
        assert(later.keysAsked === blocks.exists(_.versions.nonEmpty))
      }
    }

  for (mode <- Seq(MergeMode.CommitTime, MergeMode.EventTime))
    test(
      s"$mode: with positions rows are mixed as with keys, and keys of the base file are not read, whatever spills"
    ) {
      val rules =
        MergeRules(
          LogRules(TableFormat.V9, mode, Vector("ts"), Some(DeleteMarker("op", "gone")), None),
          ColumnMerge.Nulls
        )
      forAll(positioned(fortyRows.map(_.key)), Gen.oneOf(1L, 1L << 20), draws(60)) { (blocks, budget) =>
        val (byKey, byPosition, file) = mergedBothWays(blocks, rules, budget)
        assert((byPosition.droppedBase, byPosition.keptLog) === ((byKey.droppedBase, byKey.keptLog)))
        assert(mixedRowsOf(byPosition).toSet === mixedRowsOf(byKey).toSet)
        assert(!file.keysAsked)
      }
    }

  for (mixing <- Seq(ColumnMerge.Never, ColumnMerge.Nulls))
    test(s"$mixing: of two rows of one key each is replaced by the record that bears its position") {
      val rules = MergeRules(LogRules(TableFormat.V9, MergeMode.CommitTime, Vector.empty, None, None), mixing)
      val base = Vector("a", "b", "a").map(BaseRow(_, None))
      val log = Positioned("1", Vector(0 -> Version("1", "a", Row, None), 2 -> Version("1", "a", Row, None)))
      def replaced(positions: Boolean) = bits(
        mergeFiles(
          Vector(fileOfPositioned(Vector(log), positions)),
          Some(new CountedBase(base)),
          rules,
          MergeOptions()
        ).droppedBase
      )
      assert(replaced(positions = true) === Set(0, 2))
      assert(replaced(positions = false) === Set(0))
    }

  for (mode <- Seq(MergeMode.CommitTime, MergeMode.EventTime); mixing <- Seq(ColumnMerge.Never, ColumnMerge.Defaults))
    test(s"$mode, $mixing: rows are mixed as by a plain fold over them, partial records too, whatever spills") {
      val rules =
        MergeRules(LogRules(TableFormat.V9, mode, Vector("ts"), Some(DeleteMarker("op", "gone")), None), mixing)
      forAll(mixable, bases, Gen.oneOf(1L, 1L << 20), draws(150)) { (blocks, drawn, budget) =>
        val base = drawn.groupBy(_.key).map(_._2.head).toVector
        val file = new CountedBase(base)
        val merged = mergeFiles(Vector(fileOfMixable(blocks)), Some(file), rules, MergeOptions(budget))
        assert(rowsOf(merged, base, blocks, mixing) === foldRows(blocks, base, rules))
        val rows = (0 until merged.mixedRows.size).map(merged.mixedRows.baseRow)
        assert(rows === rows.sorted && rows.filter(_ != PartialMergePlan.NoBase).forall(merged.droppedBase.get))
      }
    }

  for (mode <- Seq(MergeMode.CommitTime, MergeMode.EventTime); mixing <- Seq(ColumnMerge.Never, ColumnMerge.Defaults))
    test(s"$mode, $mixing: some keys alone have the rows that a merge of all keys has for them, whatever spills") {
      val rules =
        MergeRules(LogRules(TableFormat.V9, mode, Vector("ts"), Some(DeleteMarker("op", "gone")), None), mixing)
      forAll(mixable, bases, Gen.choose(1, 4), Gen.oneOf(1L, 1L << 20), draws(150)) { (blocks, base, oneOf, budget) =>
        val file = Vector(fileOfMixable(blocks))
        val all = mergeFiles(file, Some(new CountedBase(base)), rules, MergeOptions())
        def wanted(key: String): Boolean = Math.floorMod(key.hashCode, oneOf) == 0
        val keyOf = blocks.filterNot(_.isDelete).flatMap(_.versions.map(_.key))
        val some = mergeKeys(file, wanted, base, rules, MergeOptions(budget))
        assert(bits(some.keptLog) === bits(all.keptLog).filter(r => wanted(keyOf(r))))
        assert(bits(some.droppedBase) === bits(all.droppedBase).filter(r => wanted(base(r).key)))
        val expected = mixedRowsOf(all).filter { case (row, parts) =>
          wanted(if (row == PartialMergePlan.NoBase) keyOf(parts.head) else base(row).key)
        }
        assert(mixedRowsOf(some).toSet === expected.toSet)
      }
    }

  // What payload classes do by their code before version 9, with Hudi 0.15 and 1.0.
  private def coded(version: Int, mode: MergeMode) =
    LogRules(TableFormats.of(version), mode, Vector("ts"), Some(DeleteMarker("op", "gone")), None)

  for (
    rules <- Seq(
      MergeRules(coded(6, MergeMode.EventTime), ColumnMerge.Nulls, newestMeta = true),
      MergeRules(coded(6, MergeMode.CommitTime), ColumnMerge.EqualDefaults, withBaseAlone = true),
      MergeRules(
        coded(6, MergeMode.EventTime),
        ColumnMerge.Unavailable("default"),
        withBaseAlone = true,
        winnersAsTheyAre = true
      ),
      MergeRules(coded(8, MergeMode.EventTime), ColumnMerge.Nulls, newestMeta = true),
      MergeRules(coded(8, MergeMode.OrderedDeletes), ColumnMerge.EqualDefaults),
      MergeRules(coded(8, MergeMode.EventTime), ColumnMerge.Unavailable("default"), winnersAsTheyAre = true)
    )
  )
    test(s"$rules: rows are mixed as by a plain fold over them, whatever spills") {
      forAll(mixable.map(_.map(_.whole)), bases, Gen.oneOf(1L, 1L << 20), draws(100)) { (blocks, drawn, budget) =>
        val base = drawn.groupBy(_.key).map(_._2.head).toVector
        val merged =
          mergeFiles(Vector(fileOfMixable(blocks)), Some(new CountedBase(base)), rules, MergeOptions(budget))
        assert(rowsOf(merged, base, blocks, rules.mixing) === foldRows(blocks, base, rules))
      }
    }

  test("positions for fewer records than a block has are not used") {
    val rules = LogRules(TableFormat.V9, MergeMode.CommitTime, Vector.empty, None, None)
    val block = Positioned("1", Vector(0 -> Version("1", "a", Row, None), 1 -> Version("1", "b", Row, None)))
    val bytes = block.bytes(Some(Vector(1L)))
    val file = new CountedBase(Vector(BaseRow("a", None), BaseRow("b", None)))
    assert(bits(mergeFiles(Vector(bytes), Some(file), rules, MergeOptions()).droppedBase) === Set(0, 1))
    assert(file.keysAsked)
  }

  test("without logged keys the base file is not opened; without a base file the log's rows are the slice's") {
    val rules = LogRules(TableFormat.V9, MergeMode.CommitTime, Vector.empty, None, None)
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
