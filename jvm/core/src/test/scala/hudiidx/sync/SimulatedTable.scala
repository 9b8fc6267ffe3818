package hudiidx.sync

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.ObjectNode
import hudiidx.storage.Storage
import java.util.UUID
import scala.collection.mutable
import scala.util.Random

/** A table of version 9 that writers of their own partitions write by turns with others. What its latest base files are is known
  * behind each write that completes.
  */
final class SimulatedTable(random: Random, setup: Storage) {
  val path = "/table"
  private val json = new ObjectMapper()
  private var clock = 20260101000000000L

  /** Partition -> names of the latest base files, without partitions that have none; one map for each completed write. */
  val truths: mutable.ArrayBuffer[Map[String, Set[String]]] = mutable.ArrayBuffer(Map.empty)

  setup.publish(
    s"$path/.hoodie/hoodie.properties",
    """hoodie.table.name=simulated
      |hoodie.table.type=MERGE_ON_READ
      |hoodie.table.version=9
      |hoodie.timeline.layout.version=2
      |hoodie.table.partition.fields=p
      |""".stripMargin.getBytes("UTF-8")
  ): Unit

  private def tick(): String = {
    clock += 1000
    clock.toString
  }

  /** Adds a base file to a partition, or puts one in the place of another; some writes fail and are rolled back. */
  def write(storage: Storage, partition: String): Unit = random.nextInt(10) match {
    case 0                                       => failed(storage, partition)
    case 1 | 2 if latest(partition).nonEmpty     => replaced(storage, partition)
    case 3 | 4 | 5 if latest(partition).nonEmpty =>
      val before = latest(partition).toVector.sorted.apply(random.nextInt(latest(partition).size))
      completed(storage, partition, before.takeWhile(_ != '_'), Set(before))
    case _ => completed(storage, partition, new UUID(random.nextLong(), random.nextLong()).toString + "-0", Set.empty)
  }

  private def latest(partition: String): Set[String] = truths.last.getOrElse(partition, Set.empty)

  private def completed(storage: Storage, partition: String, group: String, gone: Set[String]): Unit = {
    val instant = begin(storage, "deltacommit")
    val name = data(storage, partition, group, instant)
    complete(storage, instant, "deltacommit", commit(partition, name))
    truths += truths.last.updated(partition, latest(partition) -- gone + name)
  }

  /** All that the partition had gives way to one file. */
  private def replaced(storage: Storage, partition: String): Unit = {
    val instant = begin(storage, "replacecommit")
    val name = data(storage, partition, new UUID(random.nextLong(), random.nextLong()).toString + "-0", instant)
    val body = commit(partition, name)
    val groups = body.putObject("partitionToReplaceFileIds").putArray(partition)
    latest(partition).foreach(n => groups.add(n.takeWhile(_ != '_')))
    complete(storage, instant, "replacecommit", body)
    truths += truths.last.updated(partition, Set(name))
  }

  private def failed(storage: Storage, partition: String): Unit = {
    val instant = begin(storage, "deltacommit")
    val name = data(storage, partition, new UUID(random.nextLong(), random.nextLong()).toString + "-0", instant)
    val rollback = begin(storage, "rollback")
    storage.delete(s"$path/$partition/$name")
    Seq("inflight", "requested").foreach(state => storage.delete(timeline(s"$instant.deltacommit.$state")))
    val body = json.createObjectNode()
    body.putArray("commitsRollback").add(instant)
    body
      .putObject("partitionMetadata")
      .putObject(partition)
      .putArray("successDeleteFiles")
      .add(s"$path/$partition/$name")
    complete(storage, rollback, "rollback", body)
  }

  private def begin(storage: Storage, action: String): String = {
    val instant = atOnce(storage) { time =>
      setup.publish(timeline(s"$time.$action.requested"), Array.empty)
      time
    }
    storage.publish(timeline(s"$instant.$action.inflight"), Array.empty)
    instant
  }

  /** One step in which a time is taken and used: Hudi's writers take it under a lock, so that no earlier time turns up later. */
  private def atOnce[A](storage: Storage)(use: String => A): A = {
    storage.status(path)
    use(tick())
  }

  private def data(storage: Storage, partition: String, group: String, instant: String): String = {
    storage.publish(
      s"$path/$partition/.hoodie_partition_metadata",
      s"commitTime=$instant\npartitionDepth=1\n".getBytes("UTF-8")
    )
    val name = s"${group}_0-1-2_$instant.parquet"
    storage.publish(s"$path/$partition/$name", new Array[Byte](SimulatedTable.FileBytes))
    name
  }

  private def commit(partition: String, name: String): ObjectNode = {
    val body = json.createObjectNode()
    body
      .putObject("partitionToWriteStats")
      .putArray(partition)
      .addObject()
      .put("fileId", name.takeWhile(_ != '_'))
      .put("path", s"$partition/$name")
      .put("fileSizeInBytes", SimulatedTable.FileBytes)
      .put("numInserts", 1)
    body
  }

  private def complete(storage: Storage, instant: String, action: String, body: ObjectNode): Unit =
    atOnce(storage)(t => setup.publish(timeline(s"${instant}_$t.$action"), json.writeValueAsBytes(body))): Unit

  private def timeline(name: String): String = s"$path/.hoodie/timeline/$name"
}

object SimulatedTable {
  private val FileBytes = 7
}
