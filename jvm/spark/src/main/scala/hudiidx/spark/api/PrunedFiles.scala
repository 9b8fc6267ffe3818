package hudiidx.spark.api

import java.io.IOException

import scala.collection.JavaConverters._

import com.fasterxml.jackson.core.JsonGenerator
import hudiidx.answer.{JsonEncoder, ListedFile}
import hudiidx.fs.HadoopStorage
import hudiidx.spark.pinned.ColumnStage
import hudiidx.spark.plan.{FilePlan, HudiIdxScan, PlanFacts}
import hudiidx.storage.Storage
import hudiidx.table.FileSlice
import hudiidx.{DamagedTable, UnsupportedTable}
import org.apache.spark.sql.catalyst.expressions.{Cast, Literal}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation
import org.apache.spark.sql.types.{DataType, LongType, StringType, StructType}
import org.apache.spark.sql.{DataFrame, Row, SparkSession}

/** The files that a query of one table reads, and which indexes decided that. */
private[spark] object PrunedFiles {

  /** `partition_path, file_id, file_name, kind` (`base` or `log`), `instant_time, size, decided_by`: the indexes that left files
    * out, the same in every row; empty if none did.
    */
  val schema: StructType = new StructType()
    .add("partition_path", StringType, nullable = false)
    .add("file_id", StringType, nullable = false)
    .add("file_name", StringType, nullable = false)
    .add("kind", StringType, nullable = false)
    .add("instant_time", StringType, nullable = false)
    .add("size", LongType, nullable = false)
    .add("decided_by", StringType, nullable = false)

  /** Of a query's only scan. A query that Spark knows to have no rows reads nothing. */
  def frame(query: DataFrame): DataFrame = {
    val rows = scanOf(query).toVector.flatMap { scan =>
      val by = decidedBy(scan.facts)
      scan.slices.flatMap(filesOf).map { f =>
        Row(f.partitionPath, f.fileId, f.fileName, f.kind, f.instantTime, f.size, by)
      }
    }
    query.sparkSession.createDataFrame(rows.asJava, schema)
  }

  /** `{files, decided_by}`, as in `frame`. */
  def write(plan: FilePlan, json: JsonGenerator): Unit = {
    json.writeStartObject()
    json.writeFieldName("files")
    JsonEncoder.writeAll(plan.slices.iterator.flatMap(filesOf), json)
    json.writeStringField("decided_by", decidedBy(plan.facts))
    json.writeEndObject()
  }

  /** Paths of the base files of a query's only scan. UnsupportedTable if one of its file slices has log files, DamagedTable if a file
    * is none.
    */
  def paths(query: DataFrame, tablePath: String): Vector[String] = paths(scanOf(query), tablePath, query.sparkSession)

  private def paths(scan: Option[HudiIdxScan], tablePath: String, spark: SparkSession): Vector[String] = {
    val storage = new HadoopStorage(spark.sessionState.newHadoopConf())
    scan.toVector.flatMap(_.slices).flatMap { slice =>
      if (slice.dataLogFiles.nonEmpty)
        throw new UnsupportedTable(
          s"$tablePath: file group ${slice.fileId} of partition '${slice.partitionPath}' has log files, and its rows are those of " +
            "all of them merged; compact the table, read it with Spark, or ask for the base files alone with read_optimized=True"
        )
      slice.baseFile.map { b =>
        val file = Storage.join(Storage.join(tablePath, slice.partitionPath), b.fileName)
        requireRegular(storage, file)
        file
      }
    }
  }

  /** Arrow would wait at a pipe for somebody to write to it, and Python could not end that. */
  private def requireRegular(storage: HadoopStorage, file: String): Unit =
    try storage.requireRegular(file)
    catch {
      case e: IOException =>
        throw new DamagedTable(s"${e.getMessage}; restore the base file from a copy or roll the table back", e)
    }

  /** For readers that know files alone. UnsupportedTable too as [[FilesForArrow]]. */
  def dataset(query: DataFrame, tablePath: String): DatasetAnswer = {
    val scan = scanOf(query)
    scan.foreach(s => FilesForArrow.requireNames(s.table))
    val files = paths(scan, tablePath, query.sparkSession)
    scan.foreach { s =>
      FilesForArrow.requireColumns(s.table, query.schema, files, query.sparkSession.sessionState.newHadoopConf())
    }
    DatasetAnswer(files, query.schema.json, scan.fold(Vector.empty[Map[String, String]])(fixed(_, query.schema)))
  }

  private def fixed(scan: HudiIdxScan, schema: StructType): Vector[Map[String, String]] =
    scan.slices.toVector.filter(_.baseFile.isDefined).map { slice =>
      scan.table.schema.values.named(slice.partitionPath).flatMap { case (name, value) =>
        schema.find(_.name == name).map(f => name -> text(value, f.dataType))
      }
    }

  private def text(value: Any, dataType: DataType): String =
    if (value == null) null else Cast(Literal(value, dataType), StringType).eval(null).toString

  /** As Spark would plan the query if it kept no rows of it: what `cache()` keeps has no files. */
  private def planOf(query: DataFrame): LogicalPlan = {
    val before = SparkSession.getActiveSession
    SparkSession.setActiveSession(query.sparkSession)
    try query.sparkSession.sessionState.optimizer.execute(query.queryExecution.analyzed.clone())
    finally before.fold(SparkSession.clearActiveSession())(SparkSession.setActiveSession)
  }

  private def scanOf(query: DataFrame): Option[HudiIdxScan] =
    planOf(query).collectFirst { case r: DataSourceV2ScanRelation => r.scan }.collect { case s: HudiIdxScan => s }

  private def filesOf(slice: FileSlice): Vector[ListedFile] = {
    val (partition, id) = (slice.partitionPath, slice.fileId)
    slice.baseFile.toVector.map(b => ListedFile(partition, id, b.fileName, "base", b.instantTime, b.sizeBytes)) ++
      slice.dataLogFiles.map(l => ListedFile(partition, id, l.fileName, "log", slice.baseInstantTime, l.sizeBytes))
  }

  private def decidedBy(facts: PlanFacts): String = {
    val partitions = if (facts.partitions.kept < facts.partitions.total) Vector("partitions") else Vector.empty
    val keys = if (facts.keys.groups.isDefined) Vector("record") else Vector.empty
    // Parts of a condition count superseded files of the index too.
    val leavesNothing = facts.columns.partitionsSkipped == 0 && facts.columns.filesSkipped == 0
    val columns = if (leavesNothing) Vector.empty else facts.columns.leaves.flatMap(ColumnStage.decided)
    (partitions ++ keys ++ columns).distinct.mkString(", ")
  }
}

/** @param schema the query's columns as Spark writes a schema in JSON, by whose names the files are to be read
  * @param fixed  for each path texts (or null) by the names of the columns whose value the path decides, whatever the file holds
  */
private[spark] final case class DatasetAnswer(paths: Vector[String], schema: String, fixed: Vector[Map[String, String]])
