package hudiidx.sync.build

import hudiidx.column.{ColumnPath, NeverColumns}
import hudiidx.log.AvroFieldPlan
import hudiidx.sync.TableContext
import hudiidx.table.TableSchema
import hudiidx.{HudiIdxException, Log, LogOnce}
import org.apache.avro.Schema
import java.util.concurrent.ConcurrentHashMap
import scala.annotation.tailrec
import scala.collection.JavaConverters._

/** Names in a rule of columns that are never indexed which the table has none for: who misspells one protects nothing. */
object NeverNames {
  private val told = new LogOnce(Log.of(classOf[Indexer]))
  private val looked = ConcurrentHashMap.newKeySet[String]()

  /** Those that are no column of the table's newest schema, nor within one. None where no commit tells a schema. */
  def unknown(never: NeverColumns, table: TableContext): Vector[String] =
    if (never.isEmpty) Vector.empty
    else
      table.schema().fold(Vector.empty[String]) { found =>
        val schema = AvroFieldPlan.parse(found.avroJson, found.file)
        never.paths.filterNot { path =>
          val parts = ColumnPath.parts(path)
          TableSchema.isMeta(parts.head) || table.config.partitionFields.exists(_.equalsIgnoreCase(path)) ||
          has(schema, parts)
        }
      }

  /** For people; None where there is nothing to say. */
  def text(unknown: Vector[String]): Option[String] =
    if (unknown.isEmpty) None
    else
      Some(
        s"${NeverColumns.OptionName} names ${unknown.mkString(", ")}, which the table's schema does not have: a name that is misspelt keeps " +
          "no column out of the index; check it"
      )

  /** Next time they are told in any case: somebody has just named them. */
  private[sync] def forget(tablePath: String): Unit = told.forget(tablePath)

  /** Warns of them once, as long as they are the same. */
  private[sync] def warn(never: NeverColumns, table: TableContext): Unit = {
    looked.add(table.tablePath)
    // A schema that cannot be read is told by who needs it.
    val found =
      try unknown(never, table)
      catch { case _: HudiIdxException => Vector.empty }
    told.warn(table.tablePath, text(found).map(t => s"${table.tablePath}: $t"))
  }

  /** Nobody in this process has looked at the table's names yet: where nothing changes its schema is not read time and again. */
  private[sync] def isNew(tablePath: String): Boolean = !looked.contains(tablePath)

  @tailrec
  private def has(schema: Schema, parts: Vector[String]): Boolean = {
    val own = TableSchema.value(schema)
    own.getType match {
      case _ if parts.isEmpty => true
      case Schema.Type.RECORD =>
        own.getFields.asScala.find(_.name.equalsIgnoreCase(parts.head)) match {
          case Some(field) => has(field.schema, parts.tail)
          case None        => false
        }
      // What lies in arrays and maps has no names of its own.
      case kind => kind == Schema.Type.ARRAY || kind == Schema.Type.MAP
    }
  }
}
