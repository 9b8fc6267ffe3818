package hudiidx.logindex

import hudiidx.{TableFormat, TableFormats}
import hudiidx.log.LogKeysSuite.{versions, BlockDelete, Version}
import hudiidx.log._
import hudiidx.record.PackedKeys
import hudiidx.storage.{CloseableIterator, CountingStorage, Storage}
import org.scalacheck.{Gen, Shrink}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Lookups in logs, against a scan of all of the log. */
final class LogLookupSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import IndexedLogs._
  import LogLookupSuite._

  private implicit val dontShrink: Shrink[Vector[Piece]] = Shrink.shrinkAny

  for (version <- Seq(6, 9))
    test(s"version $version: a lookup finds the states that a scan finds, whatever the log is a mix of") {
      val rules =
        LogRules(TableFormats.of(version), MergeMode.EventTime, Vector("ts"), Some(DeleteMarker("op", "gone")), None)
      forAll(
        logs,
        Gen.someOf("1", "2", "3", "4"),
        Gen.option(Gen.oneOf("2", "3")),
        Gen.listOf(keys),
        minSuccessful(200)
      ) { (pieces, committed, latest, asked) =>
        val written = write(pieces, BlockRules(TableFormats.of(version), None, committed.toSet))
        // The reader may see instants that no writer saw, and the other way round.
        val blocks =
          counted(written, BlockRules(TableFormats.of(version), latest, i => committed.contains(i) || i == "4"))
        agrees(storage(written), blocks, asked, rules)
      }
    }

  test("whatever byte of a tail is changed, the answer stays") {
    val log = Vector.tabulate(9)(n => Data("1", Vector.tabulate(5)(k => row(s"key-${n * 3 + k}", n)), With(0)))
    val asked = (0 to 40).map(k => s"key-$k") ++ Seq("", "zzz", "7")
    val whole = counted(write(log, all), all)
    val tails = whole.zip(log).map { case (b, data) =>
      (avro(data.versions)._1.length until b.block.contentLength.toInt).map(_ + b.block.contentOffset.toInt)
    }
    var noticed, changed = 0
    for (block <- Seq(7, 8); at <- tails(block) if at % 2 == block % 2) {
      val mask = 1 << (at & 7)
      val bad = write(log, all).map { case (name, bytes) => name -> bytes.updated(at, (bytes(at) ^ mask).toByte) }
      val lookup = new LogLookup(storage(bad), counted(bad, all))
      val counts = lookup.find(PackedKeys.of(asked)).counts
      agrees(storage(bad), counted(bad, all), asked, event)
      changed += 1
      if (counts.damaged > 0 || counts.wholeBlocks > 0) noticed += 1
    }
    // The rest is of pages and filters that these keys do not need.
    assert(noticed > changed / 2, s"$noticed of $changed")
  }

  test("a long log is looked up through few filters, and its tails do not grow") {
    val log = Vector.tabulate(200)(n => Data("1", Vector.tabulate(20)(k => row(s"$n-$k", n)), With(0)))
    val written = log.foldLeft(new Writing(all))((w, p) => w.add(p)).files
    val blocks = counted(written, all)
    val lookup = new LogLookup(storage(written), blocks)
    val present = lookup.find(PackedKeys.of(Seq("3-4", "199-19", "64-0")))
    assert(present.counts === LookupCounts(filters = 4, keyLists = 3, wholeBlocks = 0, damaged = 0))
    assert(
      present.parts.map(p => blocks.indexOf(p.counted) -> p.records.map(_.length)) === Vector(3, 64, 199).map(
        _ -> Some(1)
      )
    )
    val absent = lookup.find(PackedKeys.of(Seq.tabulate(100)(i => s"200-$i")))
    assert(absent.parts === Vector.empty && absent.counts.keyLists <= 1)
    assert(agrees(storage(written), blocks, Seq("3-4", "x", "100-7", "150-0"), event).size === 3)
  }

  test("a lookup reads parts alone: blocks without the keys can be gone") {
    val log =
      Vector
        .tabulate(16)(n => Vector(Data("1", Vector.tabulate(50)(k => row(s"$n-$k", n)), With(0)), FileCreation))
        .flatten
    val written = write(log.init, all)
    val blocks = counted(written, all)
    // Of the other files nothing is left but the two that hold the filters.
    val needed = Set(fileName(8), fileName(16), fileName(5))
    val lookup = new LogLookup(storage(written.filter(f => needed(f._1))), blocks)
    val found = lookup.find(PackedKeys.of(Seq("4-7")))
    assert(found.parts.map(_.counted.file) === Vector(fileName(5)))
    assert(found.counts.damaged === 0 && found.counts.wholeBlocks === 0)
    val counting = new CountingStorage(storage(written))
    new LogLookup(counting, blocks).find(PackedKeys.of(Seq("4-7")))
    assert(counting.counts.bytesRead < written.map(_._2.length).sum / 3)
  }

  test("chains of writers side by side: each block is answered for once, and a later writer takes in both chains") {
    val side = Vector.tabulate(12)(n => Data("1", Vector(row(s"k$n", n)), With(if (n % 2 == 1) 1 else 0)))
    val written = write(side, all)
    val lookup = new LogLookup(storage(written), counted(written, all))
    val found = lookup.find(PackedKeys.of((0 until 12).map(n => s"k$n")))
    assert(found.counts.wholeBlocks === 0 && found.parts.map(_.records.get.length) === Vector.fill(12)(1))
    val next = lookup.chain(Folder).flatMap(f => lookup.load(Folder)(f).members).distinct
    assert(next.size === 12)
  }

  test("a block that stands where another stood is not taken for it") {
    val before =
      write(Vector(Data("1", Vector(row("a", 1)), With(0)), FileCreation, Data("2", Vector(row("b", 1)), With(0))), all)
    // The first file was rolled back and written again under its name, without an index.
    val again = write(Vector(Data("3", Vector(row("c", 1)), Without)), all)
    val now = Vector(again.head, before(1))
    agrees(storage(now), counted(now, all), Seq("a", "b", "c"), event)
    val found = new LogLookup(storage(now), counted(now, all)).find(PackedKeys.of(Seq("c")))
    assert(found.parts.map(_.counted.file) === Vector(fileName(1)))
  }

  test("filters whose file is gone leave their blocks to their own lists of keys") {
    val log =
      Vector
        .tabulate(9)(n => Vector(Data(if (n == 7) "2" else "1", Vector(row(s"k$n", n)), With(0)), FileCreation))
        .flatten
    val written = write(log.init, all)
    val left = written.filterNot(_._1 == fileName(8))
    val lookup = new LogLookup(storage(left), counted(left, all))
    val found = lookup.find(PackedKeys.of(Seq("k3")))
    assert(found.parts.map(_.counted.file) === Vector(fileName(4)))
    assert(found.counts.damaged > 0 && found.counts.wholeBlocks === 0)
    agrees(storage(left), counted(left, all), Seq("k3", "k7", "k8"), event)
  }
}

private object LogLookupSuite {
  import IndexedLogs._
  import org.scalatest.Assertions._

  val all: BlockRules = BlockRules(TableFormat.V9, None, _ => true)
  val event: LogRules = LogRules(TableFormat.V9, MergeMode.EventTime, Vector("ts"), None, None)

  def row(key: String, ordering: Int): Version = Version("1", key, LogKeysSuite.Row, Some(ordering.toLong))

  val keys: Gen[String] = Gen.frequency(3 -> versions.map(_.key), 1 -> Gen.choose(0, 30).map(_.toString))

  private val version: Gen[Version] = Gen.zip(versions, keys).map { case (v, key) => v.copy(key = key) }

  private val tails: Gen[Tail] = Gen.frequency(
    2 -> Gen.const(Without),
    6 -> Gen.frequency(3 -> Gen.const(0), 1 -> Gen.choose(1, 6)).map(With),
    1 -> Gen.zip(Gen.choose(0, 2), Gen.choose(0.0, 1.0), Gen.choose(1, 255)).map { case (u, at, m) =>
      Flipped(u, at, m)
    }
  )

  private val pieces: Gen[Piece] = Gen.frequency(
    9 -> (for {
      instant <- LogKeysSuite.instants
      rows <- Gen.resize(12, Gen.listOf(version.filter(_.kind != BlockDelete)))
      tail <- tails
    } yield Data(instant, rows.map(_.copy(instant = instant)).toVector, tail)),
    2 -> (for {
      instant <- LogKeysSuite.instants
      deleted <- Gen.resize(4, Gen.listOf(version))
    } yield Deletes(instant, deleted.map(_.copy(instant = instant, kind = BlockDelete)).toVector)),
    1 -> Gen.zip(LogKeysSuite.instants, LogKeysSuite.instants).map { case (at, of) => Rollback(at, of) },
    1 -> Gen.const(Torn),
    2 -> Gen.const(FileCreation)
  )

  val logs: Gen[Vector[Piece]] = Gen.choose(0, 30).flatMap(Gen.listOfN(_, pieces)).map(_.toVector)

  def read(of: CloseableIterator[LoggedKey]): Vector[(String, KeyState, Option[String])] =
    try of.map(k => (LogKeysSuite.textOf(k), k.state, k.commitTime)).toVector
    finally of.close()

  /** Compares; gives what was found. */
  def agrees(
      storage: Storage,
      blocks: Vector[CountedBlock],
      asked: Seq[String],
      rules: LogRules,
      kept: KeptTails = KeptTails.None
  ): Vector[(String, KeyState, Option[String])] = {
    val scanned =
      read(LogKeys.of(storage, blocks, rules, BlockReaders.AvroOnly, LogKeysOptions())).filter(k =>
        asked.contains(k._1)
      )
    val lookup = new LogLookup(storage, blocks, kept)
    val found = read(lookup.get(PackedKeys.of(asked), rules, BlockReaders.AvroOnly))
    assert(found === scanned)
    assert(read(lookup.get(PackedKeys.of(asked), rules, BlockReaders.AvroOnly)) === scanned, "asked again")
    found
  }
}
