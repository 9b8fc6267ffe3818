package hudiidx.spark.write

import hudiidx.InvalidOption
import hudiidx.engine.Tables
import hudiidx.spark.write.options.WriteOptions
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
      case SaveMode.Overwrite => overwrite(spark, path, writer, rows, options)
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
    WriteOptions.of(options, spark.conf.getAll)

  /** The rows take the place of those of the table that is there, or of its partitions that they touch, where Spark's setting of
    * overwrites says dynamic. All that there was stays until the new rows are there.
    */
  private def overwrite(
      spark: SparkSession,
      path: String,
      writer: TableWriter,
      rows: DataFrame,
      options: Map[String, String]
  ): Unit =
    if (writer.exists) writer.overwrite(rows, if (isDynamic(spark, options)) Overwrite.Dynamic else writer.overwritten)
    else writer.write(rows)

  private def isDynamic(spark: SparkSession, options: Map[String, String]): Boolean = options
    .collectFirst { case (k, v) if k.equalsIgnoreCase(DynamicOption) => v }
    .orElse(spark.conf.getOption(s"spark.sql.sources.$DynamicOption"))
    .exists(_.equalsIgnoreCase("dynamic"))

  private val DynamicOption = "partitionOverwriteMode"
}
