package hudiidx.engine.column

import java.io.IOException
import java.math.BigInteger
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.NoSuchFileException
import java.security.MessageDigest

import hudiidx.{HudiIdxException, Log}
import hudiidx.column._
import hudiidx.storage.{FileInfo, Storage, ToldSize}
import hudiidx.table.{FileEntry, FileKind}

/** What is read of one file.
  *
  *  @param rows -1 if unknown
  */
private[column] final case class ReadFile(
    file: FileEntry,
    rows: Long,
    facts: Vector[ColumnFact],
    records: Vector[ColumnRecord]
)

/** What tasks must know to read the columns of a table's files; sent to them.
  *
  *  @param specs       the indexes that are made
  *  @param expressions those of them that can be evaluated, by path
  *  @param never       columns of which nothing is taken, whatever the indexes say
  */
private[column] final case class ColumnWork(
    tablePath: String,
    table: TableColumns,
    specs: Vector[IndexSpec],
    expressions: Map[String, RowExpression] = Map.empty,
    never: NeverColumns = NeverColumns.None
) {
  private def ranges: Vector[IndexSpec] = allowed.filter(_.kind == IndexKind.Range)
  private def others: Vector[IndexSpec] = allowed.filter(_.kind != IndexKind.Range)

  /** An expression is judged by the columns that it takes too, where they are known. */
  private lazy val allowed: Vector[IndexSpec] = {
    val barred = expressions.collect { case (path, e) if e.inputs.exists(i => never.forbids(i._1)) => path }.toSet
    never.allowed(specs).flatMap { s =>
      if (s.kind == IndexKind.Range) Some(s.copy(columns = s.columns.filterNot(barred))).filter(_.columns.nonEmpty)
      else Some(s).filterNot(_.columns.exists(barred))
    }
  }

  def hasRanges: Boolean = ranges.nonEmpty
  def hasRecords: Boolean = others.nonEmpty

  @transient private lazy val columns: FileColumns = {
    val named = ranges.flatMap(_.columns).distinct.filterNot(ColumnExpression.isOne)
    new FileColumns(table, named.filterNot(_ == IndexSpec.All), named.contains(IndexSpec.All), never)
  }

  private lazy val ranged: Vector[String] = ranges.flatMap(_.columns).distinct.filter(ColumnExpression.isOne)

  @transient private lazy val computed = new FileExpressions(table, expressions)

  @transient private lazy val records = new FileRecords(table, others, expressions)

  /** Of all that decides what is taken of a file. */
  def digest: String = {
    val sha = MessageDigest.getInstance("SHA-256")
    (specs.map(_.text) ++ expressions.keys.toVector.sorted ++ table.avroJson ++ never.paths).foreach(t =>
      sha.update((t + "\n").getBytes(UTF_8))
    )
    new BigInteger(1, sha.digest()).toString(36).take(16)
  }

  /** Columns of a file, about. */
  def width: Int = math.max(1, ranges.map(r => if (r.isAll) table.all.size else r.columns.size).sum + others.size)

  /** A log may be longer than it is told to be, and be read to its end without a fault. */
  private def toldBytes(file: FileEntry): Long = if (file.kind == FileKind.Parquet) file.sizeBytes else 0L

  /** The file as `read` opens it, where its size is told. */
  def fileOf(file: FileEntry): Option[FileInfo] =
    Some(FileInfo(FileColumns.pathOf(tablePath, file), toldBytes(file), 0L, isDirectory = false))

  /** Of a file that is gone or cannot be read nothing is known: the table's readers will tell what is wrong with it. */
  def read(storage: Storage, file: FileEntry): ReadFile =
    try
      if (file.kind == FileKind.CdcLog) ReadFile(file, 0, Vector.empty, Vector.empty)
      else
        ToldSize.opening(storage, FileColumns.pathOf(tablePath, file), toldBytes(file)) { reader =>
          try {
            val found = if (hasRanges) columns.facts(reader, file.kind) else FileFacts(-1, Vector.empty)
            val values = if (hasRanges) computed.facts(ranged, reader, file.kind) else Vector.empty
            ReadFile(file, found.rows, found.facts ++ values, records.of(reader, file.kind))
          } finally reader.close()
        }
    catch {
      case _: NoSuchFileException                     => ReadFile(file, -1, Vector.empty, Vector.empty)
      case e @ (_: HudiIdxException | _: IOException) =>
        ColumnWork.log.warn(s"nothing of this file is indexed, queries read it: $e")
        ReadFile(file, -1, Vector.empty, Vector.empty)
    }
}

private object ColumnWork {
  private val log = Log.of(classOf[ColumnWork])
}
