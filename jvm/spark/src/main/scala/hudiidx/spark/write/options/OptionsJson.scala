package hudiidx.spark.write.options

import com.fasterxml.jackson.databind.node.JsonNodeFactory
import hudiidx.spark.options.{ReadOptions, ReadPushdowns}
import hudiidx.sync.{IndexOptions, OptionDoc}

/** All options, by the tables of docs/options.md that they stand in: the page is made of this. */
object OptionsJson {

  val Tables: Vector[(String, Vector[OptionDoc])] = Vector(
    "index" -> (IndexOptions.Docs ++ ReadOptions.OwnDocs),
    "scan" -> ReadPushdowns.Docs,
    "reader" -> ReadOptions.ReaderDocs,
    "write" -> WriteOptionDocs.All
  )

  /** `{table: [{name, kind, default, meaning}]}` */
  def text: String = {
    val json = JsonNodeFactory.instance.objectNode()
    Tables.foreach { case (table, options) =>
      val rows = json.putArray(table)
      options.foreach { o =>
        rows
          .addObject()
          .put("name", o.name)
          .put("kind", o.kind.text)
          .put("default", o.default)
          .put("meaning", o.meaning)
      }
    }
    json.toString
  }
}
