package hudiidx.logindex

import hudiidx.{DamagedIndex, Fixtures}
import hudiidx.hfile.BlockCache
import hudiidx.log._
import hudiidx.record.PackedKeys
import hudiidx.storage.{BytesReader, LocalStorage, Storage}
import hudiidx.table.FileGroup
import java.io.ByteArrayOutputStream
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Indexes kept beside the log, for blocks that have none. */
final class LogIndexFileSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import IndexedLogs._
  import LogLookupSuite._

  private val sidecar = "/t/index/f1.log_index"

  private val group = FileGroup("p", "f1")

  private def indexOf(storage: Storage, blocks: Vector[CountedBlock], rules: LogRules): Array[Byte] = {
    val out = new ByteArrayOutputStream
    val writer = new LogIndexFileWriter(out)
    val indexer = new BlockIndexer(rules, BlockReaders.AvroOnly)
    for (id <- Seq(FileGroup("", "f1"), group, FileGroup("p", "f2")))
      writer.group(id)(slice => SliceLog.foreach(storage, blocks)((reader, b) => slice.add(indexer.tail(reader, b))))
    writer.finish()
    out.toByteArray
  }

  private def opened(path: String, bytes: Array[Byte]): LogIndexFile =
    LogIndexFile.open(new BytesReader(path, bytes), new BlockCache(0L))

  private def keptIn(files: (String, Array[Byte])*): KeptCells =
    new KeptCells(files.toVector.flatMap { case (path, bytes) => opened(path, bytes).cell(group).map(path -> _) })

  test("blocks without a tail are found through a kept index of some of them, beside blocks with one") {
    forAll(logs, Gen.listOf(keys), Gen.choose(0, 30), minSuccessful(100)) { (pieces, asked, indexed) =>
      val log = write(pieces, all)
      val blocks = counted(log, all)
      val without =
        blocks.take(indexed).filter(b => new SliceTails(Vector(b), KeptTails.None).tail(0, files(log)).isEmpty)
      val bytes = indexOf(storage(log), without, event)
      val kept = keptIn(sidecar -> bytes)
      assert(without.forall(b => kept.of(BlockPlace.of(b)).isDefined))
      val both = storage(log :+ (sidecar -> bytes))
      agrees(both, blocks, asked, event, kept)
      // Of blocks with a kept index only deletes are read whole, and those if they have a key.
      val found = new LogLookup(both, without, kept).find(PackedKeys.of(asked))
      assert(found.parts.filter(_.records.isEmpty).forall(_.counted.block.kind == LogBlockKind.Delete))
      assert(new LogLookup(both, without, kept).find(PackedKeys.of(Seq("absent"))).parts === Vector.empty)
    }
  }

  test("whatever byte of the file is changed, the answer stays or the file is refused") {
    val log =
      write(Vector.tabulate(9)(n => Data("1", Vector.tabulate(3)(k => row(s"key-${n * 2 + k}", n)), Without)), all)
    val blocks = counted(log, all)
    val bytes = indexOf(storage(log), blocks, event)
    var refused = 0
    for (at <- bytes.indices by 3) {
      val bad = bytes.updated(at, (bytes(at) ^ (1 << (at & 7))).toByte)
      try
        agrees(
          storage(log :+ (sidecar -> bad)),
          blocks,
          Seq("key-3", "key-18", "x"),
          event,
          keptIn(sidecar -> bad)
        )
      catch { case _: DamagedIndex => refused += 1 }
    }
    assert(refused > 10)
    bytes.indices.by(11).foreach(n => intercept[DamagedIndex](opened(sidecar, bytes.take(n))))
  }

  test("merged files give what each gave, without the tails of log files that are gone") {
    forAll(logs, Gen.listOf(keys), Gen.listOfN(3, Gen.choose(0, 12)), minSuccessful(60)) { (pieces, asked, cuts) =>
      val log = write(pieces, all)
      val blocks =
        counted(log, all).filter(b => new SliceTails(Vector(b), KeptTails.None).tail(0, files(log)).isEmpty)
      // Files of parts that may overlap.
      val parts = cuts.map(blocks.take(_)) :+ blocks
      val inputs = parts.zipWithIndex.map { case (b, i) => s"$sidecar$i" -> indexOf(storage(log), b, event) }
      val gone = log.headOption.map(f => BlockPlace.nameOf(f._1)).toSet
      def merged(drops: Set[String]): Array[Byte] = {
        val out = new ByteArrayOutputStream
        val writer = new LogIndexFileWriter(out)
        val live: LiveLogs = g => if (g == group) log.map(f => BlockPlace.nameOf(f._1)).toSet -- drops else Set.empty
        val readers = inputs.map { case (path, bytes) => opened(path, bytes) }
        val count = LogIndexMerge.write(readers.toVector, live, writer)
        writer.finish()
        assert(count === blocks.count(b => !drops(BlockPlace.of(b).file)))
        out.toByteArray
      }
      for (drops <- Seq(Set.empty[String], gone)) {
        val bytes = merged(drops)
        assert(opened(sidecar, bytes).groups().forall(_._1 == group))
        val kept = keptIn(sidecar -> bytes)
        assert(kept.places === blocks.map(BlockPlace.of).filterNot(p => drops(p.file)).toSet)
        agrees(storage(log :+ (sidecar -> bytes)), counted(log, all), asked, event, kept)
        val all4 = inputs :+ (sidecar -> bytes)
        agrees(storage(log ++ all4), counted(log, all), asked, event, keptIn(all4: _*))
      }
    }
  }

  for (table <- Seq("v6-mor-rollback", "v9-mor-part"))
    test(s"$table: lookups in stock Hudi's own logs give what a scan of them gives") {
      val files = LogFiles.of(table).filterNot(_.contains("/.hoodie/")).groupBy(BlockPlace.folderOf)
      assert(files.nonEmpty)
      files.values.foreach { log =>
        val blocks = SliceLog.countedBlocks(LocalStorage, log, all).filter(_.block.kind == LogBlockKind.AvroData)
        val rules = event.copy(orderingFields = Vector.empty)
        val bytes = indexOf(LocalStorage, blocks, rules)
        val dir = Fixtures.newFolder("log-index")
        val path = dir.resolve("kept").toString
        LocalStorage.write(path)(_.write(bytes))
        val kept = keptIn(path -> bytes)
        val present = read(LogKeys.of(LocalStorage, blocks, rules, BlockReaders.AvroOnly, LogKeysOptions()))
        val lookup = new LogLookup(LocalStorage, blocks, kept)
        assert(present.nonEmpty)
        val found = lookup.find(PackedKeys.of(present.map(_._1)))
        assert(found.counts.wholeBlocks === 0)
        agrees(LocalStorage, blocks, present.map(_._1).grouped(3).map(_.head).toSeq :+ "absent", rules, kept)
      }
    }

  private def files(log: Vector[(String, Array[Byte])]): OpenLogs = new OpenLogs(storage(log))
}
