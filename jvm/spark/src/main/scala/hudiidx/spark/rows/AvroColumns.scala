package hudiidx.spark.rows

import hudiidx.DamagedTable
import hudiidx.bytes.ByteCursor
import org.apache.avro.Schema
import org.apache.spark.sql.execution.vectorized.WritableColumnVector
import org.apache.spark.sql.types.StructType

/** Appends rows to column vectors straight from the Avro data of one writer's schema: no record object is made, and what is
  * not wanted is jumped over. For one thread. Made by `AvroColumns.compile`.
  */
final class AvroColumns private (fields: AvroFields, isPresent: Array[Boolean], whole: Boolean, where: String) {
  private var last: ByteCursor = new ByteCursor(Array.emptyByteArray, 0, 0, where, 0L, new DamagedTable(_))

  /** True if the writer's schema has column `column` of those that were asked for; else it is filled with its default. */
  def present(column: Int): Boolean = isPresent(column)

  /** Appends one value to each vector, from the datum of `length` bytes at the cursor. DamagedTable, with file and offset,
    * if it does not fit its schema: the vectors are then of no use any more.
    */
  def append(in: ByteCursor, length: Int, into: Array[WritableColumnVector]): Unit = {
    val end = in.position + length
    fields.append(in, into)
    if (in.position > end || (whole && in.position < end))
      in.fail(s"record of $length bytes has ${length + in.position - end} by its schema, the log is damaged; it ends")
  }

  /** As above, for bytes that have left their file. */
  def append(bytes: Array[Byte], offset: Int, length: Int, into: Array[WritableColumnVector]): Unit = {
    if (last.bytes ne bytes) last = new ByteCursor(bytes, 0, bytes.length, where, 0L, new DamagedTable(_))
    last.moveTo(offset)
    append(last, length, into)
  }
}

object AvroColumns {

  /** @param columns names and types as the table has them; the vectors come in this order
    * @param table   the table's schema: has the defaults of fields that the writer lacks (format notes §7.7); None: they
    *                are null
    * @param where   the file, for messages
    */
  def compile(
      writer: Schema,
      columns: StructType,
      table: Option[Schema],
      rules: ColumnRules,
      where: String
  ): AvroColumns = {
    if (writer.getType != Schema.Type.RECORD)
      throw new DamagedTable(s"$where: schema is of type ${writer.getType}, not a record; restore the file")
    val found = new AvroResolver(rules, where).fields(writer, columns, table.orNull, "", toEnd = false)
    new AvroColumns(found.read, found.present, found.toEnd, where)
  }
}
