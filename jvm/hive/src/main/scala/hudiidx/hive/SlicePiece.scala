package hudiidx.hive

import java.io.{ByteArrayOutputStream, DataInput, DataOutput, IOException}

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
    val partition = text(in)
    val base = if (in.readBoolean()) Some((text(in), text(in))) else scala.None
    val (start, end) = (in.readLong(), in.readLong())
    val logs = Vector.fill(count(in))((text(in), in.readLong()))
    val bytes = in.readLong()
    SlicePiece(partition, base, start, end, logs, bytes, read(in, count(in)))
  }

  private def text(in: DataInput): String = Text.readString(in, MostText)

  /** Bytes of a path. */
  private val MostText = 1 << 16

  private def count(in: DataInput): Int = {
    val n = in.readInt()
    if (n < 0) throw new IOException(s"invalid count $n: these bytes are not a split")
    n
  }

  /** Piece by piece: memory is taken for what is there alone. */
  private def read(in: DataInput, size: Int): Array[Byte] = {
    val out = new ByteArrayOutputStream
    while (out.size < size) {
      val some = new Array[Byte](math.min(size - out.size, 1 << 16))
      in.readFully(some)
      out.write(some)
    }
    out.toByteArray
  }
}
