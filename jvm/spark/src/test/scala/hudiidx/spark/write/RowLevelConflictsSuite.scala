package hudiidx.spark.write

import hudiidx.TestSettings.versions
import hudiidx.engine.{Rollbacks, Tables}
import hudiidx.hfile.BlockCache
import hudiidx.spark.write.options.WriteOperation
import hudiidx.storage.LocalStorage
import hudiidx.sync.TableContext
import hudiidx.timeline.{ActiveTimeline, Instant}
import hudiidx.{Fixtures, HudiIdxException, WriteConflict}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, WriteDelta}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

/** A statement whose rows changed, or went, between its reading and its write is a conflict and writes nothing. */
final class RowLevelConflictsSuite extends RowLevelTables {
  test("rows that changed while a statement was at work are a conflict") {
    val path = filled()
    val statement = spark.sessionState.sqlParser.parsePlan(s"UPDATE hudiidx.`$path` SET n = n + 1")
    val execution = spark.sessionState.executePlan(statement)
    execution.assertAnalyzed()
    sql(s"UPDATE hudiidx.`$path` SET n = n + 100")
    val e = intercept[WriteConflict](execution.commandExecuted)
    assert(e.getMessage.contains("run it again"))
    assert(rows(path).map(_.n) === small.map(_.n + 100).toSet)
    sql(s"UPDATE hudiidx.`$path` SET n = n + 1")
    assert(rows(path).map(_.n) === small.map(_.n + 101).toSet)
  }

  /** What may become of a commit that a statement read, or of the table. */
  private val takenBack: Vector[(String, (String, ActiveTimeline) => Unit)] = Vector(
    // A rollback makes the commit pending before it removes files, and ends with an instant of its own.
    "a rollback that is under way" -> ((_, t) => removed(t, t.completedWrites.last)),
    "a rollback" -> ((path, t) =>
      if (t.layout == 2) Rollbacks.rollBack(path, t.completedWrites.last) else removed(t, t.completedWrites.last)
    ),
    "a restore" -> ((_, t) => t.completedWrites.foreach(removed(t, _))),
    "a table made anew" -> ((path, t) => {
      LocalStorage.delete(path)
      filledAt(made(t.layout match { case 1 => 6; case _ => 9 }, at = path)): Unit
    })
  )

  /** What a statement reads of the timeline is read once. */
  private def readBy(plan: LogicalPlan): Unit = {
    val named = plan.collect { case w: WriteDelta => w.originalTable }
    val targets = named.collect { case r: DataSourceV2Relation => r.table }.collect { case t: TargetTable => t.table }
    assert(targets.nonEmpty)
    targets.foreach(t => t.partitions.foreach(t.slices(_)))
  }

  private def removed(t: ActiveTimeline, i: Instant): Unit =
    LocalStorage.list(t.dir).filter(_.name.startsWith(i.requestedTime)).foreach(f => LocalStorage.delete(f.path))

  for (version <- versions(9); (name, deed) <- takenBack)
    test(s"version $version: $name between a statement's reading and its write is a conflict, and nothing is written") {
      def after(work: => Any, path: String): Exception = {
        deed(path, TableContext.load(Tables.access(LocalStorage, new BlockCache(0)), path).timeline)
        val before = Fixtures.filesBelow(path).toSet
        val e = intercept[HudiIdxException](work)
        assert(Fixtures.filesBelow(path).toSet === before)
        e
      }
      val path = filledAt(made(version))
      sql(s"UPDATE hudiidx.`$path` SET n = n + 100")
      val target = targetOf(path)
      val changes = RowChanges(changed(read(path)).localCheckpoint(), hasInserts = false)
      val writer = target.writer(Map.empty, Some(WriteOperation.Upsert))
      val e = after(writer.change(changes, target.table.shared.context), path)
      assert(e.isInstanceOf[WriteConflict] && e.getMessage.contains("run it again"), e)
      Vector[String => String](
        path => s"UPDATE hudiidx.`$path` SET n = n + 1",
        path => s"DELETE FROM hudiidx.`$path` WHERE n < 3",
        path =>
          s"MERGE INTO hudiidx.`$path` t USING ${given(small)} s ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = t.n + 1 " +
            "WHEN NOT MATCHED THEN INSERT *"
      ).foreach { statement =>
        val path = filledAt(made(version))
        sql(s"UPDATE hudiidx.`$path` SET n = n + 100")
        val execution = spark.sessionState.executePlan(spark.sessionState.sqlParser.parsePlan(statement(path)))
        readBy(execution.analyzed)
        after(execution.commandExecuted, path)
      }
    }
}
