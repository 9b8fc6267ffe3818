package hudiidx.sync

import hudiidx.record.RecordLocation
import hudiidx.table.FileSlice

/** What files of a simulated table hold. Rows are keys with the instants that wrote them. */
trait SimulatedContents {
  def base(rows: Vector[(String, String)]): Array[Byte]
  def log(instant: String, upserts: Vector[String], deletes: Vector[String]): Array[Byte]
}

object SimulatedContents {

  /** Nothing that can be read, of sizes that differ. */
  val Sized: SimulatedContents = new SimulatedContents {
    override def base(rows: Vector[(String, String)]): Array[Byte] = new Array[Byte](7 + rows.size)
    override def log(instant: String, upserts: Vector[String], deletes: Vector[String]): Array[Byte] =
      new Array[Byte](100 + upserts.size + deletes.size)
  }
}

final case class SimulatedFile(name: String, sizeBytes: Long)

/** A file group's latest slice. */
final case class SimulatedGroup(
    partition: String,
    id: String,
    baseInstant: String,
    base: SimulatedFile,
    logs: Vector[SimulatedFile],
    rows: Vector[(String, String)]
) {
  def files: Vector[SimulatedFile] = base +: logs
  def keys: Vector[String] = rows.map(_._1)
}

/** A file slice as a reader is to see it. */
final case class SliceSeen(id: String, baseInstant: String, base: Option[SimulatedFile], logs: Set[SimulatedFile])

object SliceSeen {
  def of(s: FileSlice): SliceSeen = SliceSeen(
    s.fileId,
    s.baseInstantTime,
    s.baseFile.map(b => SimulatedFile(b.fileName, b.sizeBytes)),
    s.logFiles.map(l => SimulatedFile(l.fileName, l.sizeBytes)).toSet
  )
}

/** What a simulated table is behind a completed write. */
final case class SimulatedTruth(groups: Map[(String, String), SimulatedGroup]) {

  /** In the order of ids. */
  def of(partition: String): Vector[SimulatedGroup] =
    groups.values.filter(_.partition == partition).toVector.sortBy(_.id)

  /** By partition, without those that have none. */
  lazy val slices: Map[String, Set[SliceSeen]] = groups.values
    .groupBy(_.partition)
    .map { case (p, gs) => p -> gs.map(g => SliceSeen(g.id, g.baseInstant, Some(g.base), g.logs.toSet)).toSet }

  lazy val locations: Set[RecordLocation] = groups.values.iterator
    .flatMap(g => g.rows.map(r => RecordLocation(r._1, g.partition, g.id, g.baseInstant)))
    .toSet

  lazy val files: Set[(String, String)] =
    groups.values.iterator.flatMap(g => g.files.map(f => g.partition -> f.name)).toSet
}
