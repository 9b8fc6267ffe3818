package hudiidx.hive

import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.JavaConverters._

import hudiidx.UnsupportedTable
import hudiidx.rows._
import org.apache.hadoop.hive.common.`type`.{HiveChar, HiveDecimal, HiveVarchar}
import org.apache.hadoop.hive.serde2.io.{DoubleWritable, HiveCharWritable, HiveDecimalWritable, HiveVarcharWritable}
import org.apache.hadoop.hive.serde2.objectinspector.PrimitiveObjectInspector.PrimitiveCategory
import org.apache.hadoop.hive.serde2.typeinfo._

/** Values as the object inspectors of Hive's Parquet serde take them. */
private[hive] object HiveWritables {

  /** The type of values that `of` takes. UnsupportedTable for types that the serde does not have. */
  def valueType(info: TypeInfo): ValueType = info match {
    case list: ListTypeInfo => ValueType.Items(valueType(list.getListElementTypeInfo))
    case map: MapTypeInfo   => ValueType.Entries(valueType(map.getMapKeyTypeInfo), valueType(map.getMapValueTypeInfo))
    case struct: StructTypeInfo =>
      ValueType.Struct(fieldsOf(struct).map { case (name, field) => ValueType.Field(name, valueType(field)) })
    case primitive: PrimitiveTypeInfo => primitiveType(primitive)
    case other                        => refuse(other)
  }

  private def primitiveType(info: PrimitiveTypeInfo): ValueType = info.getPrimitiveCategory match {
    case PrimitiveCategory.BOOLEAN                                                     => ValueType.Bool
    case PrimitiveCategory.BYTE | PrimitiveCategory.SHORT | PrimitiveCategory.INT      => ValueType.Int32
    case PrimitiveCategory.LONG                                                        => ValueType.Int64
    case PrimitiveCategory.FLOAT                                                       => ValueType.Float32
    case PrimitiveCategory.DOUBLE                                                      => ValueType.Float64
    case PrimitiveCategory.STRING | PrimitiveCategory.CHAR | PrimitiveCategory.VARCHAR => ValueType.Text
    case PrimitiveCategory.BINARY                                                      => ValueType.Binary
    case PrimitiveCategory.DATE                                                        => ValueType.Date
    case PrimitiveCategory.TIMESTAMP => ValueType.Timestamp(millis = false, local = false)
    case PrimitiveCategory.DECIMAL   =>
      val decimal = info.asInstanceOf[DecimalTypeInfo]
      ValueType.Decimal(decimal.getPrecision, decimal.getScale)
    case _ => refuse(info)
  }

  /** @param path   of the column; of structs in columns alone that part is written which `fields` names
    * @param local  timestamps are of the wall clock
    */
  def of(info: TypeInfo, source: ValueType, path: String, fields: NestedPaths): ColumnWriter = info match {
    case list: ListTypeInfo =>
      PlainWritables.array(of(list.getListElementTypeInfo, elementOf(source), path, NestedPaths.All))
    case map: MapTypeInfo =>
      val (key, value) = entryOf(source)
      val parts = Array(
        of(map.getMapKeyTypeInfo, key, path, NestedPaths.All),
        of(map.getMapValueTypeInfo, value, path, NestedPaths.All)
      )
      PlainWritables.array(PlainWritables.parts(parts))
    case struct: StructTypeInfo       => ofStruct(struct, source, path, fields)
    case primitive: PrimitiveTypeInfo => ofPrimitive(primitive, source)
    case other                        => refuse(other)
  }

  private def ofStruct(
      struct: StructTypeInfo,
      source: ValueType,
      path: String,
      wanted: NestedPaths
  ): ColumnWriter = {
    val kept = fieldsOf(struct).zipWithIndex.filter { case ((name, _), _) => wanted.has(path, name) }
    val parts = kept.map { case ((name, field), _) => of(field, fieldOf(source, name), s"$path.$name", wanted) }
    PlainWritables.parts(parts.toArray, kept.map(_._2).toArray)
  }

  private def ofPrimitive(info: PrimitiveTypeInfo, source: ValueType): ColumnWriter =
    info.getPrimitiveCategory match {
      case PrimitiveCategory.DATE      => (v, at) => HiveTimes.date(v.asInstanceOf[IntValues](at))
      case PrimitiveCategory.TIMESTAMP =>
        val local = isLocal(source)
        (v, at) => HiveTimes.timestamp(v.asInstanceOf[LongValues](at), local)
      case PrimitiveCategory.DECIMAL =>
        (v, at) => new HiveDecimalWritable(HiveDecimal.create(v.asInstanceOf[DecimalValues](at)))
      case PrimitiveCategory.DOUBLE => (v, at) => new DoubleWritable(v.asInstanceOf[DoubleValues](at))
      case PrimitiveCategory.CHAR   =>
        val length = info.asInstanceOf[CharTypeInfo].getLength
        (v, at) => new HiveCharWritable(new HiveChar(text(v, at), length))
      case PrimitiveCategory.VARCHAR =>
        val length = info.asInstanceOf[VarcharTypeInfo].getLength
        (v, at) => new HiveVarcharWritable(new HiveVarchar(text(v, at), length))
      case _ => PlainWritables.of(primitiveType(info))
    }

  private def text(values: ColumnValues, at: Int): String = {
    val bytes = values.asInstanceOf[BytesValues]
    new String(bytes.values, bytes.from(at), bytes.length(at), UTF_8)
  }

  private def isLocal(source: ValueType): Boolean = source match {
    case t: ValueType.Timestamp => t.local
    case _                      => false
  }

  private def elementOf(source: ValueType): ValueType = source match {
    case ValueType.Items(element)  => element
    case vector: ValueType.Numbers => ValueType.elementOf(vector)
    case _                         => ValueType.Nothing
  }

  private def entryOf(source: ValueType): (ValueType, ValueType) = source match {
    case ValueType.Entries(key, value) => (key, value)
    case _                             => (ValueType.Nothing, ValueType.Nothing)
  }

  private def fieldOf(source: ValueType, name: String): ValueType = source match {
    case struct: ValueType.Struct if struct.indexOf(name) >= 0 => struct.fields(struct.indexOf(name)).valueType
    case _                                                     => ValueType.Nothing
  }

  private def fieldsOf(struct: StructTypeInfo): Vector[(String, TypeInfo)] =
    struct.getAllStructFieldNames.asScala.toVector.zip(struct.getAllStructFieldTypeInfos.asScala)

  private def refuse(info: TypeInfo): Nothing = throw new UnsupportedTable(
    s"type ${info.getTypeName} of the Hive table cannot be read from Parquet; declare the column as Hudi's table has it"
  )
}
