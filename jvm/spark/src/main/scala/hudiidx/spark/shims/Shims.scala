package hudiidx.spark.shims

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.{Column, DataFrame, SparkSession}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateUnsafeProjection
import org.apache.spark.sql.catalyst.expressions.{Attribute, BoundReference, Expression, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.connector.read.{HasPartitionKey, InputPartition}
import org.apache.spark.sql.execution.datasources.v2.{DataSourceV2Relation, FileScanBuilder}
import org.apache.spark.sql.execution.datasources.{FilePartition, InMemoryFileIndex, PartitionedFile}
import org.apache.spark.sql.execution.metric.SQLShuffleReadMetricsReporter
import org.apache.spark.sql.execution.vectorized.{
  ColumnVectorUtils,
  ConstantColumnVector,
  OnHeapColumnVector,
  WritableColumnVector
}
import org.apache.spark.sql.execution.{ShuffledRowRDD, UnsafeRowSerializer}
import org.apache.spark.sql.sources.Filter
import org.apache.spark.sql.types.{DataType, StructField, StructType}
import org.apache.spark.sql.vectorized.ColumnVector
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.apache.spark.util.MutablePair
import org.apache.spark.{Partitioner, ShuffleDependency}

/** All that depends on the inner parts of Spark. What differs between its lines is in [[LineShims]]. */
object Shims {

  /** The filter in Spark's public form; None if it has none. */
  def translate(filter: Expression): Option[Filter] = SparkInternals.translate(filter)

  /** The same in the form of the second connector interface. */
  def predicate(filter: Filter): Predicate = SparkInternals.predicate(filter)

  /** True while `column` may have one of the values that `key` has in `small`; found when the query runs. */
  def runtimeFilter(column: Attribute, small: LogicalPlan, key: Expression, onlyInBroadcast: Boolean): Expression =
    LineShims.runtimeFilter(column, small, key, onlyInBroadcast)

  /** A DataFrame of a plan. */
  def frame(spark: SparkSession, plan: LogicalPlan): DataFrame = LineShims.frame(spark, plan)

  /** What reads a table that is open. */
  def relation(table: Table): LogicalPlan =
    DataSourceV2Relation.create(table, None, None, CaseInsensitiveStringMap.empty)

  /** A DataFrame of rows that are at hand: no job makes them. */
  def localFrame(spark: SparkSession, columns: StructType, rows: Seq[InternalRow]): DataFrame =
    frame(spark, LocalRelation(DataTypeUtils.toAttributes(columns), rows))

  /** A DataFrame of rows that an RDD has. */
  def rddFrame(spark: SparkSession, columns: StructType, rows: RDD[InternalRow]): DataFrame =
    frame(spark, LineShims.plan(spark, DataTypeUtils.toAttributes(columns), rows))

  /** What a column of a DataFrame stands for in its plan; AnalysisException if no column has this name. */
  def expression(frame: DataFrame, name: String): Expression = expression(frame.col(name))

  def expression(column: Column): Expression = LineShims.expression(column)

  def column(expression: Expression): Column = LineShims.column(expression)

  /** Sends each row to the part that it comes with. Rows may be used again by whoever hands them over. */
  def shuffled(rows: RDD[(Int, UnsafeRow)], columns: Int, parts: Int): RDD[InternalRow] = {
    val routed = rows.mapPartitions { all =>
      val pair = new MutablePair[Int, InternalRow]
      all.map { case (part, row) => pair.update(part, row): Product2[Int, InternalRow] }
    }
    val dependency = new ShuffleDependency[Int, InternalRow, InternalRow](
      routed,
      new GivenPart(parts),
      new UnsafeRowSerializer(columns)
    )
    new ShuffledRowRDD(dependency, SQLShuffleReadMetricsReporter.createShuffleReadMetrics(rows.sparkContext))
  }

  /** The key is the part. */
  final class GivenPart(override val numPartitions: Int) extends Partitioner {
    override def getPartition(key: Any): Int = key.asInstanceOf[Int]
    override def equals(other: Any): Boolean = other match {
      case o: GivenPart => o.numPartitions == numPartitions
      case _            => false
    }
    override def hashCode: Int = numPartitions
  }

  /** A scan builder that is handed the query's filters as Spark's own expressions: Spark does so for builders of file
    * sources alone. The empty file index is never asked.
    */
  abstract class FilteredScanBuilder(spark: SparkSession, columns: StructType)
      extends FileScanBuilder(spark, new InMemoryFileIndex(spark, Nil, Map.empty, Some(new StructType)), columns)

  /** The pieces packed into input partitions of about `maxBytes` each, the largest first. */
  def pack(spark: SparkSession, pieces: Array[PartitionedFile], maxBytes: Long): Array[InputPartition] = {
    val bySize = pieces.sortBy(p => -p.length)
    FilePartition.getFilePartitions(spark, bySize.toSeq, maxBytes).toArray[InputPartition]
  }

  /** The same, known to hold rows of one value of the partition columns. */
  def keyed(input: InputPartition, key: InternalRow): InputPartition = input match {
    case f: FilePartition => new KeyedFilePartition(f.index, f.files, key)
    case other            => other
  }

  /** Spark's readers of files take it for what it extends. */
  final private class KeyedFilePartition(index: Int, files: Array[PartitionedFile], key: InternalRow)
      extends FilePartition(index, files)
      with HasPartitionKey {
    override def partitionKey(): InternalRow = key
  }

  /** Empty vectors to add rows to, with room for so many. */
  def vectors(rows: Int, columns: StructType): Array[WritableColumnVector] =
    OnHeapColumnVector.allocateColumns(rows, columns).map(v => v: WritableColumnVector)

  /** A row's values as vectors of `rows` rows each. */
  def constants(values: InternalRow, columns: StructType, rows: Int): Array[ColumnVector] =
    Array.tabulate(columns.length) { i =>
      val vector = new ConstantColumnVector(rows, columns(i).dataType)
      ColumnVectorUtils.populate(vector, values, i)
      vector
    }

  /** A column with one value in all rows.
    *
    * @param value in Spark's inner form
    */
  def constant(value: Any, dataType: DataType, rows: Int): ColumnVector =
    constants(InternalRow(value), StructType(Seq(StructField("value", dataType))), rows).head

  /** Rows in Spark's own form. Compiled whatever the session's settings: Spark's interpreter takes a null number inside a
    * struct of a batch for 0.
    */
  def unsafeRows(columns: StructType): InternalRow => UnsafeRow = {
    val projection = GenerateUnsafeProjection.generate(columns.zipWithIndex.map { case (f, i) =>
      BoundReference(i, f.dataType, nullable = true)
    })
    row => projection(row)
  }

  /** Rows to a batch of Spark's Parquet reader. */
  def batchRows(spark: SparkSession): Int = spark.sessionState.conf.parquetVectorizedReaderBatchSize

  /** The pieces of an input partition made by `pack`. */
  def piecesOf(input: InputPartition): Seq[PartitionedFile] = input match {
    case f: FilePartition => f.files.toSeq
    case _                => Seq.empty
  }
}
