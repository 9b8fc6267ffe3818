package hudiidx.table

import com.fasterxml.jackson.databind.JsonNode
import hudiidx.storage.LocalStorage
import hudiidx.timeline.{InstantContents, TimelineReader}
import hudiidx.{DamagedTable, Fixtures}
import java.nio.file.{Files, Paths}
import org.scalatest.funsuite.AnyFunSuite

final class MetadataTableSuite extends AnyFunSuite {
  private def open(tablePath: String): Option[MetadataTableListing] = {
    val config = TableConfig.read(LocalStorage, tablePath)
    val dir = config.timelineDir(tablePath)
    val timeline = TimelineReader.read(LocalStorage, dir, config.timelineLayout, config.timelineZone)
    MetadataTable.open(LocalStorage, tablePath, config, timeline, new InstantContents(LocalStorage, dir))
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
