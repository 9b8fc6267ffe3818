package hudiidx.write

import hudiidx.write.format.ReplacedGroups
import hudiidx.{InvalidOption, UnsupportedTable}
import hudiidx.storage.Storage
import hudiidx.sync.TableContext
import hudiidx.table.{FileName, PropertiesFile, TableConfig}
import hudiidx.table.listing.Subfolders

/** A table that took the place of another one at the same path. Its timeline has a folder of its own, which `hoodie.properties` names:
  * putting those in the place of the old ones is the one step by which readers, of stock Hudi too, see the new table and no longer the
  * old one. Its first instant replaces all files of the old one, which stay until they are cleaned. docs/format.md, "Tables made anew".
  */
object RemadeTable {

  /** InvalidOption for a table that cannot take another one's place: layout 1 has one place for instants, so that no single step could change
    * what stands there.
    */
  def requireServed(tablePath: String, made: NewTable): Unit = if (made.format.timelineLayout == 1)
    throw new InvalidOption(
      s"hoodie.write.table.version: a table of version ${made.format.version} cannot take the place of the one at $tablePath in one step: its " +
        "timeline has no other folder; give 9, or write to another path"
    )

  def properties(made: NewTable, instant: String): Map[String, String] =
    made.properties + (TableConfig.TimelinePath -> TableConfig.remadeTimeline(
      instant
    )) + (TableConfig.RemadeSince -> instant)

  /** The step that makes the table another, by its new properties; done again it does nothing. */
  private[write] def become(storage: Storage, tablePath: String, properties: Array[Byte]): Unit =
    PropertiesFile.become(storage, tablePath, properties, TableConfig.TimelinePath)

  /** Where the timeline of a table stands that began with this instant. */
  private[write] def timelineDir(tablePath: String, instant: String): String =
    s"${Storage.join(tablePath, TableConfig.HoodieFolder)}/${TableConfig.remadeTimeline(instant)}"

  /** The commit that made the table anew is gone: somebody rolled it back, and nothing was written since. With the next commit on
    * this timeline the files of the table before, which are older than it, would count again.
    */
  def isUndone(table: TableContext): Boolean = table.config.isRemade && table.timeline.completedWrites.isEmpty

  /** UnsupportedTable for a write to such a table that does not make it anew. */
  def requireCommit(table: TableContext): Unit = if (isUndone(table))
    throw new UnsupportedTable(
      s"${table.tablePath}: the commit that made the table anew was rolled back, and with the next one the rows of the table before would " +
        "be there again; overwrite the whole of it with hudiidx.write.remake=true"
    )

  /** All that lies there, committed or not: to the new timeline what is older than itself counts as committed. */
  def allGroups(storage: Storage, tablePath: String): ReplacedGroups = {
    val groups = Map.newBuilder[String, Vector[String]]
    Storage.walk("") { partition =>
      val found = storage.list(Storage.join(tablePath, partition))
      val files = found.filterNot(_.isDirectory)
      val ids = files.flatMap(f => FileName.parse(partition, f.name, f.sizeBytes)).map(_.fileId).distinct
      if (ids.nonEmpty) groups += partition -> ids
      Subfolders.of(storage, tablePath, partition, found)
    }: Unit
    ReplacedGroups(None, groups.result())
  }
}
