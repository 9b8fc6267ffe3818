package hudiidx.store

import scala.collection.JavaConverters._

import com.fasterxml.jackson.core.JsonProcessingException
import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.{ArrayNode, JsonNodeFactory}
import hudiidx.{DamagedIndex, HashSpread, WholeNumber}
import hudiidx.storage.Storage

/** An instant by what names it on a timeline. */
final case class InstantId(requestedTime: String, action: String) {
  private[store] def text: String = s"$requestedTime.$action"
}

/** Which instants an index version has taken in.
  *
  *  @param watermark every completed instant requested up to and including this time is covered...
  *  @param pending   ...except these, which were pending when the version was made
  *  @param covered   covered instants above the watermark, oldest first, at most [[Coverage.MaxListed]]
  */
final case class Coverage(watermark: String, pending: Vector[InstantId], covered: Vector[InstantId]) {
  private val listed = Coverage.names(covered)
  private val excepted = Coverage.names(pending)

  def covers(id: InstantId): Boolean =
    if (id.requestedTime <= watermark) !excepted.contains(id.text) else listed.contains(id.text)

  /** The newest covered requested time; empty if nothing is covered. */
  def last: String = covered.lastOption.map(_.requestedTime).getOrElse(watermark)
}

object Coverage {

  /** So many instants are listed by name; older ones fall under the watermark. An instant that turns up late would have
    *  to be older than all of these to be missed.
    */
  val MaxListed = 1000

  /** Java's sets keep texts of one hash code in a tree. */
  private def names(ids: Vector[InstantId]): java.util.Set[String] =
    new java.util.HashSet(ids.map(_.text).asJava)

  /** Coverage of all `completed` instants (oldest first), made while `pending` ones were under way. */
  def of(completed: Vector[InstantId], pending: Vector[InstantId]): Coverage = {
    val (old, recent) = completed.splitAt(completed.size - MaxListed)
    val watermark = old.lastOption.map(_.requestedTime).getOrElse("")
    Coverage(watermark, pending.filter(_.requestedTime <= watermark), recent.filter(_.requestedTime > watermark))
  }
}

/** A file that belongs to an index version; `name` is relative to the index folder. */
final case class IndexFile(name: String, kind: String, sizeBytes: Long)

/** The table that an index was made from, as far as its properties tell: stock Hudi sets the database in passing. */
final case class TableIdentity(name: String, tableType: String) {
  def text: String = s"$name ($tableType)"
}

/** One published state of an index: what `versions/<20 digits>.json` holds. docs/format.md, "Index version".
  *
  *  @param number     position in the sequence of versions, from 1
  *  @param properties settings and statistics of the parts (page sizes, counts), by dotted name
  */
final case class IndexVersion(
    number: Long,
    table: TableIdentity,
    coverage: Coverage,
    files: Vector[IndexFile],
    properties: Map[String, String],
    createdAtMillis: Long,
    writer: String
) {

  def file(kind: String): Option[IndexFile] = files.find(_.kind == kind)

  def long(property: String): Long = number(property).getOrElse(0L)

  /** One of [[IndexVersion.Numbers]]; None if the version does not have it. */
  def number(property: String): Option[Long] = IndexVersion.number(properties, property)
}

object IndexVersion {

  /** Raised only when an older reader would misread the file, or a file that it names. */
  val FormatVersion = 1
  private val json = new ObjectMapper()

  def encode(v: IndexVersion): Array[Byte] = {
    val root = JsonNodeFactory.instance.objectNode()
    root.put("format", FormatVersion).put("version", v.number)
    root.put("writer", v.writer).put("created_at_millis", v.createdAtMillis)
    root.putObject("table").put("name", v.table.name).put("type", v.table.tableType)
    root.put("watermark", v.coverage.watermark)
    putInstants(root.putArray("pending"), v.coverage.pending)
    putInstants(root.putArray("covered"), v.coverage.covered)
    val files = root.putArray("files")
    v.files.foreach(f => files.addObject().put("name", f.name).put("kind", f.kind).put("size", f.sizeBytes))
    val properties = root.putObject("properties")
    v.properties.toVector.sorted.foreach { case (k, value) => properties.put(k, value) }
    CheckedJson.encode(root)
  }

  /** Raises DamagedIndex for anything but a whole version of a format that is known. */
  def decode(bytes: Array[Byte], file: String): IndexVersion = decoded(bytes, file)(known(_, file))

  /** A whole version of an earlier format, as far as its members are those of today: for its settings, not for its files. */
  def ofEarlierFormat(bytes: Array[Byte], file: String): Option[IndexVersion] =
    try Some(decoded(bytes, file)(earlier))
    catch { case _: DamagedIndex => None }

  private def decoded(bytes: Array[Byte], file: String)(accepted: JsonNode => JsonNode): IndexVersion =
    try read(accepted(json.readTree(CheckedJson.checked(bytes))))
    catch {
      case e: IllegalArgumentException => throw damaged(file, e.getMessage)
      case e: JsonProcessingException  => throw damaged(file, e.getOriginalMessage)
    }

  /** The document if it is of a format that is read. */
  private def known(root: JsonNode, file: String): JsonNode = {
    val format = formatOf(root)
    if (format > FormatVersion)
      throw new DamagedIndex(
        s"$file: index version of format $format, this hudiidx reads $FormatVersion: a later hudiidx wrote it; use that " +
          "one, or make an index of this one's format with `hudiidx create`",
        isLater = true
      )
    require(format >= FormatVersion, s"format $format, this hudiidx reads $FormatVersion: an earlier hudiidx wrote it")
    root
  }

  /** The document if it is of an earlier format. */
  private def earlier(root: JsonNode): JsonNode = {
    val format = formatOf(root)
    require(format < FormatVersion, s"format $format is not of an earlier hudiidx")
    root
  }

  private def formatOf(root: JsonNode): Int = root.path("format").asInt(0)

  private def read(root: JsonNode): IndexVersion = {
    val t = root.path("table")
    IndexVersion(
      number = count(root, "version"),
      table = TableIdentity(text(t, "name"), text(t, "type")),
      coverage = Coverage(text(root, "watermark"), instants(root.path("pending")), instants(root.path("covered"))),
      files = distinct(elements(root.path("files")).map(file)),
      properties = members(root.path("properties")),
      createdAtMillis = count(root, "created_at_millis", LastMilli),
      writer = text(root, "writer")
    )
  }

  private def file(node: JsonNode): IndexFile = {
    val name = text(node, "name")
    require(!Storage.leaves(name), s"file $name is outside the index folder")
    IndexFile(name, text(node, "kind"), count(node, "size"))
  }

  /** What a part costs in memory is in proportion to its bytes, if each counts once. */
  private def distinct(files: Vector[IndexFile]): Vector[IndexFile] = {
    val names = new java.util.HashSet[String]
    files.foreach(f => require(names.add(f.name), s"file ${f.name} is named twice"))
    require(HashSpread.isEven(files.iterator.map(_.name)), HashSpread.Fault)
    files
  }

  private def putInstants(array: ArrayNode, ids: Vector[InstantId]): Unit =
    ids.foreach(i => array.add(i.text))

  private def instants(array: JsonNode): Vector[InstantId] = elements(array).map { n =>
    val s = n.asText
    val dot = s.indexOf('.')
    require(dot >= 0, s"instant $s has no action")
    InstantId(s.substring(0, dot), s.substring(dot + 1))
  }

  private def text(node: JsonNode, name: String): String = {
    val field = node.path(name)
    require(field.isTextual, s"member $name is missing or no text")
    field.asText
  }

  private def elements(array: JsonNode): Vector[JsonNode] = {
    require(array.isArray, "a list is missing")
    Vector.tabulate(array.size)(i => array.get(i))
  }

  private def members(node: JsonNode): Map[String, String] = {
    require(HashSpread.isEven(node.fieldNames.asScala), HashSpread.Fault)
    val found = node.properties.asScala.iterator.map(e => e.getKey -> e.getValue.asText).toMap
    requireKnown(found)
    found
  }

  /** IllegalArgumentException for a property that has no value which it may have. */
  private[hudiidx] def requireKnown(properties: Map[String, String]): Unit = {
    Numbers.keys.foreach(number(properties, _))
    for ((name, words) <- Words; value <- properties.get(name))
      require(words(value), s"$name=${value.take(100)} is not one of ${words.toVector.sorted.mkString(", ")}")
  }

  /** IllegalArgumentException for what stands there and is no number that the property may be. */
  private[hudiidx] def number(properties: Map[String, String], name: String): Option[Long] =
    properties.get(name).map { value =>
      val (least, most) = (Least.getOrElse(name, 0L), Numbers(name))
      WholeNumber
        .of(value, most)
        .filter(_ >= least)
        .getOrElse(throw new IllegalArgumentException(s"$name=${value.take(100)} is not a number from $least to $most"))
    }

  /** A member that is a number from 0 to `most`; 0 if it is missing. */
  private[hudiidx] def count(node: JsonNode, name: String, most: Long = Many): Long = {
    val field = node.path(name)
    require(
      field.isMissingNode || (field.isIntegralNumber && field.canConvertToLong && field.asLong >= 0 && field.asLong <= most),
      s"$name=${field.asText.take(100)} is not a valid number for it"
    )
    field.asLong
  }

  /** The last moment of a year of four digits. */
  private[store] val LastMilli = 253402300799999L

  /** Of no table, and sums of them, a hundred times, are still a Long. */
  private val Many = 1000000000000000L

  /** Properties that are numbers, with the most that each may be: whatever else stands there, the version is damaged. */
  private[hudiidx] val Numbers: Map[String, Long] = Map(
    "manifest.master.files" -> Many,
    "manifest.master.partitions" -> Many,
    "manifest.delta.added" -> Many,
    "manifest.delta.removed" -> Many,
    "manifest.delta.added.partitions" -> Many,
    "manifest.delta.removed.partitions" -> Many,
    "manifest.next.file.number" -> Int.MaxValue.toLong,
    "manifest.page.entries" -> Int.MaxValue.toLong,
    "manifest.block.bytes" -> Int.MaxValue.toLong,
    "record.window.days" -> Int.MaxValue.toLong,
    "record.groups" -> Many,
    "record.mappings" -> Many,
    "record.file.groups" -> (1L << 14),
    "record.group.bytes" -> Many,
    "record.groups.next.ordinal" -> Int.MaxValue.toLong
  )

  /** The least of those that may not be 0: so that no version divides a record index into files without end. */
  private[hudiidx] val Least: Map[String, Long] = Map("record.file.groups" -> 1L, "record.group.bytes" -> (1L << 14))

  /** Properties that are one of some words. */
  private[hudiidx] val Words: Map[String, Set[String]] = Map(
    "record.mode" -> Set("global", "partitioned"),
    "column.complete" -> Set("true")
  )

  private def damaged(file: String, what: String): DamagedIndex =
    new DamagedIndex(s"$file: index version cannot be read: $what; `hudiidx create` makes a new one")
}
