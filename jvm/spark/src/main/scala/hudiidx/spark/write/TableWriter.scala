package hudiidx.spark.write

import hudiidx.InvalidOption
import hudiidx.hadoop.Tables
import hudiidx.sync.TableContext
import hudiidx.table._
import hudiidx.write._
import org.apache.spark.sql.{DataFrame, SparkSession}

/** Writes rows to a table: one deltacommit, then the index is brought up behind it.
  *
  * @param path qualified
  */
final class TableWriter(spark: SparkSession, path: String, options: WriteOptions) {
  private val access = Tables.access(spark.sessionState.newHadoopConf())

  def exists: Boolean = access.storage.status(TableConfig.propertiesFile(path)).isDefined

  /** InvalidOption, as `write` where there is no table, and nothing is made. */
  def checkNew(rows: DataFrame): Unit =
    WriteSchema.ofNew(rows.drop(TableSchema.MetaColumns: _*).schema, WriteOptions.newTable(options, path).name): Unit

  /** Makes the table if there is none.
    *
    * @param batch the rows' number in a stream: nothing is done if the table has them
    */
  def write(rows: DataFrame, batch: Option[StreamBatch] = None): Unit = {
    if (!exists) WriteOptions.newTable(options, path).create(access.storage, path): Unit
    commit(batch)(_.run(rows, batch))
  }

  /** Changes rows of a table that is there.
    *
    * @param read what the changes were made from; WriteConflict if rows changed since
    */
  def change(changes: RowChanges, read: TableContext): Unit = commit(None)(_.run(changes, read))

  private def commit(batch: Option[StreamBatch])(work: RowWrite => Unit): Unit = {
    val config = TableConfig.read(access.storage, path)
    check(config)
    val open = OpenWrite.begin(access, path, options.heartbeat, options.lock)
    val write = open.orAbandon {
      // The table may have become another one meanwhile.
      check(open.table.config)
      if (batch.exists(_.isIn(open.table))) None else Some(new RowWrite(spark, path, options, open))
    }
    write.fold(open.abandon())(work)
    IndexUpdate.run(spark, path, options)
  }

  private def check(config: TableConfig): Unit = {
    WritableTable.check(path, config)
    requireSame(config)
  }

  /** Options that say what the table is not are mistakes. */
  private def requireSame(config: TableConfig): Unit = {
    def check(option: String, given: Vector[String], has: Vector[String]): Unit =
      if (given.nonEmpty && given != has)
        throw new InvalidOption(
          s"$option: '${given.mkString(",")}' for the table at $path, which has '${has.mkString(",")}'; leave the option out"
        )
    check(WriteOptions.KeyFields, options.list(WriteOptions.KeyFields), config.recordKeyFields)
    check(
      WriteOptions.PartitionFields,
      options.list(WriteOptions.PartitionFields).map(_.takeWhile(_ != ':')),
      config.partitionFields
    )
    check(WriteOptions.OrderingField, options.list(WriteOptions.OrderingField), TableLogRules.orderingFields(config))
    check(WriteOptions.TableType, options.list(WriteOptions.TableType), Vector(config.tableType.name))
  }
}
