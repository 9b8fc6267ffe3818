package hudiidx.timeline

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8

import hudiidx.storage.RandomReader

/** Finds where log blocks may begin. What it read last stays, so that bytes with many magics are not read for each of them. */
private[timeline] final class ArchiveWindow(reader: RandomReader) {
  import ArchiveWindow._
  private var from = 0L
  private var held = ByteBuffer.allocate(0)

  val sizeBytes: Long = reader.sizeBytes

  def hasMagic(at: Long): Boolean = {
    val bytes = hold(at, FrameBytes, FrameBytes)
    isMagic(bytes, (at - from).toInt)
  }

  /** The number at an offset; the window stays where it is. */
  def long(at: Long): Long =
    if (holds(at, 8)) held.getLong((at - from).toInt) else reader.read(at, 8).getLong()

  /** Offset of the next magic at or behind `start`; the file's size if there is none. */
  def nextMagic(start: Long): Long = {
    var at = start
    var found = -1L
    while (found < 0 && at + Magic.length <= sizeBytes) {
      val bytes = hold(at, math.min(FrameBytes.toLong, sizeBytes - at).toInt, ScanBytes)
      var i = (at - from).toInt
      while (found < 0 && i + Magic.length <= bytes.limit()) {
        if (isMagic(bytes, i)) found = from + i
        i += 1
      }
      at = from + i
    }
    if (found < 0) sizeBytes else found
  }

  private def isMagic(bytes: ByteBuffer, at: Int): Boolean = Magic.indices.forall(k => bytes.get(at + k) == Magic(k))

  private def holds(at: Long, length: Int): Boolean = at >= from && at + length <= from + held.limit()

  /** The window with `length` bytes at an offset, which the file has; it is moved there, as long as `ahead`, if it lacks them. */
  private def hold(at: Long, length: Int, ahead: Int): ByteBuffer = {
    if (!holds(at, length)) {
      held = reader.read(at, math.min(ahead.toLong, sizeBytes - at).toInt)
      from = at
    }
    held
  }
}

private[timeline] object ArchiveWindow {
  val Magic: Array[Byte] = "#HUDI#".getBytes(UTF_8)

  /** Magic and size. */
  val FrameBytes = 14
  private val ScanBytes = 1 << 20
}
