package hudiidx.engine.column

import hudiidx.column._
import hudiidx.storage.RandomReader
import hudiidx.table.FileKind

/** What expressions of columns give for the rows of a file.
  *
  *  @param all by path
  */
private[column] final class FileExpressions(table: TableColumns, all: Map[String, RowExpression]) {

  /** Statistics of these expressions; those left out of which nothing is certain. DamagedTable if the file cannot be decoded. */
  def facts(paths: Vector[String], file: RandomReader, kind: FileKind): Vector[ColumnFact] = {
    val known = paths.filter(all.contains)
    if (known.isEmpty) Vector.empty
    else
      RowSource.of(file, kind).fold(Vector.empty[ColumnFact]) { sources =>
        known.flatMap(fact(_, sources, kind == FileKind.Log))
      }
  }

  private def fact(path: String, sources: Vector[RowSource], isLog: Boolean): Option[ColumnFact] = {
    val result = all(path).result
    val sink = new StatsSink(result)
    val rows = foreach(path, sources, isLog, sink)
    rows.map { n =>
      val found = sink.result
      // Rows that may keep older values, and those with several possible ones, have no number of nulls.
      val areCounted = found.rows == n && !mayBeNull(all(path), sources)
      ColumnFact(
        IndexedColumn(path, result, IndexKind.Range),
        ColumnStats(n, if (areCounted || found.nulls == 0) found.nulls else -1, found.bounds)
      )
    }
  }

  /** The record of a kind that looks at single values; None where nothing is certain, or the kind has nothing to say. */
  def record(spec: IndexSpec, sources: Vector[RowSource], isLog: Boolean): Option[ColumnRecord] = {
    val path = spec.columns.head
    for {
      expression <- all.get(path)
      kind <- IndexKind.find(spec.kind)
      column = IndexedColumn(path, expression.result, spec.kind)
      creator = kind.creator(Vector(column), spec.options)
      row = new RowBuffer(Vector(expression.result))
      _ <- foreach(path, sources, isLog, new RecordSink(creator, row)) if !row.hasUncertain
      bytes = creator.finish() if bytes.nonEmpty
    } yield ColumnRecord(Vector(column), bytes)
  }

  /** Hands over each value that a row of the table may have by this file. The number of the file's rows; None where values are not
    * certain.
    */
  private def foreach(path: String, sources: Vector[RowSource], isLog: Boolean, sink: ValueSink): Option[Long] = {
    val expression = all(path)
    if (!sources.forall(isCertain(expression, _, isLog))) None
    else {
      val row = new RowBuffer(expression.inputs.map(_._2))
      val evaluation = expression.newEvaluation()
      var rows = 0L
      evaluation.within {
        // The paths of partitions may show null where the file has a value.
        if (expression.inputs.exists(i => table.isPartitionColumn(i._1))) {
          expression.inputs.indices.foreach(row.setNull)
          evaluation.add(row, sink)
        }
        sources.foreach(_.foreach(expression.inputs.map(_._1), row) { () =>
          rows += 1
          if (!row.hasUncertain) evaluation.add(row, sink)
        })
      }
      if (row.hasUncertain) None else Some(rows)
    }
  }

  /** Readers give the expression's columns as the source has them, all of a row from one source. */
  private def isCertain(expression: RowExpression, source: RowSource, isLog: Boolean): Boolean = {
    val isOne = expression.inputs.size == 1
    val isWhole = isOne || !(source.isPartial || (isLog && table.mixesRows))
    isWhole && expression.inputs.forall { case (path, columnType) =>
      (isOne || !table.isPartitionColumn(path)) && !(isLog && table.mayMislabel(path)) &&
      (source.presence(path) match {
        case ColumnPresence.There(found)    => found == columnType || FileExpressions.widens(found, columnType)
        case ColumnPresence.Absent(present) => table.readsNull(path, present)
        case ColumnPresence.Uncertain       => false
      })
    }
  }

  /** A partial row has a null for what older rows may have, and a path may show null where the file has a value. */
  private def mayBeNull(expression: RowExpression, sources: Vector[RowSource]): Boolean =
    sources.exists(_.isPartial) || expression.inputs.exists(i => table.isPartitionColumn(i._1))
}

private object FileExpressions {

  /** The same number is held. */
  def widens(from: ColumnType, to: ColumnType): Boolean = from == ColumnType.Int32 && to == ColumnType.Int64
}

/** Adds each value to the record of a file. */
private final class RecordSink(creator: IndexCreator, row: RowBuffer) extends ValueSink {
  override def addNull(): Unit = {
    row.setNull(0)
    creator.add(row)
  }
  override def add(value: Long): Unit = {
    row.sink(0).add(value)
    creator.add(row)
  }
  override def add(bytes: Array[Byte], from: Int, length: Int): Unit = {
    row.sink(0).add(bytes, from, length)
    creator.add(row)
  }
  override def addUnknown(): Unit = row.hasUncertain = true
}
