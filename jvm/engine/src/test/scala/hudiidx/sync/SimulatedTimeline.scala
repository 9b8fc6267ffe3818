package hudiidx.sync

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.ObjectNode
import hudiidx.storage.Storage

/** A base or log file that a write leaves in a file group, and what the write did to its rows.
  *
  * @param previous instant of the base file that it goes out from
  */
final case class SimulatedWrite(
    partition: String,
    group: String,
    file: SimulatedFile,
    previous: Option[String],
    inserts: Int,
    updates: Int,
    deletes: Int
)

/** Timeline of a table of version 9, as stock Hudi's writers keep it; metadata is JSON, which readers take.
  *
  * @param setup what others do not see the steps of
  */
final class SimulatedTimeline(path: String, setup: Storage) {
  import SimulatedTimeline.Json
  private var clock = 20260101000000000L

  def begin(storage: Storage, action: String, plan: => Array[Byte] = Array.emptyByteArray): String = {
    val instant = atOnce(storage) { time =>
      setup.publish(file(s"$time.$action.requested"), plan)
      time
    }
    storage.publish(file(s"$instant.$action.inflight"), Array.emptyByteArray)
    instant
  }

  /** `and` happens in the same step. */
  def complete(storage: Storage, instant: String, action: String, body: ObjectNode)(and: => Unit): Unit =
    atOnce(storage) { time =>
      setup.publish(file(s"${instant}_$time.$action"), Json.writeValueAsBytes(body))
      and
    }

  /** One step in which a time is taken and used: Hudi's writers take it under a lock, so that no earlier time turns up later. */
  private def atOnce[A](storage: Storage)(use: String => A): A = {
    storage.status(path)
    clock += 1000
    use(clock.toString)
  }

  def forget(storage: Storage, instant: String, action: String): Unit =
    Seq("inflight", "requested").foreach(state => storage.delete(file(s"$instant.$action.$state")))

  private def file(name: String): String = s"$path/.hoodie/timeline/$name"
}

object SimulatedTimeline {
  private val Json = new ObjectMapper

  def commit(write: SimulatedWrite, operation: String): ObjectNode = {
    val body = Json.createObjectNode().put("operationType", operation)
    body
      .putObject("partitionToWriteStats")
      .putArray(write.partition)
      .addObject()
      .put("fileId", write.group)
      .put("path", s"${write.partition}/${write.file.name}")
      .put("prevCommit", write.previous.getOrElse("null"))
      .put("fileSizeInBytes", write.file.sizeBytes)
      .put("numInserts", write.inserts)
      .put("numUpdateWrites", write.updates)
      .put("numDeletes", write.deletes)
    body
  }

  def replacement(write: SimulatedWrite, replaced: Seq[String]): ObjectNode = {
    val body = commit(write, "INSERT_OVERWRITE")
    val groups = body.putObject("partitionToReplaceFileIds").putArray(write.partition)
    replaced.foreach(groups.add(_))
    body
  }

  def rollback(instant: String, partition: String, file: String): ObjectNode = {
    val body = Json.createObjectNode()
    body.putArray("commitsRollback").add(instant)
    body.putObject("partitionMetadata").putObject(partition).putArray("successDeleteFiles").add(file)
    body
  }

  /** Names by partition. */
  def clean(files: Map[String, Seq[String]]): ObjectNode = {
    val body = Json.createObjectNode()
    val partitions = body.putObject("partitionMetadata")
    files.toVector.sortBy(_._1).foreach { case (partition, names) =>
      val cleaned = partitions.putObject(partition).put("isPartitionDeleted", false)
      val patterns = cleaned.putArray("deletePathPatterns")
      names.foreach(patterns.add(_))
    }
    body
  }

  def compactionPlan(group: SimulatedGroup): Array[Byte] = {
    val body = Json.createObjectNode()
    val operation = body
      .putArray("operations")
      .addObject()
      .put("partitionPath", group.partition)
      .put("fileId", group.id)
      .put("baseInstantTime", group.baseInstant)
      .put("dataFilePath", group.base.name)
    val logs = operation.putArray("deltaFilePaths")
    group.logs.foreach(l => logs.add(l.name))
    Json.writeValueAsBytes(body)
  }
}
