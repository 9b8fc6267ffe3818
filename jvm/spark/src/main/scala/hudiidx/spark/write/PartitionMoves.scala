package hudiidx.spark.write

import hudiidx.spark.tag.TagLocation
import org.apache.spark.sql.expressions.Window
import org.apache.spark.sql.functions._
import org.apache.spark.sql.types.{BooleanType, StructType}
import org.apache.spark.sql.{Column, DataFrame}

/** Records that come with another partition than they are in: a delete there and an insert here, in one commit, as stock
  * Hudi's global indexes have it. A record that is older than the one that is there moves nothing and is left out, and a delete
  * goes to where the record is.
  *
  * @param ordering the ordering field: of rows of one key that come together the one with the greatest value counts
  * @param existing rows of the table, with record key, partition path and the ordering field's value, if a greater value that is
  *                 there wins too; None: the later write does
  */
final private[write] class PartitionMoves(
    columns: StructType,
    ordering: Option[String],
    existing: Option[() => DataFrame]
) {
  import RowWrite.{Columns, FileId, Key, Partition}

  private val location: Column = col(TagLocation.Columns.head)

  private val isDelete: Column = PartitionMoves.isDelete(columns)

  private def value(field: String): Column = col(Columns).getField(field)

  private val isMoved: Column =
    FileId.isNotNull && location =!= col(Partition) && col(Columns).isNotNull && !isDelete

  /** @param tagged rows with their locations, several for a key with several */
  def apply(tagged: DataFrame): DataFrame = {
    val keys = tagged.where(isMoved).select(Key).union(scattered(tagged)).distinct()
    if (keys.isEmpty) tagged
    else {
      val latest = newest(tagged.join(keys, Seq(Key), "left_semi"))
      val rest = tagged.join(keys, Seq(Key), "left_anti")
      val current = withoutLate(latest)
      val moved = current.where(isMoved)
      val stay = current.where(!isMoved)
      rest.union(stay).union(deletes(moved)).union(inserts(moved, stay))
    }
  }

  /** As `apply` where records that are there stay: of the rows of a new key the newest one. */
  def inOnePlace(tagged: DataFrame): DataFrame = {
    val keys = scattered(tagged)
    if (keys.isEmpty) tagged
    else tagged.join(keys, Seq(Key), "left_anti").unionByName(newest(tagged.join(keys, Seq(Key), "left_semi")))
  }

  /** New keys that come with several partitions. */
  private def scattered(tagged: DataFrame): DataFrame = tagged
    .where(FileId.isNull && col(Columns).isNotNull)
    .groupBy(Key)
    .agg(min(Partition).as("first"), max(Partition).as("last"))
    .where(col("first") =!= col("last"))
    .select(Key)

  /** Of the rows of a key the one with the greatest ordering value, for each location. */
  private def newest(rows: DataFrame): DataFrame = {
    val order = ordering.toSeq.flatMap(f => ColumnOrder.of(value(f), columns, f).map(_.desc_nulls_last)) ++
      Seq(isDelete.desc, col(Partition).desc)
    val byPlace = Window.partitionBy(col(Key), location, FileId).orderBy(order: _*)
    val place = "place"
    // Deletes without columns are of records, not of keys.
    val (gone, written) = (rows.where(col(Columns).isNull), rows.where(col(Columns).isNotNull))
    gone.union(written.withColumn(place, row_number().over(byPlace)).where(col(place) === 1).drop(place))
  }

  private def withoutLate(rows: DataFrame): DataFrame = existing.fold(rows) { read =>
    val there = read().toDF("there_key", "there_partition", "there_value")
    val late = ordering.fold(lit(false))(f => ColumnOrder.isAbove(col("there_value"), value(f), columns, f))
    val isThere = col(Key) === col("there_key") && location === col("there_partition")
    // The partition may have several rows of the key, of which one that is newer is enough.
    rows.join(there, isThere && isMoved && late, "left_anti")
  }

  private def deletes(moved: DataFrame): DataFrame = moved
    .withColumn(Partition, location)
    .withColumn(Columns, lit(null).cast(columns))

  /** One for each key, unless one of its records is in the new partition already. */
  private def inserts(moved: DataFrame, stay: DataFrame): DataFrame = {
    val new0 = moved.dropDuplicates(Key).join(stay.where(col(Columns).isNotNull).select(Key), Seq(Key), "left_anti")
    TagLocation.Columns.foldLeft(new0)((f, c) => f.withColumn(c, lit(null).cast("string")))
  }
}

private[write] object PartitionMoves {
  val Deleted = "_hoodie_is_deleted"

  /** Place of the mark of deletes; -1: there is none. Another type than boolean marks none, as for stock Hudi. */
  def markOf(columns: StructType): Int = columns.indexWhere(f => f.name == Deleted && f.dataType == BooleanType)

  /** Of a row whose columns are these. */
  def isDelete(columns: StructType): Column =
    if (markOf(columns) >= 0) coalesce(col(RowWrite.Columns).getField(Deleted), lit(false))
    else lit(false)
}
