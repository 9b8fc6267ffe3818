package hudiidx.table

import hudiidx.hfile.{Codec, ForgedHFile, HFileOptions, HFileWriter}
import hudiidx.log.{LogBlocks, LogFiles, LogHeaderKey}
import hudiidx.storage.{CountingStorage, LocalStorage}
import hudiidx.table.listing.{MetadataTable, StockFileGroup, StockLayer, StockLocation, StockMerge, StockRecordIndex}
import hudiidx.timeline.{InstantContents, InstantTime, TimelineReader}
import hudiidx.{Allocated, CpuClock, DamagedTable, Fixtures}
import java.nio.file.{Files, Paths, StandardOpenOption}
import org.scalatest.funsuite.AnyFunSuite

import scala.collection.mutable

/** Hudi's own record index, as our reader and as stock Hudi's metadata reader have it. */
final class StockRecordIndexSuite extends AnyFunSuite {

  private def open(tablePath: String): Option[StockRecordIndex] = {
    val config = TableConfig.read(LocalStorage, tablePath)
    val dir = config.timelineDir(tablePath)
    val timeline =
      TimelineReader.read(LocalStorage, dir, config.timelineLayout, config.timelineZone, config.timelineFolder)
    MetadataTable.recordIndex(LocalStorage, tablePath, config, timeline, new InstantContents(LocalStorage, dir))
  }

  private def locations(index: StockRecordIndex): Map[String, StockLocation] = {
    val found = mutable.HashMap.empty[String, StockLocation]
    index.groups.foreach { group =>
      var last = Array.emptyByteArray
      index.foreach(LocalStorage, group) { (key, location) =>
        assert(found.isEmpty || last.isEmpty || java.util.Arrays.compareUnsigned(last, key) < 0)
        last = key
        assert(found.put(new String(key, "UTF-8"), location).isEmpty)
      }
    }
    found.toMap
  }

  /** Tables whose record index stock Hudi was asked. */
  private val indexed =
    Fixtures.good.filter(n => Fixtures.json(n).path("metadata_table").path("record_index").path("found").size > 0)

  test("the fixtures have record indexes of every version, with keys moved and deleted") {
    val named = Seq("v6-cow-part", "v8-mor-part", "v9-many-indexes", "v6-moved-mor", "v9-moved-cow", "v9-cow-replace")
    assert(named.toSet.subsetOf(indexed.toSet), indexed)
  }

  for (name <- indexed)
    test(s"$name: locations equal those that stock Hudi finds in its record index, and absent keys are absent") {
      val index = open(Fixtures.table(name)).get
      assert(index.inStep)
      val ours = locations(index)
      val metadata = Fixtures.json(name).path("metadata_table")
      val stock = metadata.path("record_index").path("found")
      val zone = TableConfig.read(LocalStorage, Fixtures.table(name)).timelineZone
      stock.properties.forEach { e =>
        val instant = InstantTime.toMillis(e.getValue.get(2).asText, zone).get
        val wanted = StockLocation(e.getValue.get(0).asText, e.getValue.get(1).asText, instant)
        assert(ours.get(e.getKey).contains(wanted), e.getKey)
      }
      // Stock was asked for one key more than there are, or for the first 300.
      if (stock.size < 300) assert(ours.keySet.size === stock.size)
      val entries = metadata.path("rows_by_type").path("5")
      if (entries.isInt) assert(ours.size === entries.asInt)
    }

  test("a table without a record index has none to read; one with files gone is damaged") {
    assert(open(Fixtures.table("v9-no-mdt-cow")).isEmpty)
    val table = Fixtures.copy("v9-moved-cow")
    val folder = s"$table/.hoodie/metadata/record_index"
    val logs = LocalStorage.list(folder).filter(_.name.contains(".log."))
    val index = open(table).get
    logs.foreach { f =>
      val path = Paths.get(f.path)
      Files.delete(path)
    }
    intercept[DamagedTable](locations(index))
  }

  test("keys out of order, schemas without locations and values of another kind are damage that names the file") {
    val folder = Fixtures.newFolder("forged-record-index")
    val group = StockFileGroup("g", Some("g.hfile"), Vector.empty)
    val index = StockRecordIndex(folder.toString, Vector(group), inStep = true)
    def refusal(file: ForgedHFile): String = {
      Files.write(folder.resolve("g.hfile"), file.bytes)
      val said = intercept[DamagedTable](index.foreach(LocalStorage, group)((_, _) => ())).getMessage
      assert(said.contains("g.hfile"), said)
      said
    }
    def schema(fields: String) =
      Map("schema" -> s"""{"type":"record","name":"r","fields":[$fields]}""".getBytes("UTF-8"))
    def location(fields: String) = schema(
      s"""{"name":"recordIndexMetadata","type":["null",{"type":"record","name":"l","fields":[$fields]}]}"""
    )
    val number = schema("""{"name":"recordIndexMetadata","type":"int"}""")
    // An empty value is a deleted key.
    val good =
      ForgedHFile(Vector(Vector("a", "b"), Vector("d", "e")), 1, Vector("a", "c"), 4, Array.emptyByteArray, number)
    Files.write(folder.resolve("g.hfile"), good.bytes)
    index.foreach(LocalStorage, group)((_, _) => fail("a deleted key has a location"))
    assert(refusal(good.copy(blocks = good.blocks.map(_.reverse))).contains("not above"))
    assert(refusal(good.copy(blocks = Vector(Vector("a", "a"), Vector("d", "e")))).contains("not above"))
    assert(refusal(good.copy(indexKeys = _ => "z")).contains("the index leads"))
    assert(refusal(good.copy(more = schema("""{"name":"x","type":"int"}"""))).contains("no recordIndexMetadata"))
    assert(refusal(good.copy(value = Array[Byte](8))).contains("it is 4; rebuild the index with Hudi"))
    assert(refusal(good.copy(value = Array[Byte](8, 0))).contains("bytes left over"))
    val inFile = """{"name":"fileIdEncoding","type":"int"},{"name":"fileId","type":"string"}"""
    val named = good.copy(value = Array[Byte](2, 2, 2, 'f'), more = location(inFile))
    assert(refusal(named).contains("its partitionName is null"))
    val number2 = named.copy(
      value = Array[Byte](2, 2, 2, 'f', 4),
      more = location(s"""$inFile,{"name":"partitionName","type":"int"}""")
    )
    assert(refusal(number2).contains("its partitionName is 2"))
    val long = "p" * 5000
    val far =
      Array[Byte](2, 2, 2, 'f', (5000 * 2 % 128 | 128).toByte, (5000 * 2 / 128).toByte) ++ long.getBytes("UTF-8")
    assert(
      refusal(named.copy(value = far, more = location(s"""$inFile,{"name":"partitionName","type":"string"}""")))
        .contains("its partitionName has 5000 letters")
    )
  }

  test("each byte of a file is read a few times at most, however many keys its index leads to") {
    val folder = Fixtures.newFolder("long-record-index")
    val location = """{"type":"record","name":"l","fields":[]}"""
    val schema = s"""{"type":"record","name":"r","fields":[{"name":"recordIndexMetadata","type":["null",$location]}]}"""
    Files.write(
      folder.resolve("g.hfile"), {
        val out = new java.io.ByteArrayOutputStream
        val writer = new HFileWriter(out, HFileOptions(Codec.None, blockBytes = 60, indexBlockBytes = 8 << 10))
        writer.putFileInfo("schema", schema.getBytes("UTF-8"))
        (0 until 3000).foreach(i => writer.append(f"$i%06d".getBytes("UTF-8"), Array.emptyByteArray))
        writer.close()
        out.toByteArray
      }
    )
    val storage = new CountingStorage(LocalStorage)
    val group = StockFileGroup("g", Some("g.hfile"), Vector.empty)
    StockRecordIndex(folder.toString, Vector(group), inStep = true).foreach(storage, group)((_, _) => fail())
    assert(storage.counts.bytesRead < 4 * Files.size(folder.resolve("g.hfile")))
  }

  test("keys of very many layers are compared with a few others each") {
    var looks = 0
    final class Layer(keys: Int*) extends StockLayer {
      private var left = keys
      private var key0 = Array.emptyByteArray
      def next(): Boolean = {
        left.headOption.foreach(k => key0 = java.nio.ByteBuffer.allocate(4).putInt(k).array)
        val more = left.nonEmpty
        left = left.drop(1)
        more
      }
      def key: Array[Byte] = {
        looks += 1
        key0
      }
      def location(): Option[StockLocation] = Some(StockLocation(keys.last.toString, "f", 0L))
    }
    val layers = 4000
    val found = mutable.ArrayBuffer.empty[(Int, String)]
    new StockMerge(Array.tabulate[StockLayer](layers)(i => new Layer(layers - i, layers + i))).foreach { (key, at) =>
      found += java.nio.ByteBuffer.wrap(key).getInt -> at.partitionPath
    }
    assert(found.map(_._1) === (1 until 2 * layers))
    // The key of two layers is where the newer one has it.
    assert(found(layers - 1)._2 === layers.toString && found.last._2 === (layers + layers - 1).toString)
    assert(looks < 200 * layers)
  }

  test("rollbacks in the log of a metadata table, one for each block, are taken in by the number of blocks") {
    def hasLog(name: String) = open(Fixtures.table(name)).get.groups.head.blocks.nonEmpty
    val table = Fixtures.copy(indexed.filter(_.startsWith("v6")).find(hasLog).get)
    val whole = open(table).get
    val log = whole.groups.head.blocks.last.fileName
    val blocks = 20000
    // Instants of the metadata table's own making count without a timeline.
    val instants = (1 to blocks).map(i => f"00000000000000$i%06d")
    val written = instants.map(t => LogFiles.block(4, Seq(LogHeaderKey.InstantTime -> t), Array.emptyByteArray))
    val undone = instants.map(LogBlocks.rollback("00000000000000999999", _))
    val path = Paths.get(whole.folder, log)
    Files.write(path, (written ++ undone).toArray.flatten, StandardOpenOption.APPEND)
    val before = Allocated.bytes()
    assert(open(table).get === whole)
    assert(Allocated.bytes() - before < (200L << 20))
  }

  test("a metadata table of very many file groups is opened in time by their number") {
    val table = Fixtures.copy("v9-mor-part")
    val group = open(table).get.groups.head
    val names = (1 to 30000).map(i => group.baseFile.get.replace(group.fileId, f"record-index-$i%06d-0"))
    names.foreach(n => Files.createFile(Paths.get(table, ".hoodie/metadata/record_index", n)))
    assert(CpuClock.millis(assert(open(table).get.groups.size === names.size + 1)) < 3000)
  }

  test("so is one of very many instants, of a table that had as many before") {
    val table = Fixtures.copy("v6-cow-part")
    (1 to 15000).foreach { i =>
      Files.createFile(Paths.get(table, f".hoodie/20200101000$i%06d.commit"))
      Files.createFile(Paths.get(table, f".hoodie/metadata/.hoodie/20210101000$i%06d.deltacommit"))
    }
    assert(CpuClock.millis(assert(open(table).get.inStep)) < 3000)
  }
}
