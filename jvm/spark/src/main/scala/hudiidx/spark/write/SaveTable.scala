package hudiidx.spark.write

import hudiidx.InvalidOption
import hudiidx.hadoop.Tables
import hudiidx.spark.{HudiIdxSource, HudiIdxTable}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.{DataFrame, SaveMode, SparkSession}

/** `df.write.format("hudiidx")`: what each save mode does. */
object SaveTable {

  /** @param options of the write; those of the session that begin with `hudiidx.` or `hoodie.` count too, these win */
  def run(spark: SparkSession, mode: SaveMode, options: Map[String, String], rows: DataFrame): Unit = {
    val path = pathOf(spark, options)
    val writer = new TableWriter(spark, path, optionsOf(spark, options))
    mode match {
      case SaveMode.Append                         => writer.write(rows)
      case SaveMode.Ignore if writer.exists        => ()
      case SaveMode.ErrorIfExists if writer.exists =>
        throw new InvalidOption(s"mode: there is a table at $path already; write with mode append, or overwrite it")
      case SaveMode.Overwrite => overwrite(spark, path, writer, rows)
      case _                  => writer.write(rows)
    }
  }

  /** The table's base path, qualified. */
  private[write] def pathOf(spark: SparkSession, options: Map[String, String]): String = {
    val given = options
      .collectFirst { case (k, v) if k.equalsIgnoreCase("path") => v }
      .getOrElse(
        throw new InvalidOption("path: a table's base path is needed, as in df.write.format(\"hudiidx\").save(path)")
      )
    Tables.qualified(given, spark.sessionState.newHadoopConf())
  }

  private[write] def optionsOf(spark: SparkSession, options: Map[String, String]): WriteOptions =
    WriteOptions.of(spark.conf.getAll.filter { case (k, _) => WriteOptions.isOfSession(k) } ++ options)

  /** The table that is there goes away, with all that belongs to it, and a new one is made. */
  private def overwrite(spark: SparkSession, path: String, writer: TableWriter, rows: DataFrame): Unit = {
    val storage = Tables.access(spark.sessionState.newHadoopConf()).storage
    val reads = rows.queryExecution.analyzed.collectLeaves().exists {
      case r: DataSourceV2Relation =>
        r.table match {
          case t: HudiIdxTable => t.name() == s"${HudiIdxSource.Name} $path"
          case _               => false
        }
      case _ => false
    }
    if (reads)
      throw new InvalidOption(
        s"mode: the rows are read from $path, which mode overwrite removes first; write to another path"
      )
    writer.checkNew(rows)
    if (writer.exists) storage.delete(path): Unit
    else if (storage.list(path).nonEmpty)
      throw new InvalidOption(s"path: $path holds files that are no Hudi table; give another path")
    writer.write(rows)
  }
}
