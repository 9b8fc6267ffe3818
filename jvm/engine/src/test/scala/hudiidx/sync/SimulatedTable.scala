package hudiidx.sync

import hudiidx.storage.Storage
import java.util.UUID
import scala.collection.mutable
import scala.util.Random

/** A table of version 9 that writers of their own partitions write by turns with others, and a cleaner cleans. What its latest
  * file slices and its keys are is known behind each write that completes.
  */
final class SimulatedTable(random: Random, setup: Storage, contents: SimulatedContents) {
  import SimulatedTable._

  val path = "/table"
  private val timeline = new SimulatedTimeline(path, setup)

  /** One for each completed write. */
  val truths: mutable.ArrayBuffer[SimulatedTruth] = mutable.ArrayBuffer(SimulatedTruth(Map.empty))

  /** Partition and name of files that are no reader's any more, and the place of the first truth without them. */
  private val dead = mutable.ArrayBuffer.empty[((String, String), Int)]

  /** Places of the truths that were the newest as each of those that are at work with the table began. */
  private val began = mutable.ArrayBuffer.empty[Int]

  setup.publish(s"$path/.hoodie/hoodie.properties", Properties.getBytes("UTF-8")): Unit

  /** Hudi keeps files for as long as readers may need them, so cleaning takes none that somebody may who is at work.
    *
    * @param work is told the place of the newest truth
    */
  def using[A](work: Int => A): A = {
    val newest = truths.size - 1
    began += newest
    try work(newest)
    finally began -= newest
  }

  /** Files that completed writes have left and cleaning has not taken. */
  def fileCount: Int = truths.last.files.size + dead.size

  /** One write of a partition, or a compaction; some writes fail and are rolled back. */
  def write(storage: Storage, partition: String): Unit = {
    val groups = truths.last.of(partition)
    def some = groups(random.nextInt(groups.size))
    random.nextInt(10) match {
      case 0                        => failed(storage, partition, groups)
      case 1 if groups.nonEmpty     => replaced(storage, partition, groups)
      case 2 | 3 if groups.nonEmpty => groups.find(_.logs.nonEmpty).fold(changed(storage, some))(compacted(storage, _))
      case 4 | 5 | 6 | 7 if groups.nonEmpty => changed(storage, some)
      case _                                => added(storage, partition)
    }
  }

  private def added(storage: Storage, partition: String): Unit = {
    val instant = timeline.begin(storage, "deltacommit")
    val group = newGroup(storage, partition, instant)
    timeline.complete(storage, instant, "deltacommit", SimulatedTimeline.commit(firstOf(group), "UPSERT"))(
      became(_ + at(group))
    )
  }

  /** All that the partition had gives way to one file. */
  private def replaced(storage: Storage, partition: String, groups: Vector[SimulatedGroup]): Unit = {
    val instant = timeline.begin(storage, "replacecommit")
    val group = newGroup(storage, partition, instant)
    val body = SimulatedTimeline.replacement(firstOf(group), groups.map(_.id))
    timeline.complete(storage, instant, "replacecommit", body)(became(_ -- groups.map(g => at(g)._1) + at(group)))
  }

  /** Some rows of a group are inserted, updated and deleted, by a log file or a new base file. */
  private def changed(storage: Storage, old: SimulatedGroup): Unit = {
    val instant = timeline.begin(storage, "deltacommit")
    val (inserts, rest) = (someKeys().filterNot(old.keys.contains), random.shuffle(old.keys))
    val (deletes, others) = rest.splitAt(if (random.nextBoolean()) 0 else random.nextInt(2))
    val upserts = inserts ++ others.take(random.nextInt(2))
    val rows =
      old.rows.filterNot(r => deletes.contains(r._1) || upserts.contains(r._1)) ++ upserts.map(_ -> instant)
    val group =
      if (old.logs.isEmpty && random.nextBoolean()) based(storage, old.partition, old.id, instant, rows)
      else {
        val name = s".${old.id}_$instant.log.1_0-1-2"
        val file = data(storage, old.partition, name, instant, contents.log(instant, upserts, deletes))
        old.copy(logs = old.logs :+ file, rows = rows)
      }
    val write = firstOf(group).copy(
      file = group.files.last,
      previous = Some(old.baseInstant),
      inserts = inserts.size,
      updates = upserts.size - inserts.size,
      deletes = deletes.size
    )
    timeline.complete(storage, instant, "deltacommit", SimulatedTimeline.commit(write, "UPSERT"))(
      became(_ + at(group))
    )
  }

  /** Logs of a group go into a new base file; sometimes another log file comes between, and sometimes the group's replacement. */
  private def compacted(storage: Storage, planned: SimulatedGroup): Unit = {
    val instant = timeline.begin(storage, "compaction", SimulatedTimeline.compactionPlan(planned))
    random.nextInt(6) match {
      case 0               => replaced(storage, planned.partition, truths.last.of(planned.partition))
      case n if n % 2 == 1 => changed(storage, planned)
      case _               => ()
    }
    val base = based(storage, planned.partition, planned.id, instant, planned.rows)
    val write = firstOf(base).copy(previous = Some(planned.baseInstant), inserts = 0, updates = 1)
    timeline.complete(storage, instant, "commit", SimulatedTimeline.commit(write, "COMPACT")) {
      truths.last.groups.get(at(planned)._1) match {
        case Some(now) =>
          became(_ + at(base.copy(logs = now.logs.drop(planned.logs.size), rows = now.rows)))
        case None =>
          dead += (planned.partition -> base.base.name) -> (truths.size - 1)
          became(identity)
      }
    }
  }

  private def failed(storage: Storage, partition: String, groups: Vector[SimulatedGroup]): Unit = {
    val instant = timeline.begin(storage, "deltacommit")
    val name = groups.headOption
      .filter(_ => random.nextBoolean())
      .fold(s"${newId()}_0-1-2_$instant.parquet")(g => s".${g.id}_$instant.log.1_0-1-2")
    data(storage, partition, name, instant, new Array[Byte](3))
    val rollback = timeline.begin(storage, "rollback")
    storage.delete(s"$path/$partition/$name")
    timeline.forget(storage, instant, "deltacommit")
    val body = SimulatedTimeline.rollback(instant, partition, s"$path/$partition/$name")
    timeline.complete(storage, rollback, "rollback", body)(())
  }

  /** Removes what nobody can need any more. */
  def clean(storage: Storage): Unit = {
    var gone = Vector.empty[(String, String)]
    val instant = timeline.begin(
      storage,
      "clean", {
        val oldest = (began :+ (truths.size - 1)).min
        gone = dead.collect { case (file, since) if since <= oldest => file }.toVector
        Array.emptyByteArray
      }
    )
    gone.foreach { case (partition, name) => storage.delete(s"$path/$partition/$name") }
    val byPartition = gone.groupBy(_._1).map { case (p, files) => p -> files.map(_._2) }
    timeline.complete(storage, instant, "clean", SimulatedTimeline.clean(byPartition)) {
      dead --= dead.filter(d => gone.contains(d._1))
    }
  }

  private def became(change: Groups => Groups): Unit = {
    val before = truths.last
    truths += SimulatedTruth(change(before.groups))
    (before.files -- truths.last.files).toVector.sorted.foreach(file => dead += file -> (truths.size - 1))
  }

  private def at(group: SimulatedGroup): ((String, String), SimulatedGroup) = (group.partition, group.id) -> group

  private def firstOf(group: SimulatedGroup): SimulatedWrite =
    SimulatedWrite(group.partition, group.id, group.base, None, group.rows.size, 0, 0)

  private def newGroup(storage: Storage, partition: String, instant: String): SimulatedGroup =
    based(storage, partition, newId(), instant, someKeys().map(_ -> instant))

  private def newId(): String = new UUID(random.nextLong(), random.nextLong()).toString + "-0"

  private def someKeys(): Vector[String] = Vector.fill(1 + random.nextInt(2))(Keys(random.nextInt(Keys.size))).distinct

  private def based(
      storage: Storage,
      partition: String,
      id: String,
      instant: String,
      rows: Vector[(String, String)]
  ): SimulatedGroup = {
    val file = data(storage, partition, s"${id}_0-1-2_$instant.parquet", instant, contents.base(rows))
    SimulatedGroup(partition, id, instant, file, Vector.empty, rows)
  }

  private def data(
      storage: Storage,
      partition: String,
      name: String,
      instant: String,
      content: Array[Byte]
  ): SimulatedFile = {
    val meta = s"commitTime=$instant\npartitionDepth=1\n"
    storage.publish(s"$path/$partition/.hoodie_partition_metadata", meta.getBytes("UTF-8"))
    storage.publish(s"$path/$partition/$name", content)
    SimulatedFile(name, content.length.toLong)
  }
}

object SimulatedTable {
  private type Groups = Map[(String, String), SimulatedGroup]

  /** All that a row of the table may have. */
  val Keys: Vector[String] = (1 to 9).toVector.map(n => if (n % 3 == 0) s"key $n" else n.toString)

  private val Properties = """hoodie.table.name=simulated
    |hoodie.table.type=MERGE_ON_READ
    |hoodie.table.version=9
    |hoodie.timeline.layout.version=2
    |hoodie.table.timeline.timezone=UTC
    |hoodie.table.partition.fields=p
    |hoodie.table.recordkey.fields=id
    |hoodie.record.merge.mode=COMMIT_TIME_ORDERING
    |""".stripMargin
}
