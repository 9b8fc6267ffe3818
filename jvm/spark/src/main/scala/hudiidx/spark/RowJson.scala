package hudiidx.spark

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.{ArrayNode, JsonNodeFactory, ObjectNode}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._

/** Rows as JSON objects under their column names; for structs, arrays of structs, texts and whole numbers. */
object RowJson {
  private val mapper = new ObjectMapper()

  def array(rows: Iterator[InternalRow], schema: StructType): String = {
    val all = JsonNodeFactory.instance.arrayNode()
    rows.foreach(r => all.add(node(r, schema)))
    mapper.writeValueAsString(all)
  }

  private def node(row: InternalRow, schema: StructType): ObjectNode = {
    val made = JsonNodeFactory.instance.objectNode()
    schema.fields.zipWithIndex.foreach { case (f, i) =>
      if (row.isNullAt(i)) made.putNull(f.name)
      else
        f.dataType match {
          case StringType                  => made.put(f.name, row.getUTF8String(i).toString)
          case LongType                    => made.put(f.name, row.getLong(i))
          case IntegerType                 => made.put(f.name, row.getInt(i))
          case s: StructType               => made.set[ObjectNode](f.name, node(row.getStruct(i, s.length), s))
          case ArrayType(s: StructType, _) =>
            val items: ArrayNode = made.putArray(f.name)
            val values = row.getArray(i)
            (0 until values.numElements()).foreach(k => items.add(node(values.getStruct(k, s.length), s)))
          case other => throw new IllegalArgumentException(s"${f.name}: no JSON form for ${other.simpleString}")
        }
    }
    made
  }
}
