package hudiidx.hudi

import hudiidx.engine.Tables
import hudiidx.table.{PropertiesFile, TableConfig}
import hudiidx.{InvalidOption, NotAHudiTable}
import org.apache.spark.sql.SparkSession

/** Options of ours among a table's properties. Stock Hudi puts these over the options of its write, so that whoever writes the table's
  * folder would say where an index is made and removed, and of what: they count for nothing.
  */
private[hudi] object TablePropertyOptions {

  /** What is wrong with a table's properties; None: there are no options among them. */
  def in(spark: SparkSession, tablePath: String): Option[String] =
    try {
      val storage = Tables.access(spark.sessionState.newHadoopConf()).storage
      val (file, properties) = PropertiesFile.read(storage, tablePath.stripSuffix("/"), PropertiesFile.DefaultPause)
      of(file, properties)
    } catch { case _: NotAHudiTable => None }

  /** Whether new records may stand in logs alone is the table's to say. */
  private def of(file: String, properties: Map[String, String]): Option[String] =
    properties.keys.filter(k => k.startsWith("hudiidx.") && k != TableConfig.LogInserts).toVector.sorted match {
      case Vector() => None
      case found    =>
        Some(
          s"$file: ${found.mkString(", ")}: options of a writer, which a table does not give; remove them from the table's properties, " +
            "and give them with the write"
        )
    }

  /** InvalidOption before a write, by file and names. */
  def refuse(spark: SparkSession, tablePath: String): Unit =
    in(spark, tablePath).foreach(why => throw new InvalidOption(why))
}
