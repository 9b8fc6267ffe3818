package hudiidx.spark.write.options

import java.util.Locale

/** What a write does with its rows, named as in Hudi. */
sealed abstract class WriteOperation(val name: String) extends Product with Serializable {

  /** As commits name it. */
  def committedName: String = name.toUpperCase(Locale.ROOT)
}

object WriteOperation {
  case object Upsert extends WriteOperation("upsert")
  case object Insert extends WriteOperation("insert")
  case object BulkInsert extends WriteOperation("bulk_insert")
  case object Delete extends WriteOperation("delete")
  case object InsertOverwrite extends WriteOperation("insert_overwrite")
  case object InsertOverwriteTable extends WriteOperation("insert_overwrite_table")
  val All: Vector[WriteOperation] = Vector(Upsert, Insert, BulkInsert, Delete, InsertOverwrite, InsertOverwriteTable)

  /** Those that add rows to what is there. */
  val Inserts: Vector[WriteOperation] = Vector(Upsert, Insert, BulkInsert)
}
