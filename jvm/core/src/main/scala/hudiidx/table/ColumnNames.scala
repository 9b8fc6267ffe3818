package hudiidx.table

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}
import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

/** What the table calls the fields of a type as a file has it: those of a struct, or of what an array or a map holds.
  *
  * @param fields  by the file's names. None: the table has no such field, but another one of that name
  * @param element of arrays; of maps `value`. Keys of maps have no fields that could be renamed
  */
final case class ColumnNames(
    fields: Map[String, (Option[String], ColumnNames)],
    element: Option[ColumnNames] = None,
    value: Option[ColumnNames] = None
) {

  /** The file's name of a field of the table, or of one that the table does not have, and its own names. */
  def ofTable(name: String): Option[(String, ColumnNames)] = fields.collectFirst {
    case (own, (Some(`name`), below))                            => own -> below
    case (own, (None, below)) if ColumnNames.hidden(own) == name => own -> below
  }

  /** True if the file has a field of this name, in whatever case. */
  def ofFile(name: String): Boolean = fields.contains(name) || fields.keysIterator.exists(_.equalsIgnoreCase(name))

  /** True if by their names the file's fields are the table's. */
  def isPlain: Boolean =
    fields.forall { case (own, (name, below)) => name.contains(own) && below.isPlain } &&
      element.forall(_.isPlain) && value.forall(_.isPlain)
}

object ColumnNames {
  val Plain: ColumnNames = ColumnNames(Map.empty)
  private val Hidden = "_hudiidx_no_column_"
  private val mapper = new ObjectMapper

  /** What a field is called that the table does not have. No table has a column of that name. */
  def hidden(own: String): String = Hidden + own

  /** An Avro schema with the table's names: data are read by the order of fields, so the same bytes are good for it. */
  def renamed(avroJson: String, names: ColumnNames): String =
    mapper.writeValueAsString(rename(mapper.readTree(avroJson), names))

  private def rename(node: JsonNode, names: ColumnNames): JsonNode = node match {
    case union: ArrayNode =>
      val all = mapper.createArrayNode()
      union.elements.asScala.foreach(branch => all.add(rename(branch, names)))
      all
    case of: ObjectNode =>
      val copy = of.deepCopy()
      Option(of.get("fields")).foreach(fields => copy.set[JsonNode]("fields", renameFields(fields, names)))
      for (items <- Option(of.get("items")); below <- names.element) copy.set[JsonNode]("items", rename(items, below))
      for (values <- Option(of.get("values")); below <- names.value) copy.set[JsonNode]("values", rename(values, below))
      // {"type": {...}} is the type itself.
      if (Option(of.get("type")).exists(_.isContainerNode)) copy.set[JsonNode]("type", rename(of.get("type"), names))
      copy
    case plain => plain
  }

  private def renameFields(fields: JsonNode, names: ColumnNames): JsonNode = {
    val all = mapper.createArrayNode()
    fields.elements.asScala.foreach { field =>
      val own = field.get("name").asText
      val (name, below) = names.fields.get(own) match {
        case Some((Some(table), more)) => (table, more)
        case Some((_, more))           => (hidden(own), more)
        case _                         => (own, Plain)
      }
      val copy = field.asInstanceOf[ObjectNode].deepCopy()
      copy.put("name", name)
      copy.set[JsonNode]("type", rename(field.get("type"), below))
      all.add(copy)
    }
    all
  }
}
