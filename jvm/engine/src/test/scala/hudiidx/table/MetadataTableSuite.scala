package hudiidx.table

import com.fasterxml.jackson.databind.JsonNode
import hudiidx.hfile.{BlockCache, Codec, HFileOptions, HFileReader, HFileWriter}
import hudiidx.storage.{BytesReader, LocalStorage}
import hudiidx.sync.build.Indexer
import hudiidx.sync.{IndexOptions, IndexerSuite, TableContext, TableSnapshot, Verifier}
import hudiidx.table.listing.{MetadataLayer, MetadataNames, MetadataTable, MetadataTableListing}
import hudiidx.timeline.{InstantContents, TimelineReader}
import hudiidx.{DamagedTable, Fixtures, OtherForms, UnsupportedTable}
import java.io.ByteArrayOutputStream
import java.nio.file.{Files, Paths, StandardCopyOption}
import org.apache.avro.Schema
import org.apache.avro.generic.{GenericData, GenericDatumWriter}
import org.apache.avro.io.EncoderFactory
import org.scalatest.funsuite.AnyFunSuite

final class MetadataTableSuite extends AnyFunSuite {
  private def open(tablePath: String, cache: BlockCache = new BlockCache): Option[MetadataTableListing] = {
    val config = TableConfig.read(LocalStorage, tablePath)
    val dir = config.timelineDir(tablePath)
    val timeline =
      TimelineReader.read(LocalStorage, dir, config.timelineLayout, config.timelineZone, config.timelineFolder)
    MetadataTable.open(LocalStorage, tablePath, config, timeline, new InstantContents(LocalStorage, dir), cache)
  }

  private def strings(node: JsonNode): Vector[String] = {
    val found = Vector.newBuilder[String]
    node.elements.forEachRemaining(n => found += n.asText)
    found.result()
  }

  private def filesOf(listing: JsonNode, partition: String): Map[String, Long] = {
    val found = Map.newBuilder[String, Long]
    listing.get("per_partition").get(partition).get("files").elements.forEachRemaining { f =>
      found += f.get(0).asText -> f.get(1).asLong
    }
    found.result()
  }

  /** Tables whose stock listing came from the metadata table. */
  private val withMetadata = Fixtures.good.filter { name =>
    val listing = Fixtures.json(name).path("listing")
    listing.path("reader").asText == "HoodieBackedTableMetadata"
  }

  test("the fixtures have tables of every version with a metadata table") {
    assert(Seq("v6", "v8", "v9").forall(v => withMetadata.count(_.startsWith(v)) >= 5), withMetadata)
  }

  for (name <- withMetadata)
    test(s"partitions, files and sizes equal stock's metadata table, and it is in step: $name") {
      val stock = Fixtures.json(name).get("listing")
      val listing = open(Fixtures.table(name)).get
      try {
        assert(listing.partitions === strings(stock.get("partitions")).sorted)
        listing.partitions.foreach { p =>
          assert(listing.files(p).map(f => f.fileName -> f.sizeBytes).toMap === filesOf(stock, p), p)
        }
        assert(listing.files("no such partition").isEmpty)
        // The archive of versions 8 and 9 is Parquet, which this module does not read.
        assert(listing.inStep || (name.contains("archived") && !name.startsWith("v6")))
      } finally listing.close()
    }

  test("a metadata table in the place of another is read as it is, whatever files of the other are in the cache") {
    // Another table's file under a name that was there: here that of an earlier compaction under the name of the last one.
    val table = Fixtures.copy("v9-cow-part")
    val files = LocalStorage.list(table + "/.hoodie/metadata/files").map(_.path).filter(_.endsWith(".hfile"))
    val Vector(earlier, last) = files.sortBy(f => f.substring(f.lastIndexOf('_'))).takeRight(2)
    val cache = new BlockCache
    def shown(blocks: BlockCache): Map[String, Map[String, Long]] = {
      val listing = open(table, blocks).get
      try listing.partitions.map(p => p -> listing.files(p).map(f => f.fileName -> f.sizeBytes).toMap).toMap
      finally listing.close()
    }
    val before = shown(cache)
    assert(shown(cache) === before && before === shown(new BlockCache))
    Files.copy(Paths.get(earlier), Paths.get(last), StandardCopyOption.REPLACE_EXISTING)
    val now = shown(new BlockCache)
    assert(now !== before)
    assert(shown(cache) === now)
  }

  test("a metadata table whose paths leave the table, or whose lengths pass their record, is damaged") {
    def listing(key: String, name: String): MetadataTableListing = ofOneRecord(key, record(Map(name -> 7L)))
    assert(listing("p", "f_1-0-1_20260101000000000.parquet").files("p").map(_.sizeBytes).toVector === Vector(7L))
    for (bad <- Seq("./q", "q/.", "q/", "a//q", "./"))
      intercept[DamagedTable](listing(MetadataTableListing.AllPartitions, bad).partitions)
    for (kept <- Seq("a/b", "ts=2026-01-01 10:00:00", "u=s3a:b"))
      assert(listing(MetadataTableListing.AllPartitions, kept).partitions === Vector(kept))
    for (bad <- Seq("../q", "a/../../q", "/q", "s3a://q", "file:/q")) {
      val said = intercept[DamagedTable](listing(MetadataTableListing.AllPartitions, bad).partitions).getMessage
      assert(said.contains(s"'$bad' that leaves the table"))
    }
    val name = "f_1-0-1_20260101000000000.parquet"
    for (bad <- Seq(s"../$name", s"/$name", s"s3a://b/$name", s"file:/$name"))
      intercept[DamagedTable](listing("p", bad).files("p"))
    assert(listing("p", s"q/$name").files("p").isEmpty) // a name with a folder in it is no file's
    // A map of one entry whose key says that it has 1.9 GB.
    val hostile = Array[Byte](2, 0x80.toByte, 0x80.toByte, 0x80.toByte, 0x80.toByte, 14, 'x')
    intercept[DamagedTable](ofOneRecord("p", hostile).files("p"))
  }

  test("a metadata table that says of a file what none has, or has records of another kind, is damaged") {
    val name = "f_1-0-1_20260101000000000.parquet"
    for (size <- Seq(-1L, Long.MinValue, 1L << 50, Long.MaxValue)) {
      val said = intercept[DamagedTable](ofOneRecord("p", record(Map(name -> size))).files("p")).getMessage
      assert(said.contains(s"p/$name: $size bytes"))
    }
    val other = new Schema.Parser().parse("""{"type":"record","name":"r","fields":[{"name":"x","type":"int"}]}""")
    val said = intercept[DamagedTable](ofOneRecord("p", Array[Byte](2), other).files("p")).getMessage
    assert(said.contains("files are not a map"))
    intercept[DamagedTable](ofOneRecord("p", record(Map.empty)).partitions)
  }

  test("files are listed where the metadata table has no record of a partition, or no list of them") {
    val (access, folder) = (IndexerSuite.accessOf(LocalStorage), ".hoodie/metadata/files")
    val whole = Fixtures.json("v9-cow-part").get("listing")
    for (
      hide <- Seq[(Array[Byte], Array[Byte]) => Option[Array[Byte]]](
        (key, value) => if (new String(key, "UTF-8").startsWith("__")) Some(value) else None,
        (key, value) => if (new String(key, "UTF-8").startsWith("__")) None else Some(value)
      )
    ) {
      val table = Fixtures.copy("v9-cow-part")
      LocalStorage.list(s"$table/$folder").filter(_.name.contains(".log.")).foreach(f => LocalStorage.delete(f.path))
      LocalStorage.list(s"$table/$folder").filter(_.name.endsWith(".hfile")).foreach(f => rewrite(f.path, hide))
      for (source <- Seq("auto", "metadata")) {
        def create(): Any = new Indexer(access, table, IndexOptions(strict = true, source = source)).create()
        if (source == "metadata") intercept[DamagedTable](create())
        else {
          create()
          val snapshot = TableSnapshot.open(access, table, IndexOptions(strict = true))
          try
            for (p <- strings(whole.get("partitions")))
              assert(snapshot.source.files(p).map(f => f.fileName -> f.sizeBytes).toMap === filesOf(whole, p))
          finally snapshot.close()
        }
      }
    }
  }

  test("files are listed where a folder lies in the place of a file of the metadata table") {
    val table = Fixtures.copy("v9-cow-part")
    val files = LocalStorage.list(s"$table/.hoodie/metadata/files").filter(_.name.endsWith(".hfile"))
    files.foreach { f =>
      Files.delete(Paths.get(f.path))
      Files.createDirectory(Paths.get(f.path))
    }
    val access = IndexerSuite.accessOf(LocalStorage)
    new Indexer(access, table, IndexOptions(strict = true)).create()
    val (indexed, listed) =
      (
        TableSnapshot.open(access, table, IndexOptions(strict = true)),
        TableSnapshot.open(access, table, IndexOptions(enabled = false))
      )
    try assert(Verifier.compare(indexed.source, listed.source).ok)
    finally Seq(indexed, listed).foreach(_.close())
  }

  /** An HFile of the metadata table with some of its records. */
  private def rewrite(path: String, keep: (Array[Byte], Array[Byte]) => Option[Array[Byte]]): Unit = {
    val before = HFileReader.open(new BytesReader(path, LocalStorage.readAll(path)), new BlockCache)
    val out = new ByteArrayOutputStream
    val writer = new HFileWriter(out, HFileOptions(Codec.None))
    val cells = before.scan()
    while (cells.next()) keep(cells.key, cells.value).foreach(writer.append(cells.key, _))
    writer.putFileInfo("schema", before.fileInfo("schema"))
    writer.close()
    Files.write(Paths.get(path), out.toByteArray): Unit
  }

  test(
    "files of a form that is not known: refused where a commit wrote them or is archived, else no files of the table"
  ) {
    val table = Fixtures.copy("v9-no-mdt-cow")
    OtherForms.write(table, ".lance")
    val context = TableContext.load(IndexerSuite.accessOf(LocalStorage), table)
    val names = new MetadataNames(table, DataFiles.of(context.config), context.timeline, context.contents)
    def entry(instant: String, form: String) = names.entry("p", s"f_1-0-1_$instant$form", 1L)
    val known = context.completed.head.requestedTime
    assert(entry(known, ".parquet").isDefined)
    for (form <- OtherForms.All) {
      assert(entry(known, form) === None)
      assert(intercept[UnsupportedTable](entry(OtherForms.Instant, form)).getMessage.contains(".lance"))
      assert(intercept[UnsupportedTable](entry("20200101000000000", form)).getMessage.contains(form))
    }
  }

  private val recordSchema = new Schema.Parser().parse(
    """{"type":"record","name":"r","fields":[{"name":"filesystemMetadata","type":{"type":"map","values":{"type":"record",""" +
      """"name":"f","fields":[{"name":"size","type":"long"},{"name":"isDeleted","type":"boolean"}]}}}]}"""
  )

  private def record(sizes: Map[String, Long]): Array[Byte] = {
    val files = new java.util.HashMap[String, GenericData.Record]
    sizes.foreach { case (name, size) =>
      val file = new GenericData.Record(recordSchema.getFields.get(0).schema.getValueType)
      file.put("size", size)
      file.put("isDeleted", false)
      files.put(name, file)
    }
    val whole = new GenericData.Record(recordSchema)
    whole.put("filesystemMetadata", files)
    val out = new ByteArrayOutputStream
    val encoder = EncoderFactory.get.binaryEncoder(out, null)
    new GenericDatumWriter[GenericData.Record](recordSchema).write(whole, encoder)
    encoder.flush()
    out.toByteArray
  }

  private def ofOneRecord(key: String, value: Array[Byte], schema: Schema = recordSchema): MetadataTableListing = {
    val out = new ByteArrayOutputStream
    val writer = new HFileWriter(out, HFileOptions(Codec.None))
    writer.append(key.getBytes("UTF-8"), value)
    writer.close()
    val bytes = new BytesReader("files.hfile", out.toByteArray)
    val hfile = HFileReader.open(bytes, new BlockCache, new DamagedTable(_))
    new MetadataTableListing(Vector(new MetadataLayer(hfile, schema.toString, bytes.path, bytes)), true)
  }

  test("a table that lists no metadata partition 'files' has no metadata table to read") {
    Seq("v6-no-mdt-cow", "v9-no-mdt-mor").foreach(name => assert(open(Fixtures.table(name)).isEmpty, name))
  }

  test("a metadata table that lacks a completed instant is not in step") {
    Seq("v6-mor-part" -> ".hoodie/metadata/.hoodie", "v9-mor-part" -> ".hoodie/metadata/.hoodie/timeline").foreach {
      case (name, timeline) =>
        val table = Fixtures.copy(name)
        val last = LocalStorage.list(s"$table/$timeline").map(_.name).filter(_.endsWith(".deltacommit")).max
        assert(LocalStorage.delete(s"$table/$timeline/$last"))
        val listing = open(table).get
        try assert(!listing.inStep, name)
        finally listing.close()
    }
  }

  test("a metadata table made late, and not written to since, is in step up to the commit that it was made after") {
    val table = Fixtures.copy("v9-no-mdt-cow")
    Fixtures.overlay(table, "v9-no-mdt-cow-late-metadata")
    val behind = open(table).get
    try assert(!behind.inStep)
    finally behind.close()
    val timeline = s"$table/.hoodie/timeline"
    val newest = LocalStorage.list(timeline).map(_.name).filter(_.endsWith(".commit")).max.takeWhile(_ != '_')
    LocalStorage.list(timeline).filter(_.name.startsWith(newest)).foreach(f => LocalStorage.delete(f.path))
    val upToDate = open(table).get
    try {
      assert(upToDate.inStep)
      assert(upToDate.partitions === strings(Fixtures.json("v9-no-mdt-cow").get("listing").get("partitions")).sorted)
    } finally upToDate.close()
  }

  test("a truncated base HFile of the metadata table is a damaged table") {
    val table = Fixtures.copy("v6-archived-cow")
    val folder = s"$table/.hoodie/metadata/files"
    LocalStorage.list(folder).filter(_.name.endsWith(".hfile")).foreach { f =>
      val path = Paths.get(f.path)
      Files.write(path, Files.readAllBytes(path).dropRight(10))
    }
    intercept[DamagedTable](open(table).foreach(_.partitions))
  }
}
