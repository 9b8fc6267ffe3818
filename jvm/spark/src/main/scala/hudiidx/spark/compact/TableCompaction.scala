package hudiidx.spark.compact

import java.util.Locale

import hudiidx.engine.Tables
import hudiidx.merge.MergeRules
import hudiidx.spark.options.ReadOptions
import hudiidx.spark.pinned.{PinnedTable, SharedTable}
import hudiidx.spark.read.{FileSliceSplit, ParquetReaders}
import hudiidx.spark.TaskErrors
import hudiidx.spark.write.IndexUpdate
import hudiidx.spark.write.options.WriteOptions
import hudiidx.sync.{IndexOptions, TableContext}
import hudiidx.table._
import hudiidx.timeline.{Instant, PlannedFileGroup}
import hudiidx.write._
import hudiidx.write.format.{CompletedWrite, WrittenFile}
import hudiidx.{Causes, InvalidOption, UnsupportedTable}
import org.apache.spark.TaskContext
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.types.StructType

/** Which steps of a compaction are taken. */
sealed abstract class CompactionSteps(val name: String, val schedules: Boolean, val executes: Boolean)

object CompactionSteps {
  case object Both extends CompactionSteps("schedule_and_execute", schedules = true, executes = true)
  case object Schedule extends CompactionSteps("schedule", schedules = true, executes = false)
  case object Execute extends CompactionSteps("execute", schedules = false, executes = true)
  val All: Vector[CompactionSteps] = Vector(Both, Schedule, Execute)

  def named(name: String): CompactionSteps = All
    .find(_.name == name.trim.toLowerCase(Locale.ROOT))
    .getOrElse(throw new InvalidOption(s"op: unsupported value '$name'; supported: ${All.map(_.name).mkString(", ")}"))
}

/** A compaction that was run.
  *
  * @param rows      in its base files
  * @param bytesRead of the base and log files merged
  */
final case class CompactionDone(
    instant: String,
    fileGroups: Int,
    logFiles: Long,
    rows: Long,
    bytesRead: Long,
    bytesWritten: Long,
    elapsedMillis: Long
)

/** @param scheduled instant of the plan that was made, if there was anything to plan
  * @param done      in the order in which they ran
  */
final case class CompactionReport(scheduled: Option[String], done: Vector[CompactionDone])

/** Compacts a table's log files into base files.
  *
  * @param path         qualified
  * @param mergeRelease the setting of reads by whose rules tables of version 6 are merged, if it is given
  */
final class TableCompaction(
    spark: SparkSession,
    path: String,
    options: WriteOptions,
    mergeRelease: Map[String, String]
) {
  private val access = Tables.access(spark.sessionState.newHadoopConf())
  private val index = IndexOptions.of(options.index)
  private val read = ReadOptions.of(options.index ++ mergeRelease, Map.empty)

  /** Runs what is planned, by whomever, then plans and runs what there is. UnsupportedTable for a table that is not compacted here,
    * WriteConflict if another is at work, DamagedTable for files that cannot be merged: the plan stays, and is run again.
    *
    * @param partitions partition paths that are planned for; None: all
    */
  def run(steps: CompactionSteps, partitions: Option[Set[String]]): CompactionReport = {
    val config = TableConfig.read(access.storage, path)
    WritableTable.checkCompaction(path, config)
    MergeRules.of(config, read.mergesAs11): Unit
    val before = if (steps.executes) executePlanned() else Vector.empty
    val scheduled = if (steps.schedules) schedule(partitions) else None
    // What is planned now may be the plan of a failed one too, that came to be while this one looked.
    val after = if (steps.executes && steps.schedules) executePlanned() else Vector.empty
    val done = before ++ after
    if (done.nonEmpty || scheduled.isDefined)
      IndexUpdate.run(spark, path, options.isGlobal, options.createsIndex, options.index)
    CompactionReport(scheduled, done)
  }

  private def schedule(partitions: Option[Set[String]]): Option[String] =
    OpenCompaction.schedule(access, path, options.heartbeat, options.lock) { table =>
      requirePlain(table)
      val shared = SharedTable.of(spark, table, index)
      val plans = shared.viewTimeline.plans
      def isFree(slice: FileSlice) = {
        val group = FileGroup(slice.partitionPath, slice.fileId)
        !plans.compaction.contains(group) && !plans.clustering.contains(group)
      }
      for {
        partition <- shared.view.partitions if partitions.forall(_.contains(partition))
        slice <- shared.view.latestFileSlices(partition) if slice.logFiles.nonEmpty && isFree(slice)
      } yield slice
    }

  /** A compaction by stock Hudi goes by the ids of columns there. */
  private def requirePlain(table: TableContext): Unit =
    table.schema().foreach { schema =>
      if (schema.hasOperation) throw WritableTable.hasOperation(path)
      if (schema.hasHistory)
        throw new UnsupportedTable(
          s"$path: the table keeps a history of its columns (hoodie.schema.on.read.enable), which compaction here does not keep; " +
            "compact with stock Hudi"
        )
    }

  private def executePlanned(): Vector[CompactionDone] = {
    val table = OpenCompaction.settled(access, path, options.heartbeat)
    OpenCompaction
      .planned(table)
      .map { plan =>
        val told = WriteKind.Compaction.told(Some(plan.requestedTime))
        FailedWrite.typed(path, told, FailedWrite.PlanStays)(execute(plan))
      }
  }

  private def execute(plan: Instant): CompactionDone = {
    val from = System.nanoTime()
    val table = PinnedTable.open(spark, path, read)
    requirePlain(table.shared.context)
    val groups = OpenCompaction.groups(table.shared.context, plan)
    val open = OpenCompaction.begin(table.shared.context, plan, options.heartbeat, options.lock)
    try {
      val files = open.abortOnFailure(merged(table, open, groups))
      val schema = TableSchema.withMetaColumns(table.schema.avroJson, populated = false, path)
      open.complete(CompletedWrite("COMPACT", schema, files))
      TableCompaction.summary(plan.requestedTime, groups, files, (System.nanoTime() - from) / 1000000)
    } catch { case e: Throwable => throw TableCompaction.cause(e) }
  }

  /** A task for each file group, those with most log files first. */
  private def merged(table: PinnedTable, open: OpenWrite, groups: Vector[PlannedFileGroup]): Vector[WrittenFile] =
    if (groups.isEmpty) Vector.empty
    else {
      val struct = table.schema.struct
      val parquet = ParquetReaders.of(spark, struct, new StructType, Array.empty)
      val job = CompactionJob(
        table.shared,
        open.instant,
        open.writer,
        table.schema.avroJson,
        struct,
        FileSliceSplit.readers(spark, table, parquet),
        options.base
      )
      val sent = spark.sparkContext.broadcast(job)
      val bySize = groups.sortBy(g => -g.logFiles.size)
      spark.sparkContext
        .parallelize(bySize, bySize.size)
        .map { group =>
          val task = TaskContext.get()
          val token = s"${task.partitionId()}-${task.stageId()}-${task.taskAttemptId()}"
          TaskErrors.ours(new SliceCompactor(sent.value, token).run(group))
        }
        .collect()
        .toVector
    }
}

private object TableCompaction {

  def summary(
      instant: String,
      groups: Vector[PlannedFileGroup],
      files: Vector[WrittenFile],
      elapsedMillis: Long
  ): CompactionDone = CompactionDone(
    instant,
    groups.size,
    files.map(_.earlierLogs.size.toLong).sum,
    files.flatMap(_.base).map(_.rows).sum,
    files.flatMap(_.base).map(_.logBytes).sum,
    files.map(_.sizeBytes).sum,
    elapsedMillis
  )

  /** What failed in a task, without Spark's wrapping. */
  def cause(e: Throwable): Throwable = Causes.ours(e).getOrElse(e)
}
