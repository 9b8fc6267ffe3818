package hudiidx.spark.write

import hudiidx.WriteConflict
import hudiidx.spark.shims.Shims
import hudiidx.spark.tag.TagLocation
import hudiidx.sync.TableContext
import hudiidx.timeline.{Action, ActiveTimeline}
import hudiidx.write.WriteGround
import org.apache.spark.sql.functions.{col, countDistinct, lit, substring_index}
import org.apache.spark.sql.types.StringType
import org.apache.spark.sql.{Column, DataFrame}

/** What a statement of SQL does to rows, as Spark found them.
  *
  * @param rows   one of [[RowChanges.Operations]]; record key, partition path and file name of a row that is there; then the
  *               table's columns, null for deletes. Names are those of [[RowChanges]], and the columns' own
  * @param hasInserts rows may be new ones
  */
final case class RowChanges(rows: DataFrame, hasInserts: Boolean) {

  /** The table's columns alone. */
  def columns: DataFrame =
    rows.drop(RowChanges.Operation, RowChanges.OldKey, RowChanges.OldPartition, RowChanges.OldFile)
}

object RowChanges {
  val Operation = "__change"
  val OldKey = "__old_key"
  val OldPartition = "__old_partition"
  val OldFile = "__old_file"

  // Numbers as Spark has them.
  val Delete = 1
  val Update = 2
  val Insert = 3

  /** WriteConflict if rows changed since the statement read them, or were rolled back. */
  private[write] def requireCurrent(read: TableContext, now: TableContext): Unit = {
    WriteGround.requireStill(read, now, "the statement")
    def changing(t: ActiveTimeline): Set[(String, String)] =
      t.completed.filter(i => Changing(i.action)).map(i => (i.requestedTime, i.action)).toSet
    (changing(now.timeline) -- changing(read.timeline)).foreach { case (instant, action) =>
      throw new WriteConflict(
        s"${now.tablePath}: the $action $instant was completed after the rows of this write were read, so that it may write old rows; if this is a statement, run it again; if it is a DataFrame, read the table into a new one"
      )
    }
  }

  // A compaction, of action commit, moves no record to another file group.
  private val Changing = Set(Action.DeltaCommit, Action.ReplaceCommit, Action.Restore)
}

/** Rows of a statement with their locations; they are gone through several times. */
final private[write] class ChangedRows(write: RowWrite, changes: RowChanges, schema: WriteSchema) {
  import RowChanges._

  private val rows = changes.rows

  /** Rows that are there by partition path and the file group that they name. */
  private lazy val named: Vector[(String, String, Long)] = {
    val group = substring_index(col(OldFile), "_", 1).as("group")
    val counted = rows.where(col(Operation) =!= Insert).groupBy(col(OldPartition), group).count().collect().toVector
    counted.map(r => (r.getString(0), r.getString(1), r.getLong(2)))
  }

  /** All of them name a file group that there is. */
  private lazy val areNamed: Boolean = named.groupBy(_._1).forall { case (partition, groups) =>
    val ids = write.fileIds(partition)
    groups.forall(g => ids(g._2))
  }

  /** Of `located`, as `RowPlaces` counts them, where that costs nothing. */
  def counts: Option[Vector[(String, String, Long)]] = if (areNamed && !changes.hasInserts) Some(named) else None

  /** UnsupportedTable if records have to be looked up, and one of them is in several places.
    *
    * @param tagged what `located` gave
    */
  def requireOnePlace(tagged: DataFrame): Unit = if (!areNamed) {
    val groups = tagged.where(RowWrite.FileId.isNotNull).groupBy(RowWrite.Key, RowWrite.Partition)
    groups.agg(countDistinct(RowWrite.FileId).as("groups")).where(col("groups") > 1).take(1).foreach { r =>
      RepeatedKeys.refuseScattered(r.getString(0), r.getLong(2), write.path)
    }
  }

  /** As `RowWrite.withLocations` has them. */
  def located: DataFrame = {
    val known = rows.where(col(Operation) =!= Insert)
    val (deletes, updates) = (known.where(col(Operation) === Delete), known.where(col(Operation) === Update))
    val gone = deletes.select(
      old(OldKey, RowWrite.Key),
      old(OldPartition, RowWrite.Partition),
      lit(null).cast(schema.struct).as(RowWrite.Columns),
      col(OldPartition),
      col(OldFile)
    )
    val keyed = write.withKeys(updates, schema, Vector(OldKey, OldPartition, OldFile))
    val others = RowWrite.otherKeys(keyed)
    val kept = Seq(RowWrite.Key, OldKey) ++ (if (write.moves) Nil else Seq(RowWrite.Partition, OldPartition)) ++ others
    val same = Shims.column(SameRecord(kept.map(Shims.expression(keyed, _)), others.size))
    val stay = keyed.select(
      same.as(RowWrite.Key),
      col(RowWrite.Partition),
      col(RowWrite.Columns),
      col(OldPartition),
      col(OldFile)
    )
    val there = located(gone.union(stay))
    if (!changes.hasInserts) there
    else
      there.union(write.withLocations(write.withKeys(rows.where(col(Operation) === Insert), schema)))
  }

  private def old(name: String, as: String): Column = col(name).as(as)

  /** By the file names of the records, unless one of them is not that of a file group. */
  private def located(rows: DataFrame): DataFrame = {
    val group = substring_index(col(OldFile), "_", 1)
    val plain = rows.drop(OldPartition, OldFile)
    if (areNamed)
      rows.select(
        plain.columns.map(col) ++ Seq(
          col(OldPartition).as(TagLocation.Columns(0)),
          group.as(TagLocation.Columns(1)),
          lit(null).cast(StringType).as(TagLocation.Columns(2))
        ): _*
      )
    else write.locatedIn(rows.drop(OldFile), OldPartition).drop(OldPartition)
  }
}
