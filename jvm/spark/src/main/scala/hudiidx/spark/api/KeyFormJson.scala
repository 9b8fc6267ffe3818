package hudiidx.spark.api

import com.fasterxml.jackson.databind.node.JsonNodeFactory
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

/** How a table's record keys may be made of values, for callers that have values and no columns. */
private[api] object KeyFormJson {

  /** `{fields: [name], kinds: [kind], named: [flag], unknown}`: the key fields and what their columns hold ([[KeyValueKind]]); each
    * form that writers may have used, as `f1:v1,f2:v2` or as the one plain value; `unknown`: why none is known.
    */
  def of(spark: SparkSession, path: String, options: ReadOptions): String = {
    val config = SharedTable.open(spark, path, options.index).config
    val texts = KeyTexts.of(config)
    // Of a table whose rows cannot be told no value is known to be a key.
    val columns =
      try PinnedTable.open(spark, path, options).schema.struct
      catch { case _: UnsupportedTable => new StructType }
    val json = JsonNodeFactory.instance.objectNode()
    val (fields, kinds, named) = (json.putArray("fields"), json.putArray("kinds"), json.putArray("named"))
    config.recordKeyFields.foreach { f =>
      fields.add(f)
      kinds.add(kindOf(columns, f.split('.').toList).toString)
    }
    texts.foreach(_.forms.foreach(f => named.add(f.named)))
    json.put("unknown", texts.left.toOption.orNull).toString
  }

  private def kindOf(dataType: DataType, path: List[String]): KeyValueKind = (dataType, path) match {
    case (other, Nil)                => KeyReader.kindOf(other)
    case (s: StructType, name :: in) =>
      s.find(_.name == name).fold[KeyValueKind](KeyValueKind.Other)(f => kindOf(f.dataType, in))
    case _ => KeyValueKind.Other
  }
}
