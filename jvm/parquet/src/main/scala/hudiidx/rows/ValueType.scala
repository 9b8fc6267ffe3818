package hudiidx.rows

import hudiidx.PlainType
import hudiidx.table.VectorElement

/** Types of a table's columns, and of what files hold. Values are plain objects, null of any type:
  *
  *   - Bool, Int32, Int64, Float32, Float64: Java's boxes; Date: an Integer, days since 1970-01-01
  *   - Timestamp: a Long, microseconds since 1970 of UTC, or of the wall clock if local
  *   - Text (UTF-8) and Binary: Array[Byte]; Decimal: java.math.BigDecimal of the type's scale
  *   - Struct, Items and Numbers: Array[Any]; Entries: Array[Any] of an Array(key, value) each
  *
  * In batches the values of a column are one [[ColumnValues]], whose bits tell nulls:
  *
  *   - Bool: `BoolValues`; Int32, and Date as days: `IntValues`; Int64, and Timestamp as microseconds: `LongValues`; Float32:
  *     `FloatValues`; Float64: `DoubleValues`; Nothing: `NoValues`
  *   - Text (UTF-8) and Binary: `BytesValues`, bytes with offsets
  *   - Decimal: `DecimalValues` of unscaled numbers, up to 18 digits as longs, above as bytes of a two's complement
  *   - Struct: `StructValues`, a column for each field; Items and Numbers: `ListValues`, a column of all items with offsets;
  *     Entries: the same with `StructValues` of keys and values for items
  */
private[hudiidx] sealed abstract class ValueType extends Product with Serializable

private[hudiidx] object ValueType {
  case object Bool extends ValueType
  case object Int32 extends ValueType
  case object Int64 extends ValueType
  case object Float32 extends ValueType
  case object Float64 extends ValueType
  case object Text extends ValueType
  case object Binary extends ValueType
  case object Date extends ValueType

  /** Only null. */
  case object Nothing extends ValueType

  /** @param millis the files hold milliseconds; values here are microseconds nevertheless */
  final case class Timestamp(millis: Boolean, local: Boolean) extends ValueType
  final case class Decimal(precision: Int, scale: Int) extends ValueType
  final case class Items(element: ValueType) extends ValueType

  /** A vector of Hudi's, which files have as bytes; its numbers are those of `elementOf`. */
  final case class Numbers(element: VectorElement) extends ValueType
  final case class Entries(key: ValueType, value: ValueType) extends ValueType

  final case class Struct(fields: Vector[Field]) extends ValueType {

    /** Place of the field of exactly this name, else of one that differs in case alone; -1: there is none. */
    def indexOf(name: String): Int = {
      val exact = fields.indexWhere(_.name == name)
      if (exact >= 0) exact else fields.indexWhere(_.name.equalsIgnoreCase(name))
    }
  }

  /** @param default of rows whose log block lacks the field; null also where the schema gives none */
  final case class Field(name: String, valueType: ValueType, default: Any = null)

  def elementOf(vector: Numbers): ValueType = vector.element match {
    case VectorElement.Float32 => Float32
    case VectorElement.Float64 => Float64
    case VectorElement.Int8    => Int32
  }

  /** None for types with parts, and for those that never change. */
  def plainOf(of: ValueType): Option[PlainType] = of match {
    case Bool          => Some(PlainType.Bool)
    case Int32         => Some(PlainType.Int32)
    case Int64         => Some(PlainType.Int64)
    case Float32       => Some(PlainType.Float32)
    case Float64       => Some(PlainType.Float64)
    case Date          => Some(PlainType.Date)
    case Text          => Some(PlainType.Text)
    case Binary        => Some(PlainType.Binary)
    case _: Timestamp  => Some(PlainType.Timestamp)
    case Decimal(p, s) => Some(PlainType.Decimal(p, s))
    case _             => None
  }

  /** Values of the one are values of the other, whatever the defaults. */
  def same(a: ValueType, b: ValueType): Boolean = (a, b) match {
    case (Struct(x), Struct(y)) =>
      x.length == y.length && x.zip(y).forall { case (p, q) => p.name == q.name && same(p.valueType, q.valueType) }
    case (Items(x), Items(y))             => same(x, y)
    case (Entries(k, v), Entries(k2, v2)) => same(k, k2) && same(v, v2)
    case (_: Timestamp, _: Timestamp)     => true
    case (Nothing, _)                     => true
    case (Text | Binary, Text | Binary)   => true
    case _                                => a == b
  }

  /** As messages show it. */
  def show(of: ValueType): String = of match {
    case Int32           => "int"
    case Int64           => "bigint"
    case Float32         => "float"
    case Float64         => "double"
    case Text            => "string"
    case Bool            => "boolean"
    case _: Timestamp    => "timestamp"
    case Decimal(p, s)   => s"decimal($p,$s)"
    case Items(element)  => s"array<${show(element)}>"
    case n: Numbers      => if (n.element == VectorElement.Int8) "array<tinyint>" else s"array<${show(elementOf(n))}>"
    case Entries(key, v) => s"map<${show(key)},${show(v)}>"
    case Struct(fields)  => fields.map(f => s"${f.name}:${show(f.valueType)}").mkString("struct<", ",", ">")
    case other           => other.toString.toLowerCase
  }
}
