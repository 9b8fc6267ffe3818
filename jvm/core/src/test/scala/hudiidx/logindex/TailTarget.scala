package hudiidx.logindex

import hudiidx.fuzz.FuzzTarget
import hudiidx.storage.BytesReader

/** An index tail: the last bytes of a block's content. */
object TailTarget extends FuzzTarget {
  override def seeds: Vector[Array[Byte]] = Vector(Array.fill[Byte](80)(1))

  override protected def read(bytes: Array[Byte]): Unit = {
    val reader = new BytesReader("f", bytes)
    TailReader.read(reader, 0L, bytes.length.toLong).foreach { tail =>
      tail.pages(reader)
      tail.filters.filter(_.offset >= 0).foreach { filter =>
        TailReader.members(reader, filter)
        TailReader.entries(reader, filter)
      }
    }
  }
}
