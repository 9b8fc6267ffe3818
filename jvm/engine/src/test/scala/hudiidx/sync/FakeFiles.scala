package hudiidx.sync

/** @param group index of a live group to write a new version of, or -1 for a new group */
final case class FakeWrite(partition: String, group: Int, isLog: Boolean, size: Int)

/** Names and content of a [[FakeTable]]'s files. */
private[sync] object FakeFiles {

  def instantOf(baseName: String): String =
    baseName.substring(baseName.lastIndexOf('_') + 1).takeWhile(_ != '.')

  def logVersion(name: String): Int = name.substring(name.indexOf(".log.") + 5).takeWhile(_.isDigit).toInt

  /** A log file of one block without content but with an INSTANT_TIME header, padded to `size` by its header's value. */
  def logBlock(instant: String, size: Int): Array[Byte] = {
    val header = instant.getBytes("UTF-8")
    val padding = math.max(0, size - 105)
    val out = java.nio.ByteBuffer.allocate(6 + 8 + 4 + 4 + 4 + 8 + header.length + 8 + padding + 4 + 8)
    out.put("#HUDI#".getBytes).putLong(out.capacity - 14L).putInt(1).putInt(1)
    out.putInt(1).putInt(0).putInt(header.length).put(header)
    out.putLong(padding.toLong).put(new Array[Byte](padding)).putInt(0).putLong(out.capacity - 8L)
    out.array
  }
}
