package hudiidx

import org.apache.avro.Schema
import scala.collection.JavaConverters._

/** Avro schemas of writers that did not see each other, as one that has the columns of both. */
object SchemaUnion {

  /** `first` itself if it has all that `second` has. Columns and fields that only `second` has come last and may be null; where types
    * differ the wider one counts, and where neither is wider that of `first`. `first` too where a name would stand for two types then.
    */
  def of(first: Schema, second: Schema): Schema = {
    val both = union(first, second, Set.empty)
    if ((both eq first) || AvroSchemas.nameOfTwo(both).isEmpty) both else first
  }

  /** @param open names of the records around them: what contains itself stays as it is */
  private def union(first: Schema, second: Schema, open: Set[String]): Schema =
    if (first == second) first
    else {
      val own = AvroSchemas.value(first)
      val both = ofValues(own, AvroSchemas.value(second), open)
      if ((both eq own) && (first.isNullable || !second.isNullable)) first
      else if (first.isNullable || second.isNullable) optional(both)
      else both
    }

  private def ofValues(first: Schema, second: Schema, open: Set[String]): Schema =
    (first.getType, second.getType) match {
      case (Schema.Type.RECORD, Schema.Type.RECORD) if !open(first.getFullName) =>
        ofRecords(first, second, open + first.getFullName)
      case (Schema.Type.ARRAY, Schema.Type.ARRAY) =>
        val items = union(first.getElementType, second.getElementType, open)
        if (items eq first.getElementType) first else like(first, Schema.createArray(items))
      case (Schema.Type.MAP, Schema.Type.MAP) =>
        val values = union(first.getValueType, second.getValueType, open)
        if (values eq first.getValueType) first else like(first, Schema.createMap(values))
      case _ =>
        val isWider =
          ImageColumns.plainOf(first).exists(f => ImageColumns.plainOf(second).exists(Widening.isPossible(f, _)))
        if (isWider) second else first
    }

  private def ofRecords(first: Schema, second: Schema, open: Set[String]): Schema = {
    val own = first.getFields.asScala.toVector
    val both = own.map(f => Option(second.getField(f.name)).fold(f.schema)(o => union(f.schema, o.schema, open)))
    val more = second.getFields.asScala.toVector.filter(f => first.getField(f.name) == null)
    if (more.isEmpty && own.zip(both).forall { case (f, s) => f.schema eq s }) first
    else {
      val fields = own.zip(both).map { case (f, s) => if (f.schema eq s) new Schema.Field(f, s) else field(f, s) } ++
        more.map(f => field(f, optional(AvroSchemas.value(f.schema))))
      like(first, Schema.createRecord(first.getName, first.getDoc, first.getNamespace, false, fields.asJava))
    }
  }

  private def field(like: Schema.Field, schema: Schema): Schema.Field = {
    val nullFirst = schema.getType == Schema.Type.UNION && schema.getTypes.get(0).getType == Schema.Type.NULL
    val made =
      new Schema.Field(like.name, schema, like.doc, if (nullFirst) Schema.Field.NULL_DEFAULT_VALUE else null: Object)
    made.addAllProps(like)
    made
  }

  private def like(first: Schema, made: Schema): Schema = {
    made.addAllProps(first)
    made
  }

  private def optional(value: Schema): Schema =
    if (value.getType == Schema.Type.UNION) value else AvroSchemas.optional(value)
}
