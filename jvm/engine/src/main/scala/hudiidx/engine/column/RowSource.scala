package hudiidx.engine.column

import hudiidx.column._
import hudiidx.log.{LogBlockKind, LogFile}
import hudiidx.storage.RandomReader
import hudiidx.table.FileKind

/** How a column of a table stands in one file or block. */
private[column] sealed trait ColumnPresence
private[column] object ColumnPresence {
  final case class There(columnType: ColumnType) extends ColumnPresence

  /** So many leading parts of its path are there. */
  final case class Absent(present: Int) extends ColumnPresence

  /** Its values, or what readers make of them, are not certain. */
  case object Uncertain extends ColumnPresence
}

/** Rows of a base file, or of a block of a log file, some columns at a time. */
private[column] trait RowSource {

  /** Rows have some columns and keep the others of older ones. */
  def isPartial: Boolean

  /** Type of a column that is there; None where its values have no order, too. */
  protected def columnType(path: String): Option[ColumnType]

  /** The fields that there are. */
  protected def names: FieldNames

  def presence(path: String): ColumnPresence = columnType(path) match {
    case Some(known) => ColumnPresence.There(known)
    case None        =>
      val parts = ColumnPath.parts(path)
      val present = names.present(parts)
      if (present < parts.size) ColumnPresence.Absent(present) else ColumnPresence.Uncertain
  }

  /** Calls `use` for each value that the column has, null too, each at least once; for all of its rows if it must be. */
  def foreachValue(path: String, row: RowBuffer)(use: () => Unit): Unit = foreach(Vector(path), row)(use)

  /** Calls `use` for each row, when `rows` has it: each column by its place in `paths`, null where it is not there. */
  def foreach(paths: Vector[String], row: RowBuffer)(use: () => Unit): Unit
}

/** The values of a row as [[ColumnType]] holds them. */
private[column] final class RowBuffer(types: Vector[ColumnType]) extends ColumnValues {
  private val nulls = new Array[Boolean](types.size)
  private val longs = new Array[Long](types.size)
  private val texts = new Array[Array[Byte]](types.size)
  private var column = 0

  /** A value came that its type cannot hold, or that readers may turn into another one. */
  var hasUncertain = false

  override def isNull(column: Int): Boolean = nulls(column)
  override def long(column: Int): Long = longs(column)
  override def text(column: Int): Array[Byte] = texts(column)

  /** Takes the value of one column. */
  def sink(place: Int): ValueSink = {
    column = place
    taking
  }

  def setNull(place: Int): Unit = nulls(place) = true

  private val taking = new ValueSink {
    override def addNull(): Unit = nulls(column) = true
    override def add(value: Long): Unit = {
      if (!Calendars.isCertain(types(column), value)) hasUncertain = true
      nulls(column) = false
      longs(column) = value
    }
    override def add(bytes: Array[Byte], from: Int, length: Int): Unit = {
      nulls(column) = false
      texts(column) = java.util.Arrays.copyOfRange(bytes, from, from + length)
    }
    override def addUnknown(): Unit = {
      hasUncertain = true
      nulls(column) = true
    }
  }
}

private[column] object RowSource {

  /** None for files whose rows are not known: with bytes that are no block, or of another format. */
  def of(file: RandomReader, kind: FileKind): Option[Vector[RowSource]] = kind match {
    case FileKind.Parquet                                => Some(Vector(new ParquetRows(file)))
    case FileKind.Log                                    => ofLog(file)
    case FileKind.Orc | FileKind.HFile | FileKind.CdcLog => None
  }

  /** Of a log file's data blocks; None where bytes are no block. Block by block as they are asked for. */
  def ofLog(file: RandomReader): Option[Vector[RowSource]] = {
    val blocks = LogFile.blocks(file).toVector
    if (blocks.exists(_.kind == LogBlockKind.Corrupt)) None
    else
      Some(blocks.collect {
        case b if b.kind == LogBlockKind.ParquetData => new ParquetRows(LogFile.contentReader(file, b), b.isPartial)
        case b if b.kind == LogBlockKind.AvroData || b.kind == LogBlockKind.HFileData => new AvroBlockRows(file, b)
      })
  }
}

/** Milliseconds become microseconds. */
private[column] object Millis {
  def add(sink: ValueSink, millis: Long): Unit = {
    val factor = ParquetTypes.MicrosPerMilli
    if (millis > Long.MaxValue / factor || millis < Long.MinValue / factor) sink.addUnknown()
    else sink.add(millis * factor)
  }
}
