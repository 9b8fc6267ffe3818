package hudiidx.spark.read

import hudiidx.spark.pinned.PinnedTable
import org.apache.spark.sql.connector.catalog.MetadataColumn
import org.apache.spark.sql.types._

/** How the columns of a scan come about.
  *
  *  @param data read from the files, the position of a row among them
  *  @param constants the same for all rows of a file, behind the others: columns whose value the path decides, the file's own path
  *  @param shown which of them are the scan's, in the order that was asked for: Spark deletes by a scan in the table's order
  *               alone. The others are read for the commit time
  */
final case class ScanColumns(data: StructType, constants: StructType, shown: Vector[Int]) {
  val all: StructType = StructType(data ++ constants)

  /** What the scan gives. */
  def output: StructType = StructType(shown.map { i =>
    if (all(i).name == ScanColumns.RowIndex) all(i).copy(name = ScanColumns.Position) else all(i)
  })

  /** The scan's columns are those that files are read for, in that order. */
  def isAsRead: Boolean = shown == all.indices.toVector
}

object ScanColumns {
  val CommitTime = "_hoodie_commit_time"
  val File = "_file"
  val Position = "_pos"

  /** Spark's Parquet reader fills a column of this name with the row's number in its file. */
  val RowIndex = "_tmp_metadata_row_index"

  private val fileField = StructField(File, StringType)
  private val positionField = StructField(Position, LongType)

  /** Columns that tables do not list; a table's own column of the same name hides one. */
  val Metadata: Array[MetadataColumn] = Array(
    new OwnMetadataColumn(fileField, "the base file that holds the row"),
    new OwnMetadataColumn(positionField, "the row's number in its base file, from 0")
  )

  /** The table's columns and those that it does not list. */
  def all(table: StructType): StructType =
    StructType(table ++ Seq(fileField, positionField).filterNot(f => table.fieldNames.contains(f.name)))

  /** @param required of `all` columns */
  def of(required: StructType, table: PinnedTable): ScanColumns = {
    val own = table.schema.struct.fieldNames.toSet
    def isConstant(name: String): Boolean = table.columnsOfPath(name) || (name == File && !own(File))
    val (constants, stored) = required.partition(f => isConstant(f.name))
    val data = stored.map(f => if (f.name == Position && !own(Position)) f.copy(name = RowIndex) else f)
    val hidden =
      if (table.increment.isEmpty || data.exists(_.name == CommitTime)) Seq.empty
      else Seq(table.schema.struct(CommitTime))
    val read = data ++ hidden
    val places = data.indices.iterator
    val behind = constants.indices.iterator.map(_ + read.length)
    val shown = required.map(f => if (isConstant(f.name)) behind.next() else places.next()).toVector
    ScanColumns(StructType(read), StructType(constants), shown)
  }
}

final private class OwnMetadataColumn(field: StructField, text: String) extends MetadataColumn {
  override def name(): String = field.name
  override def dataType(): DataType = field.dataType
  override def isNullable: Boolean = true
  override def comment(): String = text
}
