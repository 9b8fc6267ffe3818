package hudiidx.hive

import hudiidx.NotAHudiTable
import hudiidx.storage.Storage
import hudiidx.table.TableConfig
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

/** A folder of a job's input: a Hudi table, or what lies below a folder of one.
  *
  * @param tablePath qualified, without a slash at its end
  * @param folder    relative to it; empty: the whole table
  */
private[hive] final case class TableLocation(tablePath: String, folder: String) {

  /** The partition lies in the folder, or is it. */
  def holds(partitionPath: String): Boolean =
    folder.isEmpty || partitionPath == folder || partitionPath.startsWith(folder + "/")
}

private[hive] object TableLocation {

  /** The tables that folders belong to, in the order given: the nearest folder above with a `.hoodie` in it. NotAHudiTable if
    * there is none. Folders beside each other cost one look.
    */
  def of(storage: Storage, conf: Configuration, folders: Seq[Path]): Vector[TableLocation] =
    folders.foldLeft(Vector.empty[TableLocation]) { (found, folder) =>
      val path = folder.getFileSystem(conf).makeQualified(folder).toString.stripSuffix("/")
      val known = found.map(_.tablePath).distinct.find(t => path == t || path.startsWith(t + "/"))
      val table = known.getOrElse(above(storage, path))
      found :+ TableLocation(table, path.substring(table.length).stripPrefix("/"))
    }

  private def above(storage: Storage, path: String): String =
    Iterator
      .iterate(new Path(path))(_.getParent)
      .takeWhile(_ != null)
      .map(_.toString.stripSuffix("/"))
      .find(p =>
        NotAHudiTable.reading(p)(storage.status(Storage.join(p, TableConfig.HoodieFolder))).exists(_.isDirectory)
      )
      .getOrElse(
        throw new NotAHudiTable(
          s"$path: neither it nor a folder above it is a Hudi table (has ${TableConfig.HoodieFolder}); check the location"
        )
      )
}
