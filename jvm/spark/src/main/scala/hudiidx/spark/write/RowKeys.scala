package hudiidx.spark.write

import hudiidx.InvalidOption
import hudiidx.log.{KeyValueKind, RecordKeyForm}
import hudiidx.spark.tag.KeyReader
import hudiidx.table.{KeyTexts, TableConfig}
import org.apache.spark.sql.catalyst.expressions.Expression

/** The record keys of rows that are written. */
private[write] object RowKeys {

  /** The form of new records' keys, then those that records in the table may have by other writers or settings. InvalidOption
    * for fields of whose values Hudi makes texts that differ by more than the settings say.
    *
    * @param fields by the names of the key fields
    */
  def forms(config: TableConfig, options: WriteOptions, fields: Seq[(String, Expression)]): Vector[RecordKeyForm] = {
    val given = WriteOptionDocs.keyTexts.flatMap(doc =>
      options.text(doc.name).map(v => doc.name -> doc.choice(Map(doc.name -> v)))
    )
    val stated = config.properties ++ given
    val texts = KeyTexts.of(config.copy(properties = stated)).fold(why => throw new InvalidOption(why), identity)
    val kinds = fields.map { case (name, e) => name -> KeyReader.kindOf(e.dataType) }
    val instants = kinds.filter(_._2 == KeyValueKind.Instant)
    if (instants.nonEmpty && !stated.contains(RecordKeyForm.ConsistentTimestamps))
      throw new InvalidOption(
        s"${RecordKeyForm.ConsistentTimestamps}: key field ${instants.head._1} is a timestamp, whose text is a number by Hudi's insert " +
          "and upsert, and formatted by its bulk_insert; say by this option which the table has: false for numbers, true for " +
          "formatted ones in the zone of this JVM"
      )
    val forms =
      texts
        .of(kinds.filterNot(_._2 == KeyValueKind.Instant))
        .fold(why => throw new InvalidOption(s"key fields: $why"), identity)
    if (instants.isEmpty) forms else forms.flatMap(f => Vector(f, f.copy(timestamps = !f.timestamps)))
  }
}
