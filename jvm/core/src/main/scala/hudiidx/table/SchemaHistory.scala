package hudiidx.table

import java.io.IOException
import java.util.Locale

import scala.collection.JavaConverters._
import scala.collection.mutable

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import hudiidx.storage.Storage
import hudiidx.{DamagedTable, NameBounds, NotAHudiTable, SchemaBounds, WholeNumber}

/** Hudi's history of a table's columns by id, kept where it is written with `hoodie.schema.on.read.enable`: files
  * `.hoodie/.schema/<instant>.schemacommit`, each with all versions so far as JSON.
  *
  * @param file     where it was read; None: there is no history
  * @param versions by number, ascending: the instant from which on a version counts
  */
final class SchemaHistory private (val file: Option[String], versions: Vector[(Long, HistoryType)])
    extends Serializable {

  /** Columns that other files may hold under another name, or another column's values under theirs: full names, sorted. Empty
    * without a history.
    */
  def renamed: Vector[String] = {
    val found = mutable.LinkedHashSet.empty[(Int, String)]
    versions.foreach(_._2.fullNames("", found))
    val named = found.toVector
    val byId = named.groupBy(_._1).values.filter(_.length > 1).flatten
    // Readers of files take a namesake in another case too.
    val byName = named.groupBy(_._2.toLowerCase(Locale.ROOT)).values.filter(_.map(_._1).distinct.length > 1).flatten
    (byId ++ byName).map(_._2).toVector.distinct.sorted
  }

  /** What the table as of an instant calls the columns of what another instant wrote; None where names say so by themselves. */
  def names(written: String, asOf: String): Option[ColumnNames] =
    for (own <- at(written); table <- at(asOf); names = own.namesIn(table) if !names.isPlain) yield names

  /** As stock Hudi: the last version that is not after the instant. What was written before the first one had its columns. */
  private def at(instant: String): Option[HistoryType] =
    versions.reverseIterator.find(_._1 <= SchemaHistory.number(instant)).orElse(versions.headOption).map(_._2)
}

/** A type of one version: fields of a struct with their ids, or what an array or a map holds. */
private final case class HistoryType(
    fields: Vector[HistoryField],
    element: Option[HistoryType],
    key: Option[HistoryType],
    value: Option[HistoryType]
) {

  /** Ids and full names of all fields below. */
  def fullNames(prefix: String, found: mutable.Set[(Int, String)]): Unit = {
    fields.foreach { f =>
      found += f.id -> (prefix + f.name)
      f.fieldType.fullNames(s"$prefix${f.name}.", found)
    }
    parts.foreach { case (part, below) => below.fullNames(s"$prefix$part.", found) }
  }

  private def parts: Vector[(String, HistoryType)] =
    Vector("element" -> element, "key" -> key, "value" -> value).flatMap { case (part, of) => of.map(part -> _) }

  /** The names of all fields below are no longer than those of a schema may be.
    *
    * @param letters of the column that this type is of
    */
  def fits(letters: Int, depth: Int, names: NameBounds): Boolean = depth <= SchemaBounds.MostDepth &&
    (fields.map(f => f.name -> f.fieldType) ++ parts).forall { case (name, below) =>
      names.below(letters, name).exists(below.fits(_, depth + 1, names))
    }

  /** A field is the same where its id is. */
  def namesIn(table: HistoryType): ColumnNames = ColumnNames(
    fields.map { own =>
      own.name -> (table.byId.get(own.id) match {
        case Some(same) => (Some(same.name), own.fieldType.namesIn(same.fieldType))
        case None       =>
          // Only a namesake could be taken for it.
          val name = if (table.plainNames(HistoryType.plain(own.name))) None else Some(own.name)
          (name, ColumnNames.Plain)
      })
    }.toMap,
    for (own <- element; other <- table.element) yield own.namesIn(other),
    for (own <- value; other <- table.value) yield own.namesIn(other)
  )

  @transient private lazy val byId: Map[Int, HistoryField] = fields.reverseIterator.map(f => f.id -> f).toMap

  @transient private lazy val plainNames: Set[String] = fields.map(f => HistoryType.plain(f.name)).toSet
}

private object HistoryType {

  /** The same for names that are equal in another case, as `equalsIgnoreCase` has it. */
  def plain(name: String): String = name.map(c => Character.toLowerCase(Character.toUpperCase(c)))
}

private final case class HistoryField(id: Int, name: String, fieldType: HistoryType)

object SchemaHistory {
  private val Absent = new SchemaHistory(None, Vector.empty)
  private val Completed = """(\d+)(?:_\d+)?\.schemacommit""".r // from version 8 on with the time of completion
  private val mapper = new ObjectMapper

  /** In full names of columns, of all versions. */
  private val MostLetters = 2 * NameBounds.MostOfAll

  /** The newest of the history's files whose commit counts: a write that failed, or was rolled back, leaves its own behind.
    * DamagedTable if it cannot be decoded.
    */
  def read(storage: Storage, tablePath: String, isCommitted: String => Boolean): SchemaHistory = {
    val dir = Storage.join(tablePath, ".hoodie/.schema")
    val files = storage.list(dir).map(_.name).collect { case name @ Completed(instant) if isCommitted(instant) => name }
    val newest = files.sorted.lastOption
    newest.fold(Absent) { name =>
      val file = Storage.join(dir, name)
      of(file, NotAHudiTable.reading(file)(storage.readAll(file)))
    }
  }

  private[table] def of(file: String, json: Array[Byte]): SchemaHistory = {
    val root =
      try mapper.readTree(json)
      catch {
        case e: IOException =>
          throw new DamagedTable(s"$file: the history of columns cannot be decoded; restore the file from a copy", e)
      }
    val versions = root.path("schemas").elements.asScala.map(v => v.path("version_id").asLong -> typeOf(v)).toVector
    val names = new NameBounds(MostLetters)
    if (!versions.forall(_._2.fits(letters = 0, depth = 0, names)))
      throw new DamagedTable(
        s"$file: the history has columns whose names are longer than ${NameBounds.Longest} letters with those around them, more than " +
          s"$MostLetters letters in such names, or more than ${SchemaBounds.MostDepth} types in one another; restore the file from a copy"
      )
    new SchemaHistory(Some(file), versions.sortBy(_._1))
  }

  private def typeOf(node: JsonNode): HistoryType = HistoryType(
    node
      .path("fields")
      .elements
      .asScala
      .map(f => HistoryField(f.path("id").asInt, f.path("name").asText, typeOf(f.path("type"))))
      .toVector,
    part(node, "element"),
    part(node, "key"),
    part(node, "value")
  )

  private def part(node: JsonNode, name: String): Option[HistoryType] =
    if (node.has(name)) Some(typeOf(node.path(name))) else None

  /** Instants are numbers here; what is none (a bootstrap's) comes first. */
  private def number(instant: String): Long = WholeNumber.of(instant, Long.MaxValue).getOrElse(0L)
}

/** What a query's columns are called in files, by the instants that wrote them. Sent to tasks.
  *
  * @param asOf the instant whose columns are the query's
  */
final case class TableNames(history: SchemaHistory, asOf: String) {
  def of(instant: String): Option[ColumnNames] = history.names(instant, asOf)

  @transient private lazy val renamed: Vector[String] = history.renamed

  /** True if files may hold a top-level column, or a field in it, under another name, or another column under its name. */
  def concerns(name: String): Boolean =
    renamed.exists(r => r.equalsIgnoreCase(name) || r.regionMatches(true, 0, name + ".", 0, name.length + 1))
}
