package hudiidx.engine

import hudiidx.history.TableHistory
import hudiidx.Fixtures
import hudiidx.storage.LocalStorage
import hudiidx.table.listing.MetadataTable
import hudiidx.table.TableConfig
import hudiidx.timeline.{InstantContents, TimelineReader}
import org.scalatest.funsuite.AnyFunSuite

final class MetadataTableHistorySuite extends AnyFunSuite {
  for (name <- Seq("v8-archived-cow", "v9-archived-cow", "v9-archived-mor"))
    test(s"with its archived timeline a metadata table is in step though its log files' instants are archived: $name") {
      val table = Fixtures.table(name)
      val config = TableConfig.read(LocalStorage, table)
      val dir = config.timelineDir(table)
      val timeline =
        TimelineReader.read(LocalStorage, dir, config.timelineLayout, config.timelineZone, config.timelineFolder)
      val contents = new InstantContents(LocalStorage, dir)
      val history = (path: String, own: TableConfig) => TableHistory.of(LocalStorage, path, own)
      val listing = MetadataTable.open(LocalStorage, table, config, timeline, contents, history = history).get
      try {
        val files = Fixtures.json(name).get("listing").get("per_partition")
        assert(listing.inStep)
        listing.partitions.foreach(p => assert(listing.files(p).length === files.get(p).get("files").size, p))
      } finally listing.close()
    }
}
