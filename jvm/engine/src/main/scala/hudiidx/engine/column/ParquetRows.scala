package hudiidx.engine.column

import scala.collection.JavaConverters._

import hudiidx.column._
import hudiidx.parquet.{FieldColumns, ParquetBlockRows, ParquetFiles, ReaderInputFile}
import hudiidx.storage.RandomReader
import org.apache.parquet.column.impl.ColumnReadStoreImpl
import org.apache.parquet.column.page.DictionaryPageReadStore
import org.apache.parquet.column.{ColumnDescriptor, ColumnReader, Dictionary}
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.metadata.{BlockMetaData, ColumnChunkMetaData}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName
import org.apache.parquet.schema.{MessageType, PrimitiveType}

/** Rows of a base file, or of a Parquet block of a log file. */
private[column] final class ParquetRows(file: RandomReader, override val isPartial: Boolean = false) extends RowSource {
  private lazy val schema: MessageType = reading(_.getFileMetaData.getSchema)
  override protected lazy val names: FieldNames = FooterStats.names(schema)
  private lazy val leaves: Map[String, ColumnDescriptor] =
    schema.getColumns.asScala.filter(_.getMaxRepetitionLevel == 0).map(c => ColumnPath.of(c.getPath.toSeq) -> c).toMap

  /** What writers put into the footer beside the schema. */
  lazy val properties: Map[String, String] = reading(_.getFileMetaData.getKeyValueMetaData.asScala.toMap)

  private def reading[A](use: ParquetFileReader => A): A = ParquetBlockRows.guarded(file.path) {
    val reader = ParquetFiles.open(new ReaderInputFile(file), file.path)
    try use(reader)
    finally reader.close()
  }

  override protected def columnType(path: String): Option[ColumnType] =
    leaves.get(path).flatMap(c => ParquetTypes.columnType(c.getPrimitiveType))

  override def foreach(paths: Vector[String], row: RowBuffer)(use: () => Unit): Unit = reading { reader =>
    val wanted = paths.map(leaves.get)
    val projection = FieldColumns.ofPaths(schema, wanted.flatten.map(_.getPath.toList))
    reader.setRequestedSchema(projection)
    val createdBy = reader.getFileMetaData.getCreatedBy
    var group = reader.readNextRowGroup()
    while (group != null) {
      val store = new ColumnReadStoreImpl(group, new FieldColumns.NoConverter(projection), projection, createdBy)
      val columns = wanted.map(_.map(d => new ParquetColumn(store.getColumnReader(d), d)).orNull).toArray
      var left = group.getRowCount
      while (left > 0) {
        var i = 0
        while (i < columns.length) {
          if (columns(i) == null) row.setNull(i) else columns(i).addTo(row.sink(i))
          i += 1
        }
        use()
        left -= 1
      }
      group = reader.readNextRowGroup()
    }
  }

  /** Where all values of a row group stand in its dictionary that is read, and no row. */
  override def foreachValue(path: String, row: RowBuffer)(use: () => Unit): Unit = leaves.get(path) match {
    case None             => foreach(Vector(path), row)(use)
    case Some(descriptor) =>
      val inDictionary = reading { reader =>
        reader.setRequestedSchema(FieldColumns.ofPaths(schema, Vector(descriptor.getPath.toList)))
        val chunks = reader.getRowGroups.asScala.map(b => b -> ParquetRows.chunk(b, descriptor))
        val isAll = chunks.forall(c => ParquetRows.isInDictionary(c._2))
        if (isAll) chunks.foreach { case (block, chunk) =>
          ParquetRows.values(reader, block, chunk, descriptor, row)(use)
        }
        isAll
      }
      if (!inDictionary) foreach(Vector(path), row)(use)
  }
}

private[column] object ParquetRows {

  private def chunk(block: BlockMetaData, descriptor: ColumnDescriptor): ColumnChunkMetaData =
    block.getColumns.asScala.find(_.getPath.toArray.sameElements(descriptor.getPath)).orNull

  private def isInDictionary(chunk: ColumnChunkMetaData): Boolean = chunk != null && {
    val pages = chunk.getEncodingStats
    pages != null && pages.hasDictionaryPages && !pages.hasNonDictionaryEncodedPages
  }

  private def values(
      reader: ParquetFileReader,
      block: BlockMetaData,
      chunk: ColumnChunkMetaData,
      descriptor: ColumnDescriptor,
      row: RowBuffer
  )(use: () => Unit): Unit = {
    val pages: DictionaryPageReadStore = reader.getDictionaryReader(block)
    val page = pages.readDictionaryPage(descriptor)
    val dictionary = page.getEncoding.initDictionary(descriptor, page)
    val column = new DictionaryColumn(dictionary, descriptor.getPrimitiveType)
    (0 to dictionary.getMaxId).foreach { id =>
      column.addTo(row.sink(0), id)
      use()
    }
    val counted = chunk.getStatistics != null && chunk.getStatistics.isNumNullsSet
    if (descriptor.getMaxDefinitionLevel > 0 && !(counted && chunk.getStatistics.getNumNulls == 0)) {
      row.setNull(0)
      use()
    }
  }
}

/** Hands over values of a column, whatever holds them. */
private abstract class ParquetValues(primitive: PrimitiveType) {
  private val name = primitive.getPrimitiveTypeName
  private val columnType = ParquetTypes.columnType(primitive).get
  private val isMillis = ParquetTypes.isMillis(primitive)

  protected def boolean: Boolean
  protected def int: Int
  protected def long: Long
  protected def float: Float
  protected def double: Double
  protected def binary: Array[Byte]

  protected def addValue(sink: ValueSink): Unit = columnType match {
    case ColumnType.Bool    => sink.add(if (boolean) 1L else 0L)
    case ColumnType.Float32 => sink.add(ColumnType.ofDouble(float.toDouble))
    case ColumnType.Float64 => sink.add(ColumnType.ofDouble(double))
    case d: ColumnType.Decimal if name != PrimitiveTypeName.INT32 && name != PrimitiveTypeName.INT64 =>
      val bytes = binary
      if (bytes.isEmpty) sink.addUnknown() else Decimals.add(sink, new java.math.BigInteger(bytes), d)
    case d: ColumnType.Decimal               => Decimals.add(sink, java.math.BigInteger.valueOf(number), d)
    case ColumnType.Text | ColumnType.Binary =>
      val bytes = binary
      sink.add(bytes, 0, bytes.length)
    case _ if isMillis => Millis.add(sink, number)
    case _             => sink.add(number)
  }

  private def number: Long = if (name == PrimitiveTypeName.INT32) int.toLong else long
}

/** A column of a row group, row by row. */
private final class ParquetColumn(reader: ColumnReader, descriptor: ColumnDescriptor)
    extends ParquetValues(descriptor.getPrimitiveType) {
  override protected def boolean: Boolean = reader.getBoolean
  override protected def int: Int = reader.getInteger
  override protected def long: Long = reader.getLong
  override protected def float: Float = reader.getFloat
  override protected def double: Double = reader.getDouble
  override protected def binary: Array[Byte] = reader.getBinary.getBytesUnsafe

  /** Hands over the value of the next row. */
  def addTo(sink: ValueSink): Unit = {
    if (reader.getCurrentDefinitionLevel < descriptor.getMaxDefinitionLevel) sink.addNull() else addValue(sink)
    reader.consume()
  }
}

/** The dictionary of a column in a row group. */
private final class DictionaryColumn(dictionary: Dictionary, primitive: PrimitiveType)
    extends ParquetValues(primitive) {
  private var id = 0
  override protected def boolean: Boolean = dictionary.decodeToBoolean(id)
  override protected def int: Int = dictionary.decodeToInt(id)
  override protected def long: Long = dictionary.decodeToLong(id)
  override protected def float: Float = dictionary.decodeToFloat(id)
  override protected def double: Double = dictionary.decodeToDouble(id)
  override protected def binary: Array[Byte] = dictionary.decodeToBinary(id).getBytes

  def addTo(sink: ValueSink, value: Int): Unit = {
    id = value
    addValue(sink)
  }
}
