package hudiidx.engine.record

import hudiidx.bytes.Bytes
import hudiidx.hfile.{BlockCache, HFileOptions, HFileReader, HFileWriter}
import hudiidx.record.{RecordIndex, RecordKind}
import hudiidx.storage.{BytesReader, LocalStorage}
import hudiidx.store.{IndexFile, IndexStore}
import hudiidx.sync._
import hudiidx.{DamagedIndex, Fixtures}
import java.io.ByteArrayOutputStream
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}
import org.scalatest.funsuite.AnyFunSuite

/** Indexes that another hudiidx wrote: they are read or made anew, and whoever meets one is told. */
class RecordFormatSuite extends AnyFunSuite {
  import RecordFaultSuite.{access, current}
  import RecordPartSuite._

  private val global = RecordOptions(mode = Some("global"))

  test("an index of format 1 gives the keys that the files have, and an update goes on from its files") {
    val table = Fixtures.part(KeptIndex.name(1))
    val before = current(table).get
    assert(before.properties("record.window.days") === "30")
    val manifest = Set("master_manifest", "partition_index", "delta_manifest")
    assert(before.files.map(_.kind).toSet === RecordKind.All ++ manifest)
    val keys = allKeys(table, None)
    val asked = keys ++ absent(keys)
    assert(keys.size === 2201 && Seq("17", "18", "a,b:c", KeyedTable.uuid(2200)).forall(keys.contains))
    assert(lookup(table, asked, None, indexed) === lookup(table, asked, None, scanned))
    assert(new RecordVerifier(new LocalEngine(access(LocalStorage))).verify(context(table), IndexOptions()).ok)
    val written = KeyedTable.reopened(table)
    written.write(Seq(KeyWrite("c", -1, log = false, Vector("more"), 0)))
    val done = indexer(table).update()
    assert(done.published && !done.rebuilt && done.version.number === before.number + 1)
    assert(done.version.file("master_manifest") === before.file("master_manifest"))
    assert(lookup(table, asked :+ "more", None, indexed) === lookup(table, asked :+ "more", None, scanned))
  }

  private def context(table: String): TableContext = TableContext.load(access(LocalStorage), table)

  private def written(): KeyedTable = {
    val table = new KeyedTable
    table.write(Seq(KeyWrite("a", -1, log = false, (1 to 40).map(KeyedTable.uuid).toVector, 0)))
    indexer(table.path, global).create()
    table.write(Seq(KeyWrite("b", -1, log = false, Vector("1", "2"), 0)))
    table
  }

  /** Gives every version file another format. */
  private def reformat(table: String, format: Int): Unit =
    LocalStorage.list(s"${IndexStore.defaultDir(table)}/versions").foreach { f =>
      val text = new String(LocalStorage.readAll(f.path), UTF_8).replace("\"format\":1,", "\"format\":" + format + ",")
      val body = text.substring(0, text.lastIndexOf(",\"crc32c\""))
      val crc = Bytes.crc32c(body.getBytes(UTF_8), 0, body.getBytes(UTF_8).length)
      Files.write(Paths.get(f.path), (body + f""","crc32c":"$crc%08x"}""").getBytes(UTF_8)): Unit
    }

  private def find(table: KeyedTable, options: IndexOptions) =
    lookup(table.path, table.keys :+ "absent", None, options)

  /** Readers find every key in files, with a warning; strict ones raise. */
  private def assertTold(table: KeyedTable, says: String): Unit = {
    def warned = FallbackCounters.snapshot(IndexStore.defaultDir(table.path)).getOrElse(FallbackCode.DamagedIndex, 0L)
    val before = warned
    assert(find(table, IndexOptions()) === table.truth)
    assert(warned === before + 1)
    assert(intercept[DamagedIndex](find(table, indexed)).getMessage.contains(says))
    val info = IndexInfo.of(access(LocalStorage), table.path, IndexOptions())
    assert(info.state === IndexInfo.Broken && info.reason.contains(says))
  }

  test(
    "an index of an earlier format that is not read any more is made anew by an update, its record index as it was"
  ) {
    val table = written()
    reformat(table.path, 0)
    assertTold(table, "an earlier hudiidx wrote it")
    val done = indexer(table.path).update()
    assert(done.rebuilt && RecordIndex.isIn(done.version) && done.version.properties("record.mode") === "global")
    assert(find(table, indexed) === table.truth)
  }

  test("an index of a later format is left to the later hudiidx, unless one is asked for in this one's format") {
    val table = written()
    reformat(table.path, 2)
    assertTold(table, "a later hudiidx wrote it")
    val files = Fixtures.filesBelow(IndexStore.defaultDir(table.path))
    val refused = intercept[DamagedIndex](indexer(table.path).update())
    assert(refused.isLater && refused.getMessage.contains("hudiidx create"))
    assert(Fixtures.filesBelow(IndexStore.defaultDir(table.path)) === files)
    indexer(table.path, global).create()
    assert(find(table, indexed) === table.truth)
    val store = new IndexStore(LocalStorage, IndexStore.defaultDir(table.path))
    store.expire(current(table.path).get.number, RecordFaultSuite.quick.retention.copy(retained = 9), Long.MaxValue)
    assert(
      files.toSet.subsetOf(Fixtures.filesBelow(store.dir).toSet),
      "what a later version names is not ours to remove"
    )
  }

  test(
    "record files of a later format in a version that is read: keys come from files, and an update makes the part anew"
  ) {
    val table = written()
    val store = new IndexStore(LocalStorage, IndexStore.defaultDir(table.path))
    val version = current(table.path).get
    val later = version.files.map(f => if (f.kind == RecordKind.Base) asFormat3(store, f) else f)
    assert(store.publish(version.copy(number = version.number + 1, files = later)))
    val a = access(LocalStorage)
    val opened = RecordLookup.open(TableContext.load(a, table.path), IndexOptions(), None, new LocalEngine(a))
    val keys = hudiidx.record.PackedKeys.of(table.keys :+ "absent")
    val answer = opened.answer(keys)
    assert(answer.locations.records(keys).toSet === table.truth)
    assert(
      answer.use.fallback.exists(f => f.code == FallbackCode.DamagedRecordIndex && f.why.contains("later hudiidx"))
    )
    opened.close()
    val done = indexer(table.path).update()
    assert(!done.rebuilt && done.version.files.filter(_.kind == RecordKind.Base).forall(f => !later.contains(f)))
    assert(find(table, indexed) === table.truth)
  }

  /** The same cells with another format in the file info. */
  private def asFormat3(store: IndexStore, file: IndexFile): IndexFile = {
    val path = s"${store.dir}/${file.name}"
    val from = HFileReader.open(new BytesReader(path, LocalStorage.readAll(path)), new BlockCache(0))
    val out = new ByteArrayOutputStream
    val writer = new HFileWriter(out, HFileOptions())
    val cells = from.scan()
    while (cells.next()) writer.append(cells.key, Bytes.ofBuffer(cells.valueBuffer))
    writer.putFileInfo("hudiidx.RECORD", from.fileInfo("hudiidx.RECORD").updated(0, 3.toByte))
    writer.close()
    store.write(
      file.name.replaceFirst("[0-9a-z]{10}.record_base", IndexStore.newToken() + ".record_base"),
      RecordKind.Base
    )(_.write(out.toByteArray))
  }
}
