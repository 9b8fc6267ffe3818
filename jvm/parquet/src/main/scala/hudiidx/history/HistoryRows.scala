package hudiidx.history

import java.io.IOException
import java.nio.file.NoSuchFileException

import hudiidx.history.HistoryTimeline.HistoryKey
import hudiidx.parquet.{ParquetBlockRows, ReaderInputFile, StorageInputFile}
import hudiidx.storage.{RandomReader, Storage}
import hudiidx.{DamagedTable, TableChanged}
import org.apache.hadoop.conf.Configuration
import org.apache.parquet.example.data.Group
import org.apache.parquet.hadoop.ParquetReader
import org.apache.parquet.hadoop.api.ReadSupport
import org.apache.parquet.hadoop.example.GroupReadSupport
import org.apache.parquet.io.InputFile

/** Rows of one history file. */
private[hudiidx] object HistoryRows {
  private val KeyColumns =
    "message key { optional binary instantTime (STRING); optional binary completionTime (STRING); " +
      "optional binary action (STRING); }"
  private val ContentColumns =
    "message content { optional binary instantTime (STRING); optional binary metadata; }"

  /** Of a row, which has the content of an instant. */
  private val LeastBytes = 4
  private val FewRows = 1000L
  private val MostStepsBack = 100

  private final class Builder(file: InputFile, columns: String) extends ParquetReader.Builder[Group](file) {
    withConf(projection(columns))
    override def getReadSupport: ReadSupport[Group] = new GroupReadSupport
  }

  private def projection(columns: String): Configuration = {
    val conf = new Configuration(false)
    conf.set(ReadSupport.PARQUET_READ_SCHEMA, columns)
    conf
  }

  private def open(storage: Storage, path: String, columns: String): ParquetReader[Group] =
    new Builder(new StorageInputFile(storage, path), columns).build()

  /** Times and actions of all rows; the contents are not read. DamagedTable for more rows than the file's bytes can be: each is an instant. */
  def keys(storage: Storage, path: String): Vector[HistoryKey] = guarded(path) {
    val file = storage.open(path)
    try keys(file)
    finally file.close()
  }

  private def keys(file: RandomReader): Vector[HistoryKey] = {
    val path = file.path
    val most = FewRows + file.sizeBytes / LeastBytes
    val reader = new Builder(new ReaderInputFile(file), KeyColumns).build()
    try
      Iterator
        .continually(reader.read())
        .takeWhile(_ != null)
        .zipWithIndex
        .map { case (row, i) =>
          val time = text(row, "instantTime")
          val action = text(row, "action")
          if (time.isEmpty || action.isEmpty)
            throw new DamagedTable(s"$path: row $i has no instant time or action; restore the file from a backup")
          if (i >= most)
            throw new DamagedTable(
              s"$path: it has more rows than instants can be in its bytes; restore the file from a backup"
            )
          HistoryKey(time.get, text(row, "completionTime"), action.get, i.toLong)
        }
        .toVector
    finally reader.close()
  }

  private def text(row: Group, column: String): Option[String] =
    if (row.getFieldRepetitionCount(column) == 0) None else Some(row.getString(column, 0))

  /** Gives contents of rows by their keys; forward steps read on, a step back starts again. TableChanged if the file that has
    * the name now is not the one that the key is of. DamagedTable for rows that are in no order of time: stock Hudi puts files of some
    * instants, each in order, one behind the other.
    */
  final class Cursor(storage: Storage, path: String) {
    private var reader: ParquetReader[Group] = _
    private var next = 0L
    private var stepsBack = 0

    def contentOf(key: HistoryKey): Array[Byte] = guarded(path) {
      val row = key.row
      if (reader != null && row < next) {
        close()
        stepsBack += 1
        if (stepsBack > MostStepsBack)
          throw new DamagedTable(s"$path: its rows are in no order of time; restore the file from a backup")
      }
      if (reader == null) {
        reader = open(storage, path, ContentColumns)
        next = 0
      }
      var group: Group = null
      while (next <= row) {
        group = reader.read()
        if (group == null) throw new IOException(s"it ends before row $row")
        next += 1
      }
      if (!text(group, "instantTime").contains(key.requestedTime))
        throw new TableChanged(s"$path: another file has this name since its instants were read; read the table again")
      if (group.getFieldRepetitionCount("metadata") == 0) Array.emptyByteArray
      else group.getBinary("metadata", 0).getBytes
    }

    def close(): Unit = if (reader != null) {
      reader.close()
      reader = null
    }
  }

  private def guarded[A](path: String)(body: => A): A =
    try body
    catch {
      case e: NoSuchFileException =>
        throw new TableChanged(
          s"$path: gone since the manifest of the history was read; read the table again, and if it stays so restore the file",
          e
        )
      case e: Throwable => ParquetBlockRows.guarded(path)(throw e)
    }
}
