package hudiidx.hive

import hudiidx.engine.Tables
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

/** The pieces of a job's input, whichever of Hadoop's interfaces asks for them. */
private[hive] object JobInput {

  /** @param folders tables, or folders of them
    * @param wanted     the rows that are of use
    * @param pieceBytes size of the pieces of a file, told of all bytes that are read and of a file system's block
    */
  def pieces(conf: Configuration, folders: Seq[Path], settings: ReadSettings, wanted: RowPredicate)(
      pieceBytes: (Long, Long) => Long
  ): Vector[SlicePiece] = {
    val storage = Tables.access(conf).storage
    val found = TableLocation.of(storage, conf, folders)
    val tables = found.map(_.tablePath).distinct
    val whole = tables.map { table =>
      val planner = new TablePlanner(conf, table, settings, wanted)
      val path = new Path(table)
      val block = path.getFileSystem(conf).getDefaultBlockSize(path)
      try {
        val pieces = planner.pieces(found.filter(_.tablePath == table))
        (pieces, block)
      } finally planner.close()
    }
    val total = whole.iterator.flatMap(_._1).map(_.bytes).sum
    whole.flatMap { case (pieces, block) => pieces.flatMap(TablePlanner.split(_, pieceBytes(total, block))) }
  }
}
