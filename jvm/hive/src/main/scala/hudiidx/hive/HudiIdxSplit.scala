package hudiidx.hive

import java.io.{DataInput, DataOutput}

import org.apache.hadoop.fs.Path
import org.apache.hadoop.mapred.FileSplit

/** A piece of a table. Hive knows by the path which partition it belongs to. */
final class HudiIdxSplit private[hive] (private[hive] var piece: SlicePiece)
    extends FileSplit(new Path(piece.path), piece.start, piece.bytes, Array.empty[String]) {

  /** For Hadoop, which reads the rest behind it. */
  def this() = this(SlicePiece.None)

  override def write(out: DataOutput): Unit = {
    super.write(out)
    piece.write(out)
  }

  override def readFields(in: DataInput): Unit = {
    super.readFields(in)
    piece = SlicePiece.read(in)
  }
}
