package hudiidx.write

import hudiidx.{AvroSchemas, DamagedTable, WriteConflict}
import hudiidx.sync.TableContext
import hudiidx.table.{FileGroup, TableSchema, ViewTimeline}
import hudiidx.timeline._
import hudiidx.write.format.{CompletedWrite, ReplacedGroups}
import org.apache.avro.{AvroRuntimeException, Schema}
import scala.collection.JavaConverters._

/** What others did to a table between two moments, and whether a write of ours stands beside it: as for Hudi's
  * SimpleConcurrentFileWritesConflictResolutionStrategy, if it touched no file group that they touched.
  *
  * @param before as the write knew the table
  * @param now    later, while nobody else can commit
  */
final class ConcurrentWrites(before: TableContext, now: TableContext) {
  private val known = before.timeline.instants.map(i => i.requestedTime -> i).toMap

  /** Instants that completed meanwhile, whenever they were requested. */
  private val completed: Vector[Instant] =
    now.timeline.completed.filterNot(i => known.get(i.requestedTime).exists(k => k.isCompleted && k.action == i.action))

  private val writes: Vector[(Instant, CommitMetadata)] =
    completed.filter(i => TableContext.Writes(i.action)).map(i => i -> now.contents.commit(i))

  /** May records have come that `before` has not? */
  def haveInserts: Boolean = writes.exists { case (i, commit) =>
    !isCompaction(i, commit) && commit.writeStats.exists(s => s.numInserts > 0 || s.prevCommit.isEmpty)
  }

  /** WriteConflict if the write must not complete. */
  def check(instant: String, write: CompletedWrite): Unit = {
    requireSameTimeline(instant)
    write.replaced.foreach(requireAlone(instant, _))
    val ours =
      (write.files.map(f => FileGroup(f.partitionPath, f.fileId)) ++ write.replaced.toVector.flatMap(_.groups)).toSet
    val rewritten =
      write.files.filter(f => f.base.isDefined && !f.isNewGroup).map(f => FileGroup(f.partitionPath, f.fileId)).toSet
    touched(rewritten).find(t => ours(t._2)).foreach { case (by, group) =>
      throw conflict(instant, s"both wrote file group ${group.fileId} of partition '${group.partitionPath}'", by)
    }
    writes.foreach { case (i, commit) =>
      commit.extraMetadata.get("schema").filter(_.nonEmpty).filterNot(sameColumns(i, _, write.schema)).foreach { _ =>
        throw conflict(instant, "it changed the table's columns", i.requestedTime)
      }
    }
  }

  /** What others put into what a write replaces would stay beside it, as if it had come later. */
  private def requireAlone(instant: String, replaced: ReplacedGroups): Unit = {
    for ((i, commit) <- writes if !isCompaction(i, commit))
      groupsOf(commit).map(_.partitionPath).find(replaced.isIn).foreach { partition =>
        throw conflict(instant, s"it wrote to partition '$partition', which this write replaces", i.requestedTime)
      }
  }

  private def groupsOf(commit: CommitMetadata): Vector[FileGroup] =
    commit.writeStats.map(s => FileGroup(s.partitionPath, s.fileId)) ++
      commit.replacedFileIds.toVector.flatMap { case (p, ids) => ids.map(FileGroup(p, _)) }

  /** File groups with the instant that wrote or replaced them, or plans to.
    *
    * @param rewritten those of which the write makes a new base file
    */
  private def touched(rewritten: Set[FileGroup]): Vector[(String, FileGroup)] = {
    // From version 8 on a log file belongs to the slice after every compaction that was planned before the file's commit.
    def isHarmless(g: FileGroup) = now.config.format.completionTimes && !rewritten(g)
    val done = for {
      (i, commit) <- writes
      group <- groupsOf(commit)
      if !(isCompaction(i, commit) && isHarmless(group))
      // One that was planned before is what the write's slices began with.
      if !(isCompaction(i, commit) && known.contains(i.requestedTime))
    } yield i.requestedTime -> group
    val plans = ViewTimeline.load(now.config, now.timeline, now.contents, _ => None).plans
    val compactions = plans.compaction.toVector.collect {
      case (g, i) if !isHarmless(g) && !known.contains(i) => i -> g
    }
    done ++ compactions ++ plans.clustering.toVector.map(_.swap)
  }

  private def isCompaction(i: Instant, commit: CommitMetadata): Boolean =
    i.action == Action.Commit && commit.operationType.forall(_.equalsIgnoreCase("COMPACT"))

  /** What was there is there still, and so is all that came since: neither rolled back nor archived. */
  private def requireSameTimeline(instant: String): Unit = {
    val there = now.timeline.completed.map(_.requestedTime).toSet
    before.timeline.completedWrites.lastOption.filterNot(i => there(i.requestedTime)).foreach { i =>
      throw conflict(instant, "it was rolled back or archived meanwhile", i.requestedTime)
    }
    completed.foreach { i =>
      val takesBack = i.action match {
        case Action.Restore  => true
        case Action.Rollback =>
          now.contents.rollback(i).commitsRolledBack.exists(t => known.get(t).exists(_.isCompleted))
        case _ => false
      }
      if (takesBack) throw conflict(instant, "it rolled back a commit", i.requestedTime)
    }
  }

  /** DamagedTable for a commit that says no schema of rows where it should. */
  private def sameColumns(of: Instant, theirs: String, ours: String): Boolean = {
    val found =
      try columns(theirs)
      catch {
        case e: AvroRuntimeException => throw damaged(of, e)
        case e: StackOverflowError   => throw damaged(of, e)
      }
    found == columns(ours)
  }

  private def damaged(of: Instant, e: Throwable) = new DamagedTable(
    s"${now.timeline.dir}/${of.fileName}: another writer's commit, and its schema is not of rows; roll that commit back with Hudi, then write again",
    e
  )

  private def columns(schema: String): Vector[(String, Schema)] =
    AvroSchemas
      .parse(schema)
      .getFields
      .asScala
      .map(f => f.name -> f.schema)
      .filterNot(f => TableSchema.isMeta(f._1))
      .toVector

  private def conflict(instant: String, why: String, other: String): WriteConflict = new WriteConflict(
    s"${now.tablePath}: another writer ($other) was at work during the write $instant: $why; write again"
  )
}
