package hudiidx

import org.apache.avro.Schema
import scala.collection.JavaConverters._

/** How much a schema may hold: who walks over it has each type, and each column's full name, in memory.
  *
  *  @param mostTypes each counted wherever its name stands
  */
private[hudiidx] final class SchemaBounds(mostTypes: Long) {
  private var left = mostTypes
  private val names = new NameBounds

  def hold(schema: Schema): Boolean = fits(schema, depth = 0, letters = 0, Set.empty)

  /** A record in itself ends the way, as it does for all who walk over a schema.
    *
    * @param letters of the column's full name
    */
  private def fits(schema: Schema, depth: Int, letters: Int, open: Set[String]): Boolean = {
    left -= 1
    left >= 0 && depth <= SchemaBounds.MostDepth && (schema.getType match {
      case Schema.Type.RECORD =>
        val name = schema.getFullName
        open(name) || schema.getFields.asScala.forall { field =>
          val full = names.below(letters, field.name)
          full.exists(fits(field.schema, depth + 1, _, open + name))
        }
      case _ =>
        AvroSchemas
          .partsOf(schema)
          .forall(fits(_, AvroSchemas.depthBelow(schema, depth), letters, open))
    })
  }
}

private[hudiidx] object SchemaBounds {

  /** Types in one another. Some hundreds overflow the stack of who walks over them. */
  val MostDepth = 200
}

/** How long full names of columns may be, one by one and together. */
private[hudiidx] final class NameBounds(mostOfAll: Long = NameBounds.MostOfAll) {
  private var left = mostOfAll

  /** Letters of the full name of a column in another one; None if it is too long, or all are together.
    *
    * @param letters of the other one's; 0: it is in none
    */
  def below(letters: Int, name: String): Option[Int] = {
    val full = letters + name.length + 1
    left -= full
    if (full > NameBounds.Longest || left < 0) None else Some(full)
  }
}

private[hudiidx] object NameBounds {

  /** A key of an index file holds one. */
  val Longest = 8000
  val MostOfAll = 32000000L
}
