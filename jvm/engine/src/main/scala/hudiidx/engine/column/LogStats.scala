package hudiidx.engine.column

import hudiidx.DamagedTable
import hudiidx.bytes.ByteSlice
import hudiidx.column.ColumnPath
import hudiidx.log._
import hudiidx.storage.RandomReader
import hudiidx.merge.HFileBlockRows
import org.apache.avro.Schema

/** Statistics of a log file's data blocks from their records, whether readers count the block or not: a rolled-back one only
  * widens the bounds. Deletes have no values. Format notes §6.
  */
private[column] object LogStats {

  /** One for each data block; None where bytes are no block, so that nothing is certain. DamagedTable if a block cannot be
    * decoded.
    *
    *  @param columns paths to look at; None: all
    */
  def of(file: RandomReader, columns: Option[Set[String]]): Option[Vector[SourceStats]] = {
    val plans = new LogPlans(columns)
    var sources = Vector.empty[SourceStats]
    var isWhole = true
    val blocks = LogFile.blocks(file)
    while (isWhole && blocks.hasNext) {
      val block = blocks.next()
      block.kind match {
        case LogBlockKind.Corrupt     => isWhole = false
        case LogBlockKind.ParquetData =>
          sources :+= FooterStats.of(LogFile.contentReader(file, block)).copy(isPartial = block.isPartial)
        case LogBlockKind.AvroData  => sources :+= avro(file, block, plans)
        case LogBlockKind.HFileData => sources :+= hfile(file, block, plans)
        case _                      => ()
      }
    }
    if (isWhole) Some(sources) else None
  }

  private def avro(file: RandomReader, block: LogBlock, plans: LogPlans): SourceStats = {
    val plan = plans.of(block, file.path)
    val fields = AvroFieldPlan.compile(plan.json, plan.names, file.path)
    val sinks = plan.newSinks()
    val row = fields.newRow()
    val records = new AvroRecords(file, block)
    while (records.next()) {
      fields.read(records.cursor, records.length, row)
      plan.add(row, sinks)
    }
    plan.stats(records.count.toLong, sinks, block.isPartial)
  }

  private def hfile(file: RandomReader, block: LogBlock, plans: LogPlans): SourceStats = {
    val plan = plans.of(block, file.path)
    val sinks = plan.newSinks()
    var rows = 0L
    HFileBlockRows.foreach(LogFile.contentReader(file, block), block, plan.names) { (_: ByteSlice, row: RowFields) =>
      rows += 1
      plan.add(LogPlans.avro(row), sinks)
    }
    plan.stats(rows, sinks, block.isPartial)
  }
}

/** Plans of the schemas in a file's blocks: there may be thousands of blocks, and few schemas. */
private final class LogPlans(columns: Option[Set[String]]) {
  private val known = new java.util.HashMap[String, LogPlan]

  def of(block: LogBlock, path: String): LogPlan =
    known.computeIfAbsent(
      LogPlans.schemaOf(block, path),
      json => new LogPlan(json, AvroFieldPlan.parse(json, path), columns)
    )
}

private[column] object LogPlans {
  def schemaOf(block: LogBlock, path: String): String = block.schema.getOrElse(
    throw new DamagedTable(s"$path: data block without a schema at offset ${block.offset}; restore the file")
  )

  def avro(row: RowFields): AvroRow = row match {
    case avro: AvroRow => avro
    case other         => throw new IllegalStateException(s"rows of HFile blocks are Avro, got $other")
  }
}

/** The columns of one writer's schema that are looked at. */
private final class LogPlan(val json: String, schema: Schema, columns: Option[Set[String]]) {
  private val leaves = for {
    (parts, leaf) <- AvroTypes.leaves(schema)
    path = ColumnPath.of(parts) if columns.forall(_(path))
    columnType <- AvroTypes.columnType(leaf)
  } yield (path, parts.mkString("."), columnType, AvroTypes.isMillis(leaf))
  private val readers = leaves.zipWithIndex.map { case ((_, _, t, isMillis), i) =>
    new AvroColumn(i, t, isMillis)
  }.toArray
  private val fields = AvroTypes.names(schema)

  /** As [[AvroFieldPlan]] names them. */
  val names: Vector[String] = leaves.map(_._2)

  def newSinks(): Array[StatsSink] = leaves.map(l => new StatsSink(l._3)).toArray

  def add(row: AvroRow, sinks: Array[StatsSink]): Unit = {
    var i = 0
    while (i < readers.length) {
      readers(i).addTo(sinks(i), row)
      i += 1
    }
  }

  def stats(rows: Long, sinks: Array[StatsSink], isPartial: Boolean): SourceStats = {
    val columns = leaves.zip(sinks).map { case ((path, _, columnType, _), sink) =>
      path -> TypedStats(columnType, sink.result)
    }
    SourceStats(rows, columns.toMap, fields, isPartial)
  }
}
