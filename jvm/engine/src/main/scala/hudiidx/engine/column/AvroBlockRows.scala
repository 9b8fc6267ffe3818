package hudiidx.engine.column

import hudiidx.bytes.ByteSlice
import hudiidx.column._
import hudiidx.log._
import hudiidx.storage.RandomReader
import hudiidx.merge.HFileBlockRows

/** Rows of an Avro block of a log file, or of an HFile block. */
private[column] final class AvroBlockRows(file: RandomReader, block: LogBlock) extends RowSource {
  override val isPartial: Boolean = block.isPartial
  private val json = LogPlans.schemaOf(block, file.path)
  private val schema = AvroFieldPlan.parse(json, file.path)
  private lazy val leaves = AvroTypes.leaves(schema).map(l => ColumnPath.of(l._1) -> l).toMap
  override protected lazy val names: FieldNames = AvroTypes.names(schema)

  override protected def columnType(path: String): Option[ColumnType] =
    leaves.get(path).flatMap(l => AvroTypes.columnType(l._2))

  override def foreach(paths: Vector[String], row: RowBuffer)(use: () => Unit): Unit = {
    val there = paths.filter(leaves.contains).distinct
    val fields = there.map(leaves(_)._1.mkString("."))
    val plan = AvroFieldPlan.compile(json, fields, file.path)
    val columns = paths.map { path =>
      leaves
        .get(path)
        .map { case (_, leaf) =>
          new AvroColumn(there.indexOf(path), AvroTypes.columnType(leaf).get, AvroTypes.isMillis(leaf))
        }
        .orNull
    }.toArray
    def take(avro: AvroRow): Unit = {
      var i = 0
      while (i < columns.length) {
        if (columns(i) == null) row.setNull(i) else columns(i).addTo(row.sink(i), avro)
        i += 1
      }
      use()
    }
    if (block.kind == LogBlockKind.HFileData)
      HFileBlockRows.foreach(LogFile.contentReader(file, block), block, fields) { (_: ByteSlice, found: RowFields) =>
        take(LogPlans.avro(found))
      }
    else {
      val avro = plan.newRow()
      val records = new AvroRecords(file, block)
      while (records.next()) {
        plan.read(records.cursor, records.length, avro)
        take(avro)
      }
    }
  }
}
