package hudiidx.table

import hudiidx.storage.LocalStorage
import hudiidx.table.listing.{MetadataTable, StockLocation, StockRecordIndex}
import hudiidx.timeline.{InstantContents, InstantTime, TimelineReader}
import hudiidx.{DamagedTable, Fixtures}
import java.nio.file.{Files, Paths}
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
}
