package hudiidx.spark.api

import hudiidx.log.KeyValueKind
import hudiidx.UnsupportedTable
import hudiidx.spark.read.KeyReader
import hudiidx.spark.pinned.{PinnedTable, SharedTable}
import hudiidx.spark.options.ReadOptions
import hudiidx.table.KeyTexts
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.types.{DataType, StructType}

final private[api] case class KeyForm(json: String) extends AutoCloseable {
  override def close(): Unit = ()
}

/** How a table's record keys may be made of values, for callers that have values and no columns.
  *
  * @param fields  the key fields
  * @param kinds   what their columns hold ([[KeyValueKind]])
  * @param named   each form that writers may have used: as `f1:v1,f2:v2`, or as the one plain value
  * @param unknown why none is known
  */
private[api] final case class KeyFormAnswer(
    fields: Vector[String],
    kinds: Vector[String],
    named: Vector[Boolean],
    unknown: Option[String]
)

private[api] object KeyFormAnswer {
  def of(spark: SparkSession, path: String, options: ReadOptions): KeyFormAnswer = {
    val config = SharedTable.open(spark, path, options.index).config
    val texts = KeyTexts.of(config)
    // Of a table whose rows cannot be told no value is known to be a key.
    val columns =
      try PinnedTable.open(spark, path, options).schema.struct
      catch { case _: UnsupportedTable => new StructType }
    val fields = config.recordKeyFields.toVector
    KeyFormAnswer(
      fields,
      fields.map(f => kindOf(columns, f.split('.').toList).toString),
      texts.toOption.toVector.flatMap(_.forms.map(_.named)),
      texts.left.toOption
    )
  }

  private def kindOf(dataType: DataType, path: List[String]): KeyValueKind = (dataType, path) match {
    case (other, Nil)                => KeyReader.kindOf(other)
    case (s: StructType, name :: in) =>
      s.find(_.name == name).fold[KeyValueKind](KeyValueKind.Other)(f => kindOf(f.dataType, in))
    case _ => KeyValueKind.Other
  }
}
