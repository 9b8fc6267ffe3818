package hudiidx.spark.plan

import hudiidx.TableChanged
import hudiidx.spark.options.{ReadOptions, StreamOptions}
import hudiidx.spark.pinned.{PinnedTable, SharedTable}
import hudiidx.spark.read.ScanColumns
import hudiidx.spark.stream.TableStream
import hudiidx.table.query.MicroBatch
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.read.Batch
import org.apache.spark.sql.types.StructType

/** The rows that commits wrote, as an incremental query of them has them.
  *
  * @param all     the table's columns as of the stream's start
  * @param columns those that a plan reads; None: Spark has not planned yet
  */
final private[spark] class RowStream private (
    spark: SparkSession,
    path: String,
    read: ReadOptions,
    asked: StreamOptions,
    checkpoint: String,
    all: StructType,
    columns: Option[Seq[String]],
    id: AnyRef
) extends TableStream(spark, path, read, asked, checkpoint) {

  /** The same stream in a plan that reads these columns. */
  def planned(columns: Seq[String]): RowStream =
    if (this.columns.contains(columns)) this
    else new RowStream(spark, path, read, asked, checkpoint, all, Some(columns), id)

  // Spark knows by it what in a plan is the query's source, and also which parts of a plan are the same: those read the same columns.
  override def equals(other: Any): Boolean = other match {
    case o: RowStream => o.isOf(id, columns)
    case _            => false
  }

  private def isOf(other: AnyRef, read: Option[Seq[String]]): Boolean =
    (other eq id) && (columns.isEmpty || read.isEmpty || columns == read)

  override def hashCode: Int = System.identityHashCode(id)

  override protected def query(table: SharedTable, batch: MicroBatch): Batch = {
    val request = asked.incremental.request.copy(commits = Some(batch.commits), fallback = Some(batch.fallback))
    val options = read.copy(lacksBegin = false, increment = Some(asked.incremental.copy(request = request)))
    val pinned = PinnedTable.at(spark, table, options)
    RowStream.requireColumns(pinned, all)
    val known = ScanColumns.all(all)
    val wanted = columns.fold(all)(names => StructType(names.map(known(_))))
    HudiIdxScan(spark, pinned, ScanSpec(wanted, Vector.empty, Vector.empty, None)).toBatch
  }
}

private[spark] object RowStream {

  /** InvalidOption for what a stream does not follow, or is not possible with the table.
    *
    * @param table   as the stream's DataFrame has it
    * @param given   the reader's options
    * @param columns of the DataFrame
    */
  def open(
      spark: SparkSession,
      table: PinnedTable,
      given: Map[String, String],
      checkpoint: String,
      columns: StructType
  ): RowStream = {
    val asked = StreamOptions.of(given, spark.conf.getAll, table.options)
    StreamOptions.check(asked, table.config)
    val stream = new RowStream(spark, table.path, table.options, asked, checkpoint, columns, None, new AnyRef)
    stream.query(table.shared, MicroBatch(Set.empty, fallback = false)): Unit
    stream
  }

  /** Rows of other columns would be cut, or have nulls for what the table holds. TableChanged where they are no longer those of the
    * start.
    */
  private def requireColumns(table: PinnedTable, atStart: StructType): Unit = {
    def named(columns: StructType) = columns.map(f => f.name -> f.dataType.catalogString).toMap
    val (before, now) = (named(atStart), named(table.schema.struct))
    val names = (now.keySet ++ before.keySet).toVector.sorted.filter(n => before.get(n) != now.get(n))
    if (names.nonEmpty) {
      val told = names.map(n => s"$n was ${before.getOrElse(n, "not there")} and is ${now.getOrElse(n, "gone")}")
      throw new TableChanged(
        s"${table.path}: the table's columns are no longer those of the stream: ${told.mkString(", ")}. Start the query again from " +
          s"spark.readStream, with the same checkpoint; with ${ReadOptions.QueryType}=${ReadOptions.Incremental} where that does not help"
      )
    }
  }
}
