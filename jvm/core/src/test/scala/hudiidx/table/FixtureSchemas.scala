package hudiidx.table

import hudiidx.Fixtures
import hudiidx.storage.{LocalStorage, Storage}
import hudiidx.timeline.{InstantContents, TimelineReader}
import org.apache.avro.Schema

/** The schemas of fixture tables, as their commits and files tell them. */
object FixtureSchemas {

  /** @param storage of commits and data files */
  def avroOf(name: String, storage: Storage = LocalStorage, asOf: Option[String] = None): Option[Schema] = {
    val path = Fixtures.table(name)
    val config = TableConfig.read(LocalStorage, path)
    val dir = config.timelineDir(path)
    val timeline =
      TimelineReader.read(LocalStorage, dir, config.timelineLayout, config.timelineZone, config.timelineFolder)
    val files = new ColumnsOfFiles(storage, path, FooterNames)
    TableSchema
      .latest(timeline, new InstantContents(storage, dir), config, asOf, files)
      .map(s => new Schema.Parser().parse(s.avroJson))
  }
}
