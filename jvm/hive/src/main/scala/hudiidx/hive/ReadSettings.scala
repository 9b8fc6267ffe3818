package hudiidx.hive

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import hudiidx.InvalidOption
import hudiidx.sync.{IndexOptions, OptionDoc, OptionKind}
import hudiidx.table.query.{QueryInstant, QuerySettings}
import org.apache.hadoop.conf.Configuration

/** What a job's configuration says about reading tables.
  *
  * @param asOf          instant time of the query; None: the latest
  * @param mergesAs11    logs of tables of version 6 are merged by the rules of Hudi 1.1, not of 0.15
  * @param columnsByName files are read by the names of their columns, whatever a history of columns says
  * @param partitions    partition paths to read; None: all
  * @param keys          record keys to read; None: all
  * @param columns       names of the columns of a row, where Hive does not say; None: all
  */
private[hive] final case class ReadSettings(
    index: IndexOptions,
    readOptimized: Boolean,
    asOf: Option[String],
    mergesAs11: Boolean,
    columnsByName: Boolean,
    partitions: Option[Set[String]],
    keys: Option[Set[String]],
    columns: Option[Vector[String]]
)

private[hive] object ReadSettings {
  import QuerySettings._

  val Partitions = "hudiidx.read.partitions"
  val Keys = "hudiidx.read.keys"
  val Columns = "hudiidx.read.columns"
  private val QueryTypes = Vector(Snapshot, ReadOptimized)
  private val Releases = Vector("0.15", "1.1")
  private val schemaOnRead =
    OptionDoc(SchemaOnRead, OptionKind.Flag, "true", "`false`: files are read by the names of their columns.")
  private val mapper = new ObjectMapper

  /** InvalidOption for a value that is none. */
  def of(conf: Configuration): ReadSettings = {
    def text(name: String): Option[String] = Option(conf.getTrimmed(name)).filter(_.nonEmpty)
    val index = IndexOptions.Docs.map(_.name).flatMap(n => text(n).map(n -> _)).toMap
    ReadSettings(
      IndexOptions.of(index),
      readOptimized = one(QueryType, text(QueryType), QueryTypes) == ReadOptimized,
      asOf = text(AsOfInstant).map(QueryInstant.parse(AsOfInstant, _)),
      mergesAs11 = one(MergeRelease, text(MergeRelease), Releases) == Releases.last,
      columnsByName = !schemaOnRead.flag(text(SchemaOnRead).map(SchemaOnRead -> _).toMap),
      partitions = text(Partitions).map(list(Partitions, _).toSet),
      keys = text(Keys).map(list(Keys, _).toSet),
      columns = text(Columns).map(list(Columns, _))
    )
  }

  /** As the options above take several texts. */
  def json(texts: Seq[String]): String = mapper.writeValueAsString(texts.toArray)

  private def one(name: String, value: Option[String], known: Vector[String]): String = {
    val asked = value.fold(known.head)(_.toLowerCase)
    if (!known.contains(asked))
      throw new InvalidOption(s"$name: unsupported value '$asked'; supported: ${known.mkString(", ")}")
    asked
  }

  private def list(name: String, json: String): Vector[String] = {
    def refused = new InvalidOption(s"""$name: '$json' is not a JSON array of strings, such as ["a", "b"]""")
    val root =
      try mapper.readTree(json)
      catch { case _: java.io.IOException => throw refused }
    if (!root.isArray || !root.elements.asScala.forall(_.isTextual)) throw refused
    root.elements.asScala.map(_.asText).toVector
  }
}
