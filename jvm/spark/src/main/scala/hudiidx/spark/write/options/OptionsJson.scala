package hudiidx.spark.write.options

import scala.collection.immutable.ListMap

import hudiidx.answer.JsonEncoder
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

  /** The options by table. */
  def text: String = JsonEncoder.text(
    ListMap(Tables.map { case (table, options) =>
      table -> options.map(o => OptionRow(o.name, o.kind.text, o.default, o.meaning))
    }: _*)
  )
}

private final case class OptionRow(name: String, kind: String, default: String, meaning: String)
