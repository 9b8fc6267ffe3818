package hudiidx.rows

import java.math.BigDecimal
import java.nio.charset.StandardCharsets.UTF_8
import java.time.LocalDate

import hudiidx.{DecimalText, UnsupportedTable}
import hudiidx.table.HudiType
import hudiidx.rows.ValueType._

/** Brings values of a file's types to the table's, or of the table's to those of Hive's table. Fields of structs are found by
  * name; those that the source lacks are null, or have their default.
  *
  * @param floatsByText a float becomes the double of its shortest text (170.06f is 170.06), not of its bits
  * @param defaults     absent fields have their defaults
  * @param where        the file or table, for messages
  */
private[hudiidx] final class Conversion(floatsByText: Boolean, defaults: Boolean, where: String) {

  /** UnsupportedTable if no rule leads from the one type to the other.
    *
    * @param path the column, for messages
    */
  def of(from: ValueType, to: ValueType, path: String): Any => Any = step(from, to, path).fold[Any => Any](identity) {
    convert => value => if (value == null) null else convert(value)
  }

  /** None: values stay as they are. */
  private def step(from: ValueType, to: ValueType, path: String): Option[Any => Any] =
    if (ValueType.same(from, to)) None
    else
      (from, to) match {
        case (own: Struct, wanted: Struct)      => Some(fields(own, wanted, path))
        case (Items(own), Items(wanted))        => each(step(own, wanted, path + ".element"))
        case (Entries(k, v), Entries(k2, v2))   => entries(step(k, k2, path + ".key"), step(v, v2, path + ".value"))
        case (Binary, vector: Numbers)          => Some(NumberBytes.numbers(_, vector.element, s"$where, column $path"))
        case (vector: Numbers, Binary)          => Some(NumberBytes.bytes(_, vector.element))
        case (vector: Numbers, Items(wanted))   => each(step(elementOf(vector), wanted, path + ".element"))
        case (Int32 | Date, Int32 | Date)       => None
        case (Int64, _: Timestamp)              => None
        case (t: Timestamp, Int64) if !t.millis => None
        case (_: Timestamp, Int64)              => Some(v => Long.box(v.asInstanceOf[Long] / 1000))
        case (_, Int64 | Float32 | Float64) if isNumber(from) => Some(number(from, to, path))
        case (Date, Text) => Some(v => LocalDate.ofEpochDay(v.asInstanceOf[Int].toLong).toString.getBytes(UTF_8))
        case (_, Text) if isNumber(from) || from.isInstanceOf[Decimal] => Some(v => v.toString.getBytes(UTF_8))
        case (f: Decimal, t: Decimal) if t.scale >= f.scale && t.precision - t.scale >= f.precision - f.scale =>
          Some(v => v.asInstanceOf[BigDecimal].setScale(t.scale))
        case (_, t: Decimal) if isNumber(from) => Some(v => decimal(v.toString, t, path))
        case _                                 => throw refused(from, to, path)
      }

  private def fields(own: Struct, wanted: Struct, path: String): Any => Any = {
    if (
      HudiType.Variant.isShredded(own.fields.map(_.name)) && wanted.fields
        .forall(f => !f.name.equalsIgnoreCase(HudiType.Variant.Shredded))
    )
      throw HudiType.Variant.refused(where, path, "Hive")
    val places = wanted.fields.map(f => own.indexOf(f.name)).toArray
    val convert = wanted.fields
      .zip(places)
      .map { case (f, at) =>
        if (at < 0) null else of(own.fields(at).valueType, f.valueType, s"$path.${f.name}")
      }
      .toArray
    val absent = wanted.fields.map(f => if (defaults) f.default else null).toArray
    value => {
      val from = value.asInstanceOf[Array[Any]]
      val made = new Array[Any](places.length)
      var i = 0
      while (i < places.length) {
        made(i) = if (places(i) < 0) absent(i) else convert(i)(from(places(i)))
        i += 1
      }
      made
    }
  }

  private def each(convert: Option[Any => Any]): Option[Any => Any] =
    convert.map(c => value => value.asInstanceOf[Array[Any]].map(v => if (v == null) null else c(v)))

  private def entries(key: Option[Any => Any], value: Option[Any => Any]): Option[Any => Any] =
    if (key.isEmpty && value.isEmpty) None
    else {
      def on(c: Option[Any => Any], v: Any): Any = if (v == null) null else c.fold(v)(_(v))
      Some(all =>
        all.asInstanceOf[Array[Any]].map { pair =>
          val own = pair.asInstanceOf[Array[Any]]
          Array[Any](on(key, own(0)), on(value, own(1)))
        }
      )
    }

  private def isNumber(of: ValueType): Boolean = of match {
    case Int32 | Int64 | Float32 | Float64 => true
    case _                                 => false
  }

  private def number(from: ValueType, to: ValueType, path: String): Any => Any = (from, to) match {
    case (Int32, Int64)                     => v => Long.box(v.asInstanceOf[Int].toLong)
    case (Int32, Float32)                   => v => Float.box(v.asInstanceOf[Int].toFloat)
    case (Int32, Float64)                   => v => Double.box(v.asInstanceOf[Int].toDouble)
    case (Int64, Float32)                   => v => Float.box(v.asInstanceOf[Long].toFloat)
    case (Int64, Float64)                   => v => Double.box(v.asInstanceOf[Long].toDouble)
    case (Float32, Float64) if floatsByText => v => Double.box(java.lang.Double.parseDouble(v.toString))
    case (Float32, Float64)                 => v => Double.box(v.asInstanceOf[Float].toDouble)
    case _                                  => throw refused(from, to, path)
  }

  private def decimal(text: String, to: Decimal, path: String): BigDecimal =
    DecimalText
      .rounded(text, to.precision, to.scale)
      .getOrElse(
        throw new UnsupportedTable(
          s"$where: column $path became ${show(to)}, and an older value does not fit; widen the column"
        )
      )

  private def refused(own: ValueType, wanted: ValueType, path: String) = new UnsupportedTable(
    s"$where: column $path is of type ${show(own)} here and ${show(wanted)} is wanted; no rule turns one into the other, leave the " +
      "column out, or declare it as the table has it"
  )
}
