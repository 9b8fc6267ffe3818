package hudiidx.spark.rows

import hudiidx.bytes.ByteSlice
import hudiidx.slice.{BlockOpener, BlockWalk}
import hudiidx.log.{AvroFieldPlan, AvroRecordWalk, AvroRecords, AvroRecordsAt, LogBlock, LogBlockKind}
import hudiidx.storage.RandomReader
import hudiidx.table.{ColumnNames, TableNames}
import hudiidx.{DamagedTable, UnsupportedTable}
import org.apache.avro.Schema
import org.apache.spark.sql.execution.vectorized.WritableColumnVector
import org.apache.spark.sql.types.StructType
import scala.collection.mutable

/** The rows of one data block of a log, as values of column vectors. */
abstract class BlockRows extends BlockWalk {

  /** Appends the current row: one value to each vector. */
  def append(into: Array[WritableColumnVector]): Unit

  /** The key that the file itself holds for the current row (HFile); null where keys are columns. Valid until `next`. */
  def key: ByteSlice
}

/** Opens data blocks as rows of the same columns. Keeps what it compiles for each schema. For one thread.
  *
  * @param columns names and types as the table has them
  * @param table   the table's schema, for defaults of absent fields; see `AvroColumns.compile`
  * @param names   what columns are called in blocks, where they were renamed
  */
final class BlockRowsReader(
    columns: StructType,
    table: Option[Schema],
    rules: ColumnRules,
    names: Option[TableNames] = None
) extends BlockOpener[BlockRows] {
  private val compiled = mutable.HashMap.empty[(String, Option[ColumnNames]), AvroColumns]

  /** The rows of a data block (Avro, HFile or Parquet); closing them leaves `reader` open.
    *
    * @param records of an Avro block alone, as in `BlockPart`
    */
  override def open(reader: RandomReader, block: LogBlock, records: Option[Array[Int]] = None): BlockRows =
    block.kind match {
      case LogBlockKind.AvroData =>
        val walk = records.fold[AvroRecordWalk](new AvroRecords(reader, block))(new AvroRecordsAt(reader, block, _))
        new AvroBlockRows(walk, avroColumns(reader.path, block))
      case LogBlockKind.HFileData   => new HFileBlockRows(reader, block, avroColumns(reader.path, block))
      case LogBlockKind.ParquetData => new ParquetBlockRows(reader, block, columns, rules, namesIn(block))
      case other                    =>
        throw new UnsupportedTable(s"${reader.path}: a block of kind $other at offset ${block.offset} holds no rows")
    }

  /** What decodes the rows of an Avro or HFile block. */
  def avroColumns(path: String, block: LogBlock): AvroColumns = {
    val json = block.schema.getOrElse(
      throw new DamagedTable(s"$path: log block without a schema at offset ${block.offset}; restore the file")
    )
    val own = namesIn(block)
    compiled.getOrElseUpdate(
      (json, own), {
        val named = own.fold(json)(ColumnNames.renamed(json, _))
        AvroColumns.compile(AvroFieldPlan.parse(named, path), columns, table, rules, path)
      }
    )
  }

  private def namesIn(block: LogBlock): Option[ColumnNames] =
    for (all <- names; instant <- block.instantTime; own <- all.of(instant)) yield own
}
