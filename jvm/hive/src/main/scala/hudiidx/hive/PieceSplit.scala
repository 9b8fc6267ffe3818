package hudiidx.hive

import java.io.{DataInput, DataOutput}

import org.apache.hadoop.io.Writable

/** A file split of Hadoop's that carries a piece behind what it sends by itself. */
private[hive] trait PieceSplit extends Writable {
  private[hive] var piece: SlicePiece

  abstract override def write(out: DataOutput): Unit = {
    super.write(out)
    piece.write(out)
  }

  abstract override def readFields(in: DataInput): Unit = {
    super.readFields(in)
    piece = SlicePiece.read(in)
  }
}
