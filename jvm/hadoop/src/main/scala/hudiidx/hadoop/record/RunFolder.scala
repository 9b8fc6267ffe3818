package hudiidx.hadoop.record

import com.fasterxml.jackson.databind.ObjectMapper
import hudiidx.DamagedIndex
import hudiidx.record._
import hudiidx.storage.{RandomReader, Storage}
import hudiidx.store.{IndexFile, IndexStore}
import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import org.slf4j.LoggerFactory

/** What a creation has decided before it reads keys: a later try that finds it goes on with it, so that the runs which are
  * there still fit. docs/format.md, "Record build folder".
  *
  *  @param groups   hash groups
  *  @param segments the dictionary so far, by its files in the index folder
  */
final case class BuildPlan(mode: String, windowDays: Option[Int], groups: Int, segments: Vector[IndexFile])

/** A run file that is whole, and the inputs that it completes. */
final case class FinishedRun(name: String, inputs: Vector[String], previous: Vector[String])

/** A folder of run files. That of a record index in the making (`RunFolder.ofBuild`) has a plan as well; it stays when a
  * creation is killed, and goes when the index is published.
  */
final class RunFolder(storage: Storage, val path: String) {
  private val log = LoggerFactory.getLogger(classOf[RunFolder])

  private def planPath: String = Storage.join(path, RunFolder.Plan)

  /** The plan of a creation that did not end; None if there is none that is whole. */
  def plan(): Option[BuildPlan] =
    try RunFolder.decode(storage.readAll(planPath))
    catch {
      case e @ (_: IOException | _: RuntimeException) =>
        log.debug(s"$planPath: no plan to go on with: $e")
        None
    }

  def writePlan(plan: BuildPlan): Unit = {
    storage.delete(planPath)
    storage.write(planPath)(_.write(RunFolder.encode(plan)))
  }

  /** Run files that are whole and were made for these hash groups. */
  def finished(ranges: Vector[HashRange]): Vector[FinishedRun] =
    storage.list(path).map(_.name).filter(_.endsWith(RunFolder.Suffix)).flatMap { name =>
      try
        reading(name) { reader =>
          val run = RunFile.open(reader)
          if (run.ranges == ranges) Some(FinishedRun(name, run.inputs, run.previous)) else None
        }
      catch {
        case e @ (_: DamagedIndex | _: IOException) =>
          log.debug(s"$path/$name: not whole, its inputs are read again: $e")
          None
      }
    }

  private def reading[A](name: String)(use: RandomReader => A): A = {
    val reader = storage.open(Storage.join(path, name))
    try use(reader)
    finally reader.close()
  }

  def open(name: String): RandomReader = storage.open(Storage.join(path, name))

  def write(run: SortedRun, task: String, inputs: Vector[String], previous: Vector[String]): String = {
    val name = RecordFileName.run(task, IndexStore.newToken())
    storage.write(Storage.join(path, name))(run.write(_, inputs, previous))
    name
  }

  def clear(): Unit = storage.delete(path): Unit
}

object RunFolder {

  /** The folder of a creation, below the index folder. */
  def ofBuild(store: IndexStore): RunFolder = new RunFolder(store.storage, Storage.join(store.dir, Name))

  private val Name = "record-build"
  private val Plan = "plan.json"
  private val Suffix = ".record_run"
  private val FormatVersion = 1
  private val json = new ObjectMapper

  private[record] def encode(plan: BuildPlan): Array[Byte] = {
    val root = json.createObjectNode()
    root.put("format", FormatVersion).put("mode", plan.mode).put("groups", plan.groups)
    plan.windowDays.foreach(d => root.put("window_days", d))
    val segments = root.putArray("segments")
    plan.segments.foreach(s => segments.addObject().put("name", s.name).put("size", s.sizeBytes))
    json.writeValueAsString(root).getBytes(UTF_8)
  }

  /** None for a plan of another format. */
  private[record] def decode(bytes: Array[Byte]): Option[BuildPlan] = {
    val root = json.readTree(bytes)
    if (root.path("format").asInt(0) != FormatVersion) None
    else {
      val segments = root.path("segments")
      Some(
        BuildPlan(
          root.path("mode").asText,
          if (root.has("window_days")) Some(root.path("window_days").asInt) else None,
          root.path("groups").asInt,
          Vector.tabulate(segments.size) { i =>
            val s = segments.get(i)
            IndexFile(s.path("name").asText, RecordKind.Groups, s.path("size").asLong)
          }
        )
      )
    }
  }
}
