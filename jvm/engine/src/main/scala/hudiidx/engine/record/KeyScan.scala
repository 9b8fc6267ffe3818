package hudiidx.engine.record

import java.nio.ByteBuffer

import hudiidx.record.{Locations, PackedKeys, VisibleGroup}
import hudiidx.sync.{TableAccess, TaskEngine}
import hudiidx.table.FileSlice

/** Where a scan found a key: its place among the keys asked for, and the place of the slice. */
private[record] final case class ScannedKey(key: Int, slice: Int)

/** Finds keys in file slices by reading their key columns: what stands in where the index cannot tell. */
private[record] object KeyScan {

  /** File slices of at most so many bytes are read in this process. */
  val LocalBytes: Long = 32L << 20

  /** In the order of slices; a key once for each slice. */
  def find(engine: TaskEngine, table: RecordTable, slices: Vector[FileSlice], keys: PackedKeys): Vector[ScannedKey] =
    if (slices.isEmpty || keys.count == 0) Vector.empty
    else {
      val shares = Shares.ofBytes(slices.zipWithIndex, engine.parallelism)(s => SliceInput.bytes(s._1))
      engine.run(s"look for ${keys.count} keys in ${slices.size} file slices", shares)(scan(table, keys)).flatten
    }

  private def scan(
      table: RecordTable,
      keys: PackedKeys
  ): (TableAccess, Vector[(FileSlice, Int)]) => Vector[ScannedKey] = { (access, share) =>
    val places = placesOf(keys)
    val reader = table.sliceKeys(access)
    val found = Vector.newBuilder[ScannedKey]
    share.foreach { case (slice, place) =>
      val seen = new java.util.BitSet
      reader.live(slice)(new KeySink {
        override def add(bytes: Array[Byte], from: Int, length: Int, day: Int, mayBeDeleted: Boolean): Unit =
          if (table.isInWindow(day)) {
            val at = places.get(ByteBuffer.wrap(bytes, from, length))
            if (at != null) at.foreach(seen.set(_))
          }
        override def remove(bytes: Array[Byte], from: Int, length: Int): Unit = ()
      })
      seen.stream.forEach(k => found += ScannedKey(k, place): Unit)
    }
    found.result()
  }

  /** Places of each key; a key may be asked for twice. */
  private def placesOf(keys: PackedKeys): java.util.HashMap[ByteBuffer, Vector[Int]] = {
    val places = new java.util.HashMap[ByteBuffer, Vector[Int]](keys.count * 2)
    (0 until keys.count).foreach { i =>
      val key = ByteBuffer.wrap(keys.bytes, keys.from(i), keys.length(i)).slice()
      places.merge(key, Vector(i), (a, b) => a ++ b)
    }
    places
  }
}

/** Puts together what the index and a scan of files found. */
private[record] object LookupMerge {

  def merge(
      keys: Int,
      indexed: Option[Locations],
      scanned: Vector[ScannedKey],
      slices: Vector[FileSlice]
  ): Locations = {
    val known = indexed.fold(Vector.empty[VisibleGroup])(_.groups.toVector)
    val groups = known ++ slices.map(s => VisibleGroup(s.partitionPath, s.fileId, s.baseInstantTime))
    val byKey = scanned.groupBy(_.key)
    val starts = new Array[Int](keys + 1)
    val places = Array.newBuilder[Int]
    (0 until keys).foreach { k =>
      indexed.foreach(l => (l.starts(k) until l.starts(k + 1)).foreach(at => places += l.places(at)))
      val more = byKey.getOrElse(k, Vector.empty)
      more.foreach(s => places += known.size + s.slice)
      starts(k + 1) = starts(k) + more.size + indexed.fold(0)(_.count(k))
    }
    new Locations(starts, places.result(), groups)
  }
}
