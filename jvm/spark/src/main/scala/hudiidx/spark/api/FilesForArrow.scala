package hudiidx.spark.api

import hudiidx.{PlainType, UnsupportedTable, Widening}
import hudiidx.parquet.TimestampLabels
import hudiidx.spark.pinned.PinnedTable
import hudiidx.spark.read.KeptFooters
import hudiidx.spark.rows.{ColumnAdapter, RowShims}
import hudiidx.table.{HudiType, ReadableRows}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.parquet.schema.MessageType
import org.apache.spark.sql.types.{ArrayType, DataType, MapType, StructType}

/** What a table and its base files must not have if Arrow, which knows files alone, is to read from them what Spark does. */
private[api] object FilesForArrow {

  /** UnsupportedTable if files hold columns under other names than the table, or lack the columns of partitions. */
  def requireNames(table: PinnedTable): Unit = {
    table.names.foreach(names => ReadableRows.requireNamesOfFiles(table.path, names.history.renamed))
    if (table.config.dropPartitionColumns)
      throw new UnsupportedTable(
        s"${table.path}: the files lack the columns of partitions (${table.config.partitionFields.mkString(", ")}), which stand in " +
          "paths alone; read the table with Spark"
      )
  }

  /** UnsupportedTable if a file bears times under another unit's label, shreds variants, or has a column of a type that Arrow widens
    * to other values than Hudi. Reads the footers.
    */
  def requireColumns(table: PinnedTable, columns: StructType, files: Vector[String], conf: Configuration): Unit = {
    val variants = HudiType.columns(table.schema.avro).collect { case (parts, HudiType.Variant.name) => parts }
    java.util.Arrays.stream(files.toArray).parallel().forEach { file =>
      val said = KeptFooters.of(new Path(file), conf).getFileMetaData.getSchema
      if (table.schema.unsureTimes.nonEmpty) requireLabels(file, said, table)
      variants.foreach(requireWhole(file, said, _))
      requireSameValues(file, "", RowShims.columnsOf(said), columns)
    }
  }

  /** Readers that know files alone take times by the labels of files, and these are known to be wrong in some. */
  private def requireLabels(file: String, said: MessageType, table: PinnedTable): Unit =
    if (!(TimestampLabels.repaired(said, table.schema.avro) eq said))
      throw new UnsupportedTable(
        s"$file: its times bear the label of another unit than the table's schema gives them, which Spark and Hive repair as they " +
          "read, and Arrow cannot; read the table with Spark, or rewrite the file (stock Hudi's clustering or an upsert)"
      )

  /** Of shredded variants Arrow would give the parts that stand in no column of their own. */
  private def requireWhole(file: String, said: MessageType, variant: Seq[String]): Unit =
    if (said.containsPath((variant :+ HudiType.Variant.Shredded).toArray))
      throw HudiType.Variant.refused(file, variant.mkString("."), "Arrow")

  /** @param path of the column, with a dot behind it; empty for the columns themselves */
  private def requireSameValues(file: String, path: String, own: DataType, wanted: DataType): Unit =
    (own, wanted) match {
      case (f: StructType, t: StructType) =>
        for (c <- t; o <- f.find(_.name == c.name))
          requireSameValues(file, s"$path${c.name}.", o.dataType, c.dataType)
      case (f: ArrayType, t: ArrayType) =>
        requireSameValues(file, s"${path}element.", f.elementType, t.elementType)
      case (f: MapType, t: MapType) =>
        requireSameValues(file, s"${path}key.", f.keyType, t.keyType)
        requireSameValues(file, s"${path}value.", f.valueType, t.valueType)
      case _ =>
        for (from <- ColumnAdapter.plainOf(own); to <- ColumnAdapter.plainOf(wanted))
          if (!isArrows(from, to))
            throw new UnsupportedTable(
              s"$file: its column ${path.dropRight(1)} has type ${own.sql}, which the table has as ${wanted.sql}: Arrow makes other " +
                "values of it than Hudi does; read the table with Spark, or rewrite the file (stock Hudi's clustering or an upsert)"
            )
    }

  /** True if Arrow's value of the wider type is Hudi's, or Arrow refuses. It writes numbers otherwise, as 1e+20 and 0E-10. */
  private def isArrows(from: PlainType, to: PlainType): Boolean = (from, to) match {
    case _ if !Widening.isPossible(from, to)        => true
    case (PlainType.Float32 | PlainType.Float64, _) => false
    case (_: PlainType.Decimal, PlainType.Text)     => false
    case _                                          => true
  }
}
