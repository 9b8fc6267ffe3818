package hudiidx.logindex

import hudiidx.{DamagedIndex, Fixtures}
import hudiidx.log._
import hudiidx.record.PackedKeys
import hudiidx.storage.{BytesReader, LocalStorage, Storage}
import java.io.ByteArrayOutputStream
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Indexes kept beside the log, for blocks that have none. */
final class LogIndexFileSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import IndexedLogs._
  import LogLookupSuite._

  private val sidecar = "/t/index/f1.log_index"

  private def indexOf(storage: Storage, blocks: Vector[CountedBlock], rules: LogRules): Array[Byte] = {
    val out = new ByteArrayOutputStream
    val writer = new LogIndexFileWriter(out, BlockPlace.nameOf(sidecar), new BlockIndexer(rules, BlockReaders.AvroOnly))
    SliceLog.foreach(storage, blocks)((reader, b) => writer.add(reader, b))
    writer.finish()
    out.toByteArray
  }

  test("blocks without a tail are found through a kept index of some of them, beside blocks with one") {
    forAll(logs, Gen.listOf(keys), Gen.choose(0, 30), minSuccessful(100)) { (pieces, asked, indexed) =>
      val log = write(pieces, all)
      val blocks = counted(log, all)
      val without =
        blocks.take(indexed).filter(b => new SliceTails(Vector(b), KeptTails.None).tail(0, files(log)).isEmpty)
      val bytes = indexOf(storage(log), without, event)
      val kept = LogIndexFile.open(new BytesReader(sidecar, bytes))
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
          LogIndexFile.open(new BytesReader(sidecar, bad))
        )
      catch { case _: DamagedIndex => refused += 1 }
    }
    assert(refused > 10)
    bytes.indices
      .by(11)
      .foreach(n => intercept[DamagedIndex](LogIndexFile.open(new BytesReader(sidecar, bytes.take(n)))))
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
        val reader = LocalStorage.open(path)
        val kept =
          try LogIndexFile.open(reader)
          finally reader.close()
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
