package hudiidx.record

import hudiidx.DamagedIndex
import hudiidx.bytes.PackedInput
import hudiidx.fuzz.FuzzTarget

/** A page of the dictionary of file groups. */
object RecordTarget extends FuzzTarget {
  override def seeds: Vector[Array[Byte]] = Vector(Array[Byte](1, 1, 0, 1, 0, 0, 0))

  override protected def read(bytes: Array[Byte]): Unit =
    try GroupPage.decode(new PackedInput(bytes)): Unit
    catch { // as its documentation has it; who reads it makes them DamagedIndex
      case e @ (_: IllegalArgumentException | _: IndexOutOfBoundsException) => throw new DamagedIndex(e.getMessage, e)
    }
}
