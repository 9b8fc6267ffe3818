package hudiidx.hive

import org.apache.hadoop.fs.Path
import org.apache.hadoop.mapred.FileSplit

/** A piece of a table. Hive knows by the path which partition it belongs to. */
final class HudiIdxSplit private[hive] (private[hive] override var piece: SlicePiece)
    extends FileSplit(new Path(piece.path), piece.start, piece.bytes, Array.empty[String])
    with PieceSplit {

  /** For Hadoop, which reads the rest behind it. */
  def this() = this(SlicePiece.None)
}
