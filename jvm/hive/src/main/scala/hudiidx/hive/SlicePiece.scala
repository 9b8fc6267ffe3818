package hudiidx.hive

import java.io.{DataInput, DataOutput}

import org.apache.hadoop.io.Text

/** A file slice that is read by one task, or a piece of a base file.
  *
  * @param base  path and instant of the base file, if there is one
  * @param start of a base file without logs, the range of bytes whose row groups are read: those whose middle lies in it
  * @param end   Long.MaxValue in the last piece
  * @param logs  paths of the log files in log order, with the sizes that they had when they were listed
  * @param bytes to be read
  * @param plan  encoded `ReadPlan`
  */
private[hive] final case class SlicePiece(
    partitionPath: String,
    base: Option[(String, String)],
    start: Long,
    end: Long,
    logs: Vector[(String, Long)],
    bytes: Long,
    plan: Array[Byte]
) {

  /** Names the piece: the base file, or else the first log. */
  def path: String = base.fold(logs.head._1)(_._1)

  def write(out: DataOutput): Unit = {
    Text.writeString(out, partitionPath)
    out.writeBoolean(base.isDefined)
    base.foreach { case (path, instant) =>
      Text.writeString(out, path)
      Text.writeString(out, instant)
    }
    out.writeLong(start)
    out.writeLong(end)
    out.writeInt(logs.size)
    logs.foreach { case (path, size) =>
      Text.writeString(out, path)
      out.writeLong(size)
    }
    out.writeLong(bytes)
    out.writeInt(plan.length)
    out.write(plan)
  }
}

private[hive] object SlicePiece {

  /** Of a split that has not been read yet. */
  val None: SlicePiece = SlicePiece("", Some(("/none", "")), 0L, 0L, Vector.empty, 0L, Array.emptyByteArray)

  def read(in: DataInput): SlicePiece = {
    val partition = Text.readString(in)
    val base = if (in.readBoolean()) Some((Text.readString(in), Text.readString(in))) else scala.None
    val (start, end) = (in.readLong(), in.readLong())
    val logs = Vector.fill(in.readInt())((Text.readString(in), in.readLong()))
    val bytes = in.readLong()
    val plan = new Array[Byte](in.readInt())
    in.readFully(plan)
    SlicePiece(partition, base, start, end, logs, bytes, plan)
  }
}
