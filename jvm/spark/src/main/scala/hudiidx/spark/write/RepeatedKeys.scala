package hudiidx.spark.write

import hudiidx.spark.pinned.SharedTable
import hudiidx.spark.shims.Shims
import hudiidx.spark.tag.TagLocation
import hudiidx.storage.Storage
import hudiidx.table.{BaseFile, FileGroup}
import hudiidx.{ShellCommand, UnsupportedTable, WriteConflict}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeProjection}
import org.apache.spark.sql.functions.{col, lit, when}
import org.apache.spark.sql.types.{StringType, StructField, StructType}
import org.apache.spark.sql.{Column, DataFrame, SparkSession}
import org.apache.spark.unsafe.types.UTF8String

/** Record keys that a write changes, and of which the base file below has several rows, as inserts and clusterings leave them. A log
  * meets such rows by their key: readers take the first of them alone, stock Hudi's compaction of version 6 all.
  *
  * @param bases of the file groups that are asked for; those without one have no such keys
  */
final private[write] class RepeatedKeys(spark: SparkSession, table: SharedTable, bases: Vector[BaseFile]) {
  import RepeatedKeys._

  /** Of each file group that has such keys among these.
    *
    * @param asked as `RepeatedKeys.asked` makes it
    */
  def groups(asked: DataFrame): Vector[Repeats] = if (bases.isEmpty) Vector.empty
  else
    inFiles(asked)(_.toVector.groupBy(_.file).map { case (file, keys) => Repeats(file, keys) }.iterator)
      .collect()
      .toVector

  /** The keys themselves, as [[Found]] has them. */
  def frame(asked: DataFrame): DataFrame = {
    val rows: RDD[InternalRow] = inFiles(asked) { keys =>
      val toRow = UnsafeProjection.create(Found)
      keys.map { k =>
        val place = Array(k.file.partitionPath, k.file.fileId).map(UTF8String.fromString)
        toRow(new GenericInternalRow(Array[Any](UTF8String.fromBytes(k.key), place(0), place(1)))): InternalRow
      }
    }
    Shims.rddFrame(spark, Found, rows)
  }

  private def inFiles[A: scala.reflect.ClassTag](
      asked: DataFrame
  )(use: Iterator[RepeatedKey] => Iterator[A]): RDD[A] = {
    val sent = spark.sparkContext.broadcast((table, bases.map(b => (b.partitionPath, b.fileId) -> b).toMap))
    val cores = math.max(spark.sparkContext.defaultParallelism, spark.sessionState.conf.numShufflePartitions)
    val places = Seq(asked.col(Partition), asked.col(FileId))
    val sorted = asked
      .repartition(math.max(1, math.min(bases.size, cores)), places: _*)
      .sortWithinPartitions(places :+ asked.col(Key): _*)
    sorted.queryExecution.toRdd.mapPartitions { rows =>
      val (of, files) = sent.value
      use(new FileKeys(rows.buffered, of, files).all)
    }
  }
}

private[write] object RepeatedKeys {
  val Key = "repeated_key"
  val Partition = "repeated_partition"
  val FileId = "repeated_file"
  val Found: StructType = StructType(Seq(Key, Partition, FileId).map(StructField(_, StringType)))

  /** In place of the instant of a delete's location: all rows of its key go. */
  val Mark = "each"

  /** Rows that are to change, with their locations, as they are asked for. */
  def asked(located: DataFrame, isDelete: Column): DataFrame = located.select(
    col(RowWrite.Key).as(Key),
    col(TagLocation.Columns(0)).as(Partition),
    col(TagLocation.Columns(1)).as(FileId),
    isDelete.as("is_delete")
  )

  /** Rows with their locations: deletes of such keys are marked.
    *
    * @param found the keys, as [[Found]] has them
    */
  def marked(located: DataFrame, isDelete: Column, found: DataFrame): DataFrame = {
    val places = TagLocation.Columns.map(col)
    val isFound =
      isDelete && col(RowWrite.Key) === col(Key) && places(0) === col(Partition) && places(1) === col(FileId)
    val mark = when(col(Key).isNotNull, lit(Mark)).otherwise(places(2)).as(TagLocation.Columns(2))
    val others = located.columns.toVector.filter(_ != TagLocation.Columns(2)).map(col)
    located.join(found, isFound, "left").select(others :+ mark: _*).select(located.columns.map(col): _*)
  }

  /** UnsupportedTable unless all rows of each of the keys are to be deleted. */
  def requireWholeDeletes(found: Vector[Repeats], path: String): Unit =
    found.flatMap(_.refused).headOption.foreach { k =>
      throw new UnsupportedTable(
        s"$path: record key '${k.text}' has ${k.rows} rows in ${Storage.join(k.file.partitionPath, k.file.fileName)}, of which the statement " +
          s"changes ${k.asked}: rows are changed by their keys, so that it would change others than it names. $Remedy"
      )
    }

  /** UnsupportedTable: the statement's rows tell the wrong file groups, and of such a key it is not known which is meant. */
  def refuseScattered(key: String, groups: Long, path: String): Nothing = throw new UnsupportedTable(
    s"$path: record key '$key' has rows in $groups file groups of one partition, and its rows do not name the one that they are in: the " +
      s"statement would change others than it names. $Remedy"
  )

  private val Remedy =
    "Nothing was written. Delete all rows of the key (by _hoodie_record_key) and insert those that are to stay, as they " +
      "are to be, anew; or overwrite the table by rows with each key once"

  /** WriteConflict if one of these groups is planned to be compacted: it cannot be written anew. */
  def requireNotPlanned(groups: Iterable[FileGroup], plans: Map[FileGroup, String], path: String): Unit =
    groups.find(plans.contains).foreach { g =>
      throw new WriteConflict(
        s"$path: file group ${g.fileId} of partition '${g.partitionPath}' has several rows of a record key that is deleted, and is planned " +
          s"to be compacted (${plans(g)}); run the compaction (${ShellCommand("compact-table", Vector(path)).quoted}, or stock Hudi), then " +
          "delete again"
      )
    }
}
