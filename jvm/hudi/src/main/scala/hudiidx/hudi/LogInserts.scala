package hudiidx.hudi

import hudiidx.engine.Tables
import hudiidx.table.{PropertiesFile, TableConfig}
import org.apache.spark.sql.SparkSession

/** Whether new records of a table may stand in logs alone, which all its writers must know. */
private[hudi] object LogInserts {

  /** What the write says, which the table keeps from then on; else what the table says.
    *
    * @param check of what holds, before the table keeps it
    */
  def settled(spark: SparkSession, tablePath: String, options: WriterOptions)(check: Boolean => Unit): Boolean = {
    val storage = Tables.access(spark.sessionState.newHadoopConf()).storage
    val table =
      if (storage.status(TableConfig.propertiesFile(tablePath)).isDefined) Some(TableConfig.read(storage, tablePath))
      else None
    val holds = options.logInserts.orElse(table.map(_.logInserts)).getOrElse(false)
    check(holds)
    if (table.exists(t => t.isMergeOnRead && t.logInserts != holds))
      PropertiesFile.update(storage, tablePath)(_ + (TableConfig.LogInserts -> holds.toString))
    holds
  }
}
