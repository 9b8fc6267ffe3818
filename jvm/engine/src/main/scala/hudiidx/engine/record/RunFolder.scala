package hudiidx.engine.record

import com.fasterxml.jackson.databind.ObjectMapper
import hudiidx.{DamagedIndex, Log}
import hudiidx.record._
import hudiidx.storage.{FileInfo, RandomReader, Storage}
import hudiidx.store.{IndexFile, IndexNames, IndexStore, IndexVersion}
import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8

/** What a creation has decided before it reads keys: a later try that finds it goes on with it, so that the runs which are
  * there still fit. docs/format.md, "Work folders".
  *
  *  @param settings what the record index is made with
  *  @param groups   hash groups
  *  @param segments the dictionary so far, by its files in the index folder
  */
final case class BuildPlan(settings: RecordSettings, groups: Int, segments: Vector[IndexFile])

/** A run file that is whole, and the inputs that it completes.
  *
  *  @param previous names of those written before it that hold the beginning of its inputs
  */
final case class FinishedRun(file: IndexFile, inputs: Vector[String], previous: Vector[String]) {
  def name: String = file.name
}

/** A folder of run files. That of a record index in the making (`RunFolder.ofBuild`) has plans as well; it stays when a
  * creation is killed, and goes when the index is published. Creations at the same time share it: what is in it is true for
  * whoever finds it.
  */
final class RunFolder(storage: Storage, val path: String) {
  private val log = Log.of(classOf[RunFolder])
  private val files = new IndexStore(storage, path)

  /** The plan with most of the dictionary among those that are whole and of use, and its name. Of several the last, whose
    * dictionary is cleaned last.
    */
  def plan(serves: BuildPlan => Boolean): Option[(String, BuildPlan)] =
    listed(RunFolder.PlanSuffix)
      .sortBy(f => (-f.modifiedMillis, f.name))
      .flatMap(f => read(f.name).filter(serves).map(f.name -> _))
      .sortBy { case (_, plan) => -plan.segments.size }
      .headOption

  private def read(name: String): Option[BuildPlan] =
    try BuildPlanJson.decode(storage.readAll(Storage.join(path, name)))
    catch {
      case e @ (_: IOException | _: RuntimeException) =>
        log.warn(s"$path/$name: no plan to go on with: $e")
        None
    }

  /** The name that the plan was given. */
  def writePlan(plan: BuildPlan): String = files
    .writeScratch(IndexStore.newToken() + RunFolder.PlanSuffix, "record_plan")(_.write(BuildPlanJson.encode(plan)))
    .name

  /** Run files that are whole and were made for these hash groups. */
  def finished(ranges: Vector[HashRange]): Vector[FinishedRun] =
    listed(RunFolder.RunSuffix).map(f => IndexFile(f.name, RecordKind.Run, f.sizeBytes)).flatMap { file =>
      try
        reading(file) { reader =>
          val run = RunFile.open(reader)
          if (run.ranges == ranges) Some(FinishedRun(file, run.inputs, run.previous)) else None
        }
      catch {
        case e @ (_: DamagedIndex | _: IOException) =>
          log.warn(s"$path/${file.name}: not whole, its inputs are read again: $e")
          None
      }
    }

  /** False if one of these files is gone. */
  def has(wanted: Set[String]): Boolean = wanted.subsetOf(storage.list(path).map(_.name).toSet)

  /** Reads run files through and removes those that are damaged: how many there were. */
  def removeDamaged(runs: Vector[IndexFile]): Int = runs.count { file =>
    val isWhole =
      try reading(file)(reader => RunFolder.readThrough(RunFile.open(reader)))
      catch {
        case e: DamagedIndex =>
          log.warn(s"$path/${file.name}: removed, its inputs are read again: ${e.getMessage}")
          false
        case _: IOException => true
      }
    if (!isWhole) remove(file.name)
    !isWhole
  }

  private def listed(suffix: String): Vector[FileInfo] =
    storage.list(path).filter(f => f.name.endsWith(suffix) && IndexNames.isFile(f.name))

  private def reading[A](file: IndexFile)(use: RandomReader => A): A = {
    val reader = open(file)
    try use(reader)
    finally reader.close()
  }

  def open(file: IndexFile): RandomReader = files.openScratch(file)

  def write(run: SortedRun, task: String, inputs: Vector[String], previous: Vector[String]): IndexFile =
    files.writeScratch(RecordFileName.run(task, IndexStore.newToken()), RecordKind.Run)(run.write(_, inputs, previous))

  def remove(name: String): Unit = files.remove(name)
}

object RunFolder {

  /** The folder of a creation, below the index folder. */
  def ofBuild(store: IndexStore): RunFolder =
    new RunFolder(store.storage, store.workFolder(IndexNames.RecordBuild))

  private val PlanSuffix = ".plan.json"
  private val RunSuffix = ".record_run"

  private def readThrough(run: RunReader): Boolean = {
    run.ranges.indices.foreach { group =>
      val entries = run.section(group)
      while (entries.next()) ()
    }
    true
  }
}

/** The bytes of a plan. docs/format.md, "Work folders". */
private[record] object BuildPlanJson {
  private val FormatVersion = 1
  private val json = new ObjectMapper

  def encode(plan: BuildPlan): Array[Byte] = {
    val root = json.createObjectNode().put("format", FormatVersion)
    val properties = root.putObject("properties")
    plan.settings.properties.toVector.sorted.foreach { case (name, value) => properties.put(name, value) }
    root.put("groups", plan.groups)
    val segments = root.putArray("segments")
    plan.segments.foreach(s => segments.addObject().put("name", s.name).put("size", s.sizeBytes))
    json.writeValueAsString(root).getBytes(UTF_8)
  }

  /** None for a plan of another format. */
  def decode(bytes: Array[Byte]): Option[BuildPlan] = {
    val root = json.readTree(bytes)
    if (root.path("format").asInt(0) != FormatVersion) None
    else {
      val properties = Map.newBuilder[String, String]
      root.path("properties").properties.forEach(p => properties += p.getKey -> p.getValue.asText: Unit)
      val segments = root.path("segments")
      Some(
        BuildPlan(
          RecordSettings.of(properties.result()),
          IndexVersion.count(root, "groups", HashRange.MaxGroups.toLong).toInt,
          Vector.tabulate(segments.size) { i =>
            val s = segments.get(i)
            val name = s.path("name").asText
            require(!Storage.leaves(name), s"segment $name is outside the index folder")
            IndexFile(name, RecordKind.Groups, IndexVersion.count(s, "size"))
          }
        )
      )
    }
  }
}
