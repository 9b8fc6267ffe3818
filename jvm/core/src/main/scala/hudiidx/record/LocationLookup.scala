package hudiidx.record

import hudiidx.RecentlyUsed
import hudiidx.table.{FileGroup, FileSystemView}

/** Base instants of the visible file slices as of an instant: what makes a mapping a location. Reads only the partitions it
  * is asked for and keeps some of them. Safe for several threads.
  *
  *  @param asOf       requested time of the reader's instant; None for the latest
  *  @param mostGroups file groups kept; at least the partition asked last is
  */
final class SliceInstants(view: FileSystemView, asOf: Option[String], mostGroups: Int = SliceInstants.MostGroups) {
  private val partitions = new RecentlyUsed[String, java.util.HashMap[String, String]](mostGroups)(_.size.toLong)

  /** Base instant of the slice that a reader sees of the group; null if it sees none. */
  def apply(group: FileGroup): String = partition(group.partitionPath).get(group.fileId)

  private def partition(path: String): java.util.HashMap[String, String] = partitions.getOrPut(path) {
    val slices = view.latestMergedFileSlices(path, asOf)
    val instants = new java.util.HashMap[String, String](slices.size * 2)
    slices.foreach(s => instants.put(s.fileId, s.baseInstantTime))
    instants
  }
}

object SliceInstants {
  val MostGroups = 200000
}

/** A file group that a reader sees, and since when its slice stands. */
final case class VisibleGroup(partitionPath: String, fileId: String, instantTime: String)

/** Locations of keys: those of key `i` are `places(at)` for `at` from `starts(i)` until `starts(i + 1)`, each an index into
  * `groups`. A key without any is absent.
  */
final class Locations(val starts: Array[Int], val places: Array[Int], val groups: IndexedSeq[VisibleGroup]) {
  def keys: Int = starts.length - 1
  def count(key: Int): Int = starts(key + 1) - starts(key)

  /** The location number `n` of a key. */
  def apply(key: Int, n: Int): VisibleGroup = groups(places(starts(key) + n))

  /** Those in one partition; the others count as absent. */
  def in(partitionPath: String): Locations = {
    val keeps = groups.map(_.partitionPath == partitionPath).toArray
    val kept = new Array[Int](starts.length)
    val in = Array.newBuilder[Int]
    var n = 0
    var k = 0
    while (k < keys) {
      var at = starts(k)
      while (at < starts(k + 1)) {
        if (keeps(places(at))) {
          in += places(at)
          n += 1
        }
        at += 1
      }
      k += 1
      kept(k) = n
    }
    new Locations(kept, in.result(), groups)
  }

  /** As many rows as there are locations, in the order of the keys. */
  def records(asked: PackedKeys): Vector[RecordLocation] = {
    val out = Vector.newBuilder[RecordLocation]
    (0 until keys).foreach { k =>
      lazy val key = asked.key(k)
      (0 until count(k)).foreach { n =>
        val g = apply(k, n)
        out += RecordLocation(key, g.partitionPath, g.fileId, g.instantTime)
      }
    }
    out.result()
  }
}

/** Turns mappings into locations. */
object LocationLookup {

  /** Drops mappings whose file group has no visible slice. Locations of a key stand in the order of ordinals.
    *
    *  @param dictionary of the index that the mappings come from
    *  @param keeps      more to ask of a mapping: its key's place, its place in `found`, and its group
    */
  def locate(
      found: KeyMappings,
      dictionary: FileGroupDictionary,
      instants: SliceInstants,
      keeps: (Int, Int, FileGroup) => Boolean = (_, _, _) => true
  ): Locations = {
    val seen = new java.util.HashMap[Integer, Seen]
    val groups = Vector.newBuilder[VisibleGroup]
    var visible = 0
    val starts = new Array[Int](found.keys + 1)
    val places = new Array[Int](found.ordinals.length)
    var n = 0
    var k = 0
    while (k < found.keys) {
      var at = found.starts(k)
      while (at < found.starts(k + 1)) {
        val ordinal = found.ordinals(at)
        var group = seen.get(ordinal)
        if (group == null) {
          val named = dictionary(ordinal)
          val instant = if (dictionary.isCurrent(ordinal)) instants(named) else null
          group = new Seen(named, if (instant == null) -1 else visible)
          seen.put(ordinal, group)
          if (instant != null) {
            groups += VisibleGroup(named.partitionPath, named.fileId, instant)
            visible += 1
          }
        }
        if (group.place >= 0 && keeps(k, at, group.group)) {
          places(n) = group.place
          n += 1
        }
        at += 1
      }
      k += 1
      starts(k) = n
    }
    new Locations(starts, java.util.Arrays.copyOf(places, n), groups.result())
  }

  private final class Seen(val group: FileGroup, val place: Int)
}
