package hudiidx.spark.write

import hudiidx.spark.tag.TagLocation
import hudiidx.table.FileGroup
import org.apache.spark.sql.expressions.Window
import org.apache.spark.sql.functions._
import org.apache.spark.sql.{Column, DataFrame}

/** Rows with their locations, those of deleted records that come again among them.
  *
  * @param reinserted file groups that are written anew for those
  */
final private[write] case class ReinsertedRecords(rows: DataFrame, reinserted: Set[FileGroup])

private[write] object ReinsertedRecords {
  import DeletedRecords.{FileId => OldFile, Key => OldKey, Partition => OldPartition}
  import RowWrite.{Columns, FileId, Key, Partition}

  /** In place of a location's instant: an old row of the record is there, not the record. */
  val Mark = "deleted"
  private val Rank = "rank"

  /** @param tagged   rows with their locations
    * @param isDelete of a row: it deletes its record
    */
  def of(tagged: DataFrame, deleted: DeletedRecords, isDelete: Column, kept: KeptRows): ReinsertedRecords = {
    val isNew = FileId.isNull && col(Columns).isNotNull && !isDelete
    val wanted = tagged.where(isNew).select(col(Key), col(Partition)).distinct()
    val matches = wanted.join(deleted.frame, col(Key) === col(OldKey) && col(Partition) === col(OldPartition))
    val old = kept(matches.select(OldKey, OldPartition, OldFile))
    val groups =
      old.select(OldPartition, OldFile).distinct().collect().map(r => FileGroup(r.getString(0), r.getString(1)))
    if (groups.isEmpty) ReinsertedRecords(tagged, Set.empty)
    else {
      val ranked =
        old.withColumn(Rank, row_number().over(Window.partitionBy(OldKey, OldPartition).orderBy(OldFile)))
      ReinsertedRecords(
        kept(located(tagged, ranked.where(col(Rank) === 1), isNew).union(gone(tagged, ranked))),
        groups.toSet
      )
    }
  }

  /** The rows, those of old records at the first of their places. */
  private def located(tagged: DataFrame, first: DataFrame, isNew: Column): DataFrame = {
    val joined =
      tagged.join(first, isNew && col(Key) === col(OldKey) && col(Partition) === col(OldPartition), "left")
    val old = Vector(col(OldPartition), col(OldFile), when(col(OldFile).isNotNull, lit(Mark)))
    val places = TagLocation.Columns.zip(old).map { case (name, c) => coalesce(col(name), c).as(name) }
    joined.select(tagged.columns.toVector.filterNot(TagLocation.Columns.contains).map(col) ++ places: _*)
  }

  /** Their old rows go from all other places. */
  private def gone(tagged: DataFrame, ranked: DataFrame): DataFrame = ranked
    .where(col(Rank) > 1)
    .select(
      col(OldKey).as(Key),
      col(OldPartition).as(Partition),
      lit(null).cast(tagged.schema(Columns).dataType).as(Columns),
      col(OldPartition).as(TagLocation.Columns(0)),
      col(OldFile).as(TagLocation.Columns(1)),
      lit("").as(TagLocation.Columns(2))
    )
}
