package hudiidx.engine.column

import scala.collection.JavaConverters._

import hudiidx.column._
import hudiidx.parquet.{FooterReader, ParquetBlockRows, ParquetFiles, ReaderInputFile}
import hudiidx.storage.RandomReader
import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.hadoop.metadata.{ColumnChunkMetaData, ColumnPath => ChunkPath, ParquetMetadata}
import org.apache.parquet.schema.{GroupType, PrimitiveType, Type}
import org.apache.parquet.{SemanticVersion, VersionParser}

/** Statistics of all columns of a Parquet file from its footer: one read. docs/format.md, "Where statistics come from".
  *
  * What a footer does not say, or says in a way that is known to have been wrong, is unknown: bounds of strings in signed
  * order and others that the release named in `created_by` got wrong (PARQUET-251; Parquet's own reader drops them),
  * timestamps of 96 bits, times, unsigned numbers. See [[Calendars]] for old days and [[FooterStats.marksNaN]] for floats.
  */
object FooterStats {

  /** Reads the footer. DamagedTable if it cannot be decoded. */
  def of(file: RandomReader): SourceStats = ParquetBlockRows.guarded(file.path) {
    val reader = ParquetFiles.open(new ReaderInputFile(new FooterReader(file)), file.path)
    try of(reader.getFooter)
    finally reader.close()
  }

  def of(footer: ParquetMetadata): SourceStats = {
    val schema = footer.getFileMetaData.getSchema
    val nanIsMarked = marksNaN(footer.getFileMetaData.getCreatedBy)
    val leaves = for {
      leaf <- schema.getColumns.asScala.toVector if leaf.getMaxRepetitionLevel == 0
      columnType <- ParquetTypes.columnType(leaf.getPrimitiveType)
    } yield new Leaf(leaf.getPath, leaf.getPrimitiveType, columnType, leaf.getMaxDefinitionLevel == 0, nanIsMarked)
    val byPath = leaves.map(l => l.chunk -> l).toMap
    val blocks = footer.getBlocks.asScala
    blocks.iterator.zipWithIndex.foreach { case (block, i) =>
      block.getColumns.asScala.foreach(c => byPath.get(c.getPath).foreach(_.add(i, c, block.getRowCount)))
    }
    val rows = blocks.map(_.getRowCount).sum
    SourceStats(
      rows,
      leaves.map(l => ColumnPath.of(l.path.toVector) -> TypedStats(l.columnType, l.result(blocks.size, rows))).toMap,
      names(schema)
    )
  }

  private[column] def names(group: GroupType): FieldNames = new FieldNames(
    group.getFields.asScala.map(f => f.getName.toLowerCase -> below(f)).toMap
  )

  private def below(field: Type): Option[FieldNames] =
    if (field.isPrimitive || field.isRepetition(Type.Repetition.REPEATED) || field.getLogicalTypeAnnotation != null)
      None
    else Some(names(field.asGroupType))

  /** True for writers that leave out the bounds of a column chunk in which a value is not a number (or give such a bound,
    * which Parquet's reader drops): parquet-mr since 1.10.0 (PARQUET-1246). Others leave out those values alone.
    */
  private[column] def marksNaN(createdBy: String): Boolean =
    try {
      val version = VersionParser.parse(createdBy)
      version.application == "parquet-mr" && version.hasSemanticVersion &&
      version.getSemanticVersion.compareTo(new SemanticVersion(1, 10, 0)) >= 0
    } catch { case _: VersionParser.VersionParseException | _: RuntimeException => false }
}

/** A column of a file in the making. */
private final class Leaf(
    val path: Array[String],
    primitive: PrimitiveType,
    val columnType: ColumnType,
    isRequired: Boolean,
    nanIsMarked: Boolean
) {
  val chunk: ChunkPath = ChunkPath.get(path: _*)
  private val builder = new StatsBuilder(columnType)
  private var blocks = 0
  private var isOnceInEach = true

  /** @param block number of the row group */
  def add(block: Int, chunk: ColumnChunkMetaData, rows: Long): Unit = {
    isOnceInEach &&= block == blocks
    blocks += 1
    val given: Statistics[_] = chunk.getStatistics
    val told = if (given != null && given.isNumNullsSet) given.getNumNulls else if (isRequired) 0L else -1L
    val nulls = if (told > rows) -1L else told
    val bounds =
      if (rows == 0 || nulls == rows) Bounds.NoValues
      else if (given == null || !given.hasNonNullValue) Bounds.Unknown
      else ParquetTypes.bounds(given, primitive, columnType, nanIsMarked)
    builder.add(ColumnStats(rows, nulls, bounds))
  }

  /** A footer that leaves the column out of a row group, or has it twice in one, says nothing of it. */
  def result(blocks: Int, rows: Long): ColumnStats =
    if (isOnceInEach && this.blocks == blocks) builder.result else ColumnStats(rows, -1, Bounds.Unknown)
}
