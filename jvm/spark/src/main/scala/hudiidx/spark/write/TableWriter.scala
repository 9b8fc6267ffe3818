package hudiidx.spark.write

import java.io.IOException

import hudiidx.spark.write.options.{TableShape, WriteOperation, WriteOptions}
import hudiidx.{Causes, HudiIdxException, InvalidOption, Log, UnsupportedTable}
import hudiidx.engine.Tables
import hudiidx.spark.PinnedState
import hudiidx.storage.Storage
import hudiidx.sync.TableContext
import hudiidx.table._
import hudiidx.write._
import org.apache.spark.sql.execution.datasources.v2.{DataSourceV2Relation, DataSourceV2ScanRelation}
import org.apache.spark.sql.{DataFrame, SparkSession}
import scala.util.control.NonFatal

/** Writes rows to a table: one deltacommit, or replacecommit, then the index is brought up behind it.
  *
  * @param path qualified
  */
final class TableWriter(spark: SparkSession, path: String, options: WriteOptions) {
  private val access = Tables.access(spark.sessionState.newHadoopConf())

  def exists: Boolean = typed(access.storage.isThere(TableConfig.propertiesFile(path)))

  private def typed[A](part: => A): A = FailedWrite.typed(path, "the write")(part)

  private def thenIndex(write: => Unit): Unit = {
    typed(write)
    IndexUpdate.run(spark, path, options.isGlobal, options.createsIndex, options.index)
  }

  /** Makes the table if there is none; where it cannot take its first rows there is none again.
    *
    * @param batch the rows' number in a stream: nothing is done if the table has them
    */
  def write(rows: DataFrame, batch: Option[StreamBatch] = None): Unit = thenIndex {
    val made = if (exists) None else make(rows)
    try
      Overwrite
        .of(options.operation)
        .fold(commit(batch, None)(_.run(rows, batch, Vector.empty)))(replace(rows, _, batch))
    catch {
      case e: Throwable if TableWriter.isOfRows(e) =>
        try made.foreach(takeBack(_))
        catch { case NonFatal(left) => e.addSuppressed(left) }
        throw e
    }
  }

  /** InvalidOption for rows that such a table cannot take, before it is made: its properties would stand against the next try.
    *
    * @return the folder that it was made with, of which nothing was there before; None: there was, or another writer made the table
    */
  private def make(rows: DataFrame): Option[String] = {
    val table = WriteOptions.newTable(options, path)
    val columns = RowWrite.withoutMeta(rows)
    WriteSchema.ofNew(columns.schema, table.name): Unit
    RowKeys.requireFields(columns, table, options, path)
    val before = access.storage.list(path).map(_.name)
    requireNoOthers(before)
    if (!table.create(access.storage, path) || before.contains(TableConfig.HoodieFolder)) None
    else Some(if (before.isEmpty) path else Storage.join(path, TableConfig.HoodieFolder))
  }

  /** Rows of a Parquet folder would not be the table's, and its files would lie among those of the table. What begins with `_` or `.` is
    * no data, as a checkpoint.
    */
  private def requireNoOthers(names: Vector[String]): Unit =
    if (!names.contains(TableConfig.HoodieFolder))
      names.find(n => !n.startsWith("_") && !n.startsWith(".")).foreach { name =>
        throw new InvalidOption(
          s"path: $path holds $name and is not a Hudi table; give another path, or move what is there away"
        )
      }

  /** Takes away the table that was made for rows which did not come, unless others have written to it.
    *
    * @param made the folder that was made for it
    */
  def takeBack(made: String = path): Unit =
    if (
      !FailedWrite.typed(path, "taking the table back", "it stays")(
        OpenWrite.takeBack(access, path, options.heartbeat, options.lock, made)
      )
    )
      TableWriter.log.warn("{}: the table stays, others write to it", path)

  /** What mode `overwrite` replaces. */
  def overwritten: Overwrite = Overwrite.of(options.operation).getOrElse(Overwrite.WholeTable)

  /** Puts rows in the place of those of a table that is there. All that there was is read until the end, by the rows too. */
  def overwrite(rows: DataFrame, what: Overwrite, batch: Option[StreamBatch] = None): Unit = thenIndex {
    replace(rows, what, batch)
  }

  private def replace(rows: DataFrame, what: Overwrite, batch: Option[StreamBatch]): Unit = {
    if (options.operation == WriteOperation.Delete) throw WriteOptions.noRows
    val whole = what == Overwrite.WholeTable && options.remakes
    commit(batch, Some(if (whole) anew() else what))(_.run(rows, batch, TableWriter.reads(rows)))
  }

  /** Changes rows of a table that is there.
    *
    * @param read what the changes were made from; WriteConflict if rows changed since
    */
  def change(changes: RowChanges, read: TableContext): Unit = thenIndex(commit(None, None)(_.run(changes, read)))

  private def commit(batch: Option[StreamBatch], overwrite: Option[Overwrite])(work: RowWrite => Unit): Unit = {
    val isSame = !overwrite.exists { case Overwrite.Anew(made) => made.isDefined; case _ => false }
    def check(config: TableConfig): Unit = if (isSame) {
      try WritableTable.check(path, config, options.logInserts.getOrElse(config.logInserts))
      catch {
        case e: UnsupportedTable if overwrite.contains(Overwrite.WholeTable) =>
          throw new UnsupportedTable(s"${e.getMessage}; or make the table anew with ${WriteOptions.Remake}=true", e)
      }
      requireSame(config, overwrite)
    }
    check(TableConfig.read(access.storage, path))
    val kind = if (overwrite.isEmpty) WriteKind.Delta else WriteKind.Replace
    val open = OpenWrite.begin(access, path, options.heartbeat, options.lock, kind)
    val write = open.abortOnFailure {
      check(open.table.config) // it may be another table by now
      if (isSame) RemadeTable.requireCommit(open.table)
      val again = batch.filter(_.isIn(open.table))
      again.foreach { b =>
        TableWriter.log.warn(
          "{}: batch {} of the stream '{}' is in the table, its rows are skipped",
          path,
          b.number.id,
          b.writer
        )
      }
      if (again.isDefined) None else Some(new RowWrite(spark, path, options, open, overwrite))
    }
    write.fold(open.abandon())(work)
  }

  /** Options that say what the table is not are mistakes. */
  private def requireSame(config: TableConfig, overwrite: Option[Overwrite]): Unit = {
    val names = if (overwrite.isDefined) TableShape.All else TableShape.OfEveryWrite
    TableShape.differences(names, options, config).headOption.foreach { case (option, given, has) =>
      throw new InvalidOption(
        s"$option: '$given' for the table at $path, which has '$has'; leave the option out${overwrite.fold("")(_.remedy)}"
      )
    }
  }

  /** Another table in the place of this one, or this one with other columns. InvalidOption where the first cannot be done in one step. */
  private def anew(): Overwrite = {
    val table = TableContext.load(access, path)
    val config = table.config
    val made = TableShape.anew(options, path, config)
    val isSame = TableShape.differences(TableShape.All, options, config).isEmpty && isWritable(config) &&
      !RemadeTable.isUndone(table)
    if (!isSame) RemadeTable.requireServed(path, made)
    Overwrite.Anew(if (isSame) None else Some(made))
  }

  private def isWritable(config: TableConfig): Boolean =
    try {
      WritableTable.check(path, config, options.logInserts.getOrElse(config.logInserts))
      true
    } catch { case _: UnsupportedTable => false }
}

private object TableWriter {
  private val log = Log.of(classOf[TableWriter])

  /** The write or its rows are none for the table, or the rows cannot be computed: nothing that a store, another writer or whoever
    * stopped the write has done, of which something may be there.
    */
  private def isOfRows(e: Throwable): Boolean = {
    val causes = Causes.of(e)
    causes.exists(_.isInstanceOf[InvalidOption]) || (NonFatal(e) && !causes.exists {
      case _: HudiIdxException | _: IOException | _: InterruptedException => true
      case _                                                              => false
    })
  }

  /** Tables as rows are read from them by hudiidx. Whoever else reads one does not tell of what moment. */
  def reads(rows: DataFrame): Vector[TableContext] = {
    val tables = rows.queryExecution.analyzed.collectWithSubqueries {
      case r: DataSourceV2Relation     => r.table
      case r: DataSourceV2ScanRelation => r.relation.table
    }
    tables.collect { case t: PinnedState => t.pinned.shared.context }.distinct.toVector
  }
}
