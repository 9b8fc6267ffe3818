package hudiidx.table

import java.io.IOException

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import hudiidx.storage.Storage
import hudiidx.{DamagedTable, NotAHudiTable}

/** Hudi's history of a table's columns by id, kept where it is written with `hoodie.schema.on.read.enable`: files
  * `.hoodie/.schema/<instant>.schemacommit`, each with all versions so far as JSON.
  */
object SchemaHistory {
  private val Completed = """\d+\.schemacommit""".r
  private val mapper = new ObjectMapper

  /** Columns that other files may hold under another name, or another column's values under theirs: full names, sorted. Empty
    * without a history. DamagedTable if the newest version cannot be decoded.
    */
  def renamed(storage: Storage, tablePath: String): Vector[String] = {
    val dir = Storage.join(tablePath, ".hoodie/.schema")
    val newest = storage.list(dir).map(_.name).filter(n => Completed.pattern.matcher(n).matches).sorted.lastOption
    newest.fold(Vector.empty[String]) { name =>
      val file = Storage.join(dir, name)
      renamed(file, NotAHudiTable.reading(file)(storage.readAll(file)))
    }
  }

  private[table] def renamed(file: String, json: Array[Byte]): Vector[String] = {
    val root =
      try mapper.readTree(json)
      catch {
        case e: IOException =>
          throw new DamagedTable(s"$file: the history of columns cannot be decoded; restore the file from a copy", e)
      }
    val named = root.path("schemas").elements.asScala.flatMap(v => columns(v, "")).toVector.distinct
    val byId = named.groupBy(_._1).values.filter(_.length > 1).flatten
    val byName = named.groupBy(_._2).values.filter(_.length > 1).flatten
    (byId ++ byName).map(_._2).toVector.distinct.sorted
  }

  /** Ids and full names of all fields below a type. */
  private def columns(node: JsonNode, prefix: String): Vector[(Int, String)] = {
    val fields = node.path("fields").elements.asScala.toVector.flatMap { f =>
      val name = prefix + f.path("name").asText
      (f.path("id").asInt -> name) +: columns(f.path("type"), name + ".")
    }
    fields ++ Vector("element", "key", "value")
      .filter(node.has(_))
      .flatMap(part => columns(node.path(part), s"$prefix$part."))
  }
}
