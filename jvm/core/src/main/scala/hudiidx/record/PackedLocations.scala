package hudiidx.record

import java.io.ByteArrayOutputStream
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.{ByteBuffer, ByteOrder}

/** Locations in one array of bytes, for callers to whom an object a location is too dear. docs/format.md, "Packed keys and
  * locations": all integers int32, little-endian; days of the index's
  * window (0: none), number of keys, of locations and of groups; for each key its number of
  * locations; for each location its group; then three texts for each group (partition path, file id, instant time), as their
  * lengths in bytes and behind all lengths their UTF-8. At the end what is to be told of the lookup: numbers as int64 behind
  * their count, and a text behind its length.
  */
object PackedLocations {

  /** @param windowDays of the index: a key without a location may then be outside the window
    * @param counts     of the lookup
    * @param note       of the lookup
    */
  def encode(
      locations: Locations,
      windowDays: Option[Int] = None,
      counts: Seq[Long] = Vector.empty,
      note: String = ""
  ): Array[Byte] = {
    val noteBytes = note.getBytes(UTF_8)
    val texts = new ByteArrayOutputStream
    val lengths = locations.groups.flatMap { g =>
      Vector(g.partitionPath, g.fileId, g.instantTime).map { t =>
        val bytes = t.getBytes(UTF_8)
        texts.writeBytes(bytes)
        bytes.length
      }
    }
    val ints = 6 + locations.keys + locations.places.length + lengths.size + 2 * counts.size
    val bytes = Math.addExact(Math.multiplyExact(4, ints), texts.size + noteBytes.length)
    val out = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN)
    out
      .putInt(windowDays.getOrElse(0))
      .putInt(locations.keys)
      .putInt(locations.places.length)
      .putInt(locations.groups.size)
    var k = 0
    while (k < locations.keys) {
      out.putInt(locations.count(k))
      k += 1
    }
    locations.places.foreach(p => out.putInt(p))
    lengths.foreach(l => out.putInt(l))
    out.put(texts.toByteArray).putInt(counts.size)
    counts.foreach(c => out.putLong(c))
    out.putInt(noteBytes.length).put(noteBytes).array
  }

  /** The locations that `encode` wrote; IllegalArgumentException for anything else. */
  def decode(packed: Array[Byte]): Locations = {
    val in = ByteBuffer.wrap(packed).order(ByteOrder.LITTLE_ENDIAN)
    def size(): Int = {
      require(in.remaining >= 4, s"${packed.length} bytes end in the counts")
      val n = in.getInt()
      require(n >= 0 && n <= packed.length, s"count $n")
      n
    }
    size() // the window says nothing of locations
    val (keys, places, groups) = (size(), size(), size())
    require(4L * (keys + places) + 12L * groups <= in.remaining, s"${packed.length} bytes for $keys, $places, $groups")
    val starts = new Array[Int](keys + 1)
    (0 until keys).foreach(k => starts(k + 1) = starts(k) + in.getInt())
    require(starts(keys) == places, s"keys have ${starts(keys)} locations of $places")
    val at = Array.fill(places)(in.getInt())
    require(at.forall(p => p >= 0 && p < groups), s"a location is in none of $groups groups")
    val lengths = Array.fill(3 * groups)(in.getInt())
    def text(i: Int): String = {
      require(lengths(i) >= 0 && lengths(i) <= in.remaining, s"text $i of ${lengths(i)} bytes")
      val bytes = new Array[Byte](lengths(i))
      in.get(bytes)
      new String(bytes, UTF_8)
    }
    val named = Vector.tabulate(groups)(g => VisibleGroup(text(3 * g), text(3 * g + 1), text(3 * g + 2)))
    val counts = size()
    require(8L * counts <= in.remaining, s"$counts counts in ${in.remaining} bytes")
    in.position(in.position() + 8 * counts)
    require(size() == in.remaining, s"${in.remaining} bytes at the end")
    new Locations(starts, at, named)
  }
}
