package hudiidx.engine.column

import hudiidx.column._
import hudiidx.parquet.BaseFileKeys
import hudiidx.storage.RandomReader
import hudiidx.table.FileKind

/** A file's record of an index. */
final case class ColumnRecord(columns: Vector[IndexedColumn], bytes: Array[Byte])

/** Records of kinds other than `range`, made of all rows of a file.
  *
  *  @param specs of such kinds
  */
private[column] final class FileRecords(
    table: TableColumns,
    specs: Vector[IndexSpec],
    expressions: Map[String, RowExpression] = Map.empty
) {
  private val ofExpressions = new FileExpressions(table, expressions)

  /** Those that can be made; a file with values that are not certain has none. DamagedTable if it cannot be decoded. */
  def of(file: RandomReader, kind: FileKind): Vector[ColumnRecord] =
    if (specs.isEmpty) Vector.empty
    else
      RowSource.of(file, kind).fold(Vector.empty[ColumnRecord]) { found =>
        specs.flatMap { spec =>
          if (spec.columns.exists(ColumnExpression.isOne)) ofExpressions.record(spec, found, kind == FileKind.Log)
          else ofKeys(spec, found, kind).orElse(of(spec, found, kind == FileKind.Log))
        }
      }

  /** A base file with Hudi's own bloom filter of its record keys: the keys are not read. */
  private def ofKeys(spec: IndexSpec, sources: Vector[RowSource], kind: FileKind): Option[ColumnRecord] =
    sources match {
      case Vector(base: ParquetRows)
          if kind == FileKind.Parquet && spec.kind == BloomKind.name && spec.columns == FileRecords.Key && table.config.populateMetaFields =>
        HudiBloom.of(base.properties.get).flatMap(_.record(BloomKind.falsePositives(spec.options))).map { bytes =>
          ColumnRecord(Vector(IndexedColumn(FileRecords.Key.head, ColumnType.Text, spec.kind)), bytes)
        }
      case _ => None
    }

  private def of(spec: IndexSpec, sources: Vector[RowSource], isLog: Boolean): Option[ColumnRecord] =
    typesOf(spec, sources, isLog).filter(_ => areOfOneRow(spec, sources, isLog)).flatMap { types =>
      val columns = spec.columns.zip(types).map { case (path, t) => IndexedColumn(path, t, spec.kind) }
      IndexKind.find(spec.kind).flatMap { kind =>
        val creator = kind.creator(columns, spec.options)
        val row = new RowBuffer(types)
        // The paths of partitions may show null where the file has a value.
        if (spec.columns.exists(table.isPartitionColumn)) addNulls(creator, row, types.size)
        def add(): Unit = if (!row.hasUncertain) creator.add(row)
        // Our own kinds do not count how often a value comes.
        if (FileRecords.OfValues(spec.kind)) sources.foreach(_.foreachValue(spec.columns.head, row)(() => add()))
        else sources.foreach(_.foreach(spec.columns, row)(() => add()))
        val bytes = if (row.hasUncertain) Array.emptyByteArray else creator.finish()
        if (bytes.isEmpty) None else Some(ColumnRecord(columns, bytes))
      }
    }

  /** False where a row may have one column's value from another file than the other's, or from its path. */
  private def areOfOneRow(spec: IndexSpec, sources: Vector[RowSource], isLog: Boolean): Boolean =
    spec.columns.size == 1 ||
      !(spec.columns.exists(table.isPartitionColumn) || sources.exists(_.isPartial) || (isLog && table.mixesRows))

  private def addNulls(creator: IndexCreator, row: RowBuffer, columns: Int): Unit = {
    (0 until columns).foreach(row.setNull)
    creator.add(row)
  }

  /** The types of all columns, the same in all sources; None where one is not certain. */
  private def typesOf(spec: IndexSpec, sources: Vector[RowSource], isLog: Boolean): Option[Vector[ColumnType]] = {
    val types = spec.columns.map { path =>
      val presences = sources.map(_.presence(path))
      val there = presences.collect { case ColumnPresence.There(t) => t }.distinct
      val areKnown = presences.forall {
        case ColumnPresence.There(_)        => true
        case ColumnPresence.Absent(present) => table.readsNull(path, present)
        case ColumnPresence.Uncertain       => false
      }
      if (!areKnown || there.size > 1 || (isLog && table.mayMislabel(path))) None
      else there.headOption.orElse(table.columnType(path))
    }
    if (types.forall(_.isDefined)) Some(types.flatten) else None
  }
}

private object FileRecords {
  val Key: Vector[String] = Vector(BaseFileKeys.KeyColumn)
  val OfValues: Set[String] = Set(BloomKind.name, ValuesKind.name)
}
