package hudiidx.spark.write

import hudiidx.InvalidOption
import hudiidx.log.{KeyValueKind, RecordKeyForm}
import hudiidx.spark.read.KeyReader
import hudiidx.spark.shims.Shims
import hudiidx.spark.write.options.{WriteOperation, WriteOptionDocs, WriteOptions}
import hudiidx.table.{KeyTexts, TableConfig}
import hudiidx.write.NewTable
import org.apache.spark.sql.catalyst.expressions.{Cast, Expression}
import org.apache.spark.sql.types.{NullType, StringType}
import org.apache.spark.sql.{AnalysisException, DataFrame}

/** The record keys of rows that are written. */
private[write] object RowKeys {

  /** The fields of rows by their names, which may be nested. InvalidOption for one that they lack. */
  def fields(rows: DataFrame, names: Vector[String], path: String): Vector[Expression] = names.map { name =>
    try {
      val e = Shims.expression(rows, name)
      if (e.dataType == NullType) Cast(e, StringType) else e
    } catch {
      case e: AnalysisException =>
        throw new InvalidOption(
          s"$name: a key, partition or ordering field of the table at $path, which the rows do not have; they have " +
            rows.columns.mkString(", ") + "; add it to the rows, or name another where the table is made",
          e
        )
    }
  }

  /** InvalidOption for rows of which no keys can be made for a table that is to be made, or that lack a field of it. */
  def requireFields(rows: DataFrame, table: NewTable, options: WriteOptions, path: String): Unit = {
    val keys = table.keyFields.zip(fields(rows, table.keyFields, path))
    forms(TableConfig.of(path, table.properties), options, keys): Unit
    val ordering = if (options.operation == WriteOperation.Delete) None else table.orderingField
    fields(rows, table.partitionFields ++ ordering, path): Unit
  }

  /** InvalidOption for key fields of types whose values make no keys by any setting, of a table that is to be made of columns alone. */
  def requireKinds(columns: DataFrame, table: NewTable, options: WriteOptions, path: String): Unit = {
    val kinds = kindsOf(table.keyFields.zip(fields(columns, table.keyFields, path)))
    formsOf(TableConfig.of(path, table.properties ++ statedIn(options)), kinds): Unit
  }

  /** The form of new records' keys, then those that records in the table may have by other writers or settings. InvalidOption
    * for fields of whose values Hudi makes texts that differ by more than the settings say.
    *
    * @param fields by the names of the key fields
    */
  def forms(config: TableConfig, options: WriteOptions, fields: Seq[(String, Expression)]): Vector[RecordKeyForm] = {
    val stated = config.properties ++ statedIn(options)
    val kinds = kindsOf(fields)
    val instants = kinds.filter(_._2 == KeyValueKind.Instant)
    if (instants.nonEmpty && !stated.contains(RecordKeyForm.ConsistentTimestamps))
      throw new InvalidOption(
        s"${RecordKeyForm.ConsistentTimestamps}: key field ${instants.head._1} is a timestamp, whose text is a number by Hudi's insert " +
          "and upsert, and formatted by its bulk_insert; say by this option which the table has: false for numbers, true for " +
          "formatted ones in the zone of this JVM"
      )
    val forms = formsOf(config.copy(properties = stated), kinds)
    if (instants.isEmpty) forms else forms.flatMap(f => Vector(f, f.copy(timestamps = !f.timestamps)))
  }

  /** What the options say of the texts of values. */
  private def statedIn(options: WriteOptions): Vector[(String, String)] = WriteOptionDocs.keyTexts.toVector.flatMap {
    doc =>
      options.text(doc.name).map(v => doc.name -> doc.choice(Map(doc.name -> v)))
  }

  private def kindsOf(fields: Seq[(String, Expression)]): Seq[(String, KeyValueKind)] =
    fields.map { case (name, e) => name -> KeyReader.kindOf(e.dataType) }

  /** Timestamps are left to the caller. */
  private def formsOf(config: TableConfig, kinds: Seq[(String, KeyValueKind)]): Vector[RecordKeyForm] = {
    val texts = KeyTexts.of(config).fold(why => throw new InvalidOption(why), identity)
    texts
      .of(kinds.filterNot(_._2 == KeyValueKind.Instant))
      .fold(why => throw new InvalidOption(s"key fields: $why"), identity)
  }
}
