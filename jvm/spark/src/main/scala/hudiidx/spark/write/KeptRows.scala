package hudiidx.spark.write

import scala.collection.mutable

import hudiidx.spark.shims.Shims
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.storage.StorageLevel

/** Rows on their way that are gone through several times, in memory and on disk until it is closed. Not in the session's cache:
  * that makes other queries wait for the jobs of this one.
  */
final private[write] class KeptRows(spark: SparkSession) extends AutoCloseable {
  private val kept = mutable.ArrayBuffer.empty[RDD[InternalRow]]

  def apply(rows: DataFrame): DataFrame = {
    val rdd = rows.queryExecution.toRdd.map(_.copy()).persist(StorageLevel.MEMORY_AND_DISK)
    kept += rdd
    Shims.rddFrame(spark, rows.schema, rdd)
  }

  override def close(): Unit = kept.foreach(_.unpersist(): Unit)
}
