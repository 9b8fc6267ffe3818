package hudiidx.rows

import java.math.BigDecimal
import java.nio.charset.StandardCharsets.UTF_8

import hudiidx.{TextCast, UnsupportedTable, Widening}
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

  /** None: values stay as they are; else what becomes of one that is not null. */
  private[rows] def step(from: ValueType, to: ValueType, path: String): Option[Any => Any] =
    if (ValueType.same(from, to)) None
    else
      (from, to) match {
        case (own: Struct, wanted: Struct)     => Some(fields(own, wanted, path))
        case (Items(own), Items(wanted))       => each(step(own, wanted, path + ".element"))
        case (Entries(k, v), Entries(k2, v2))  => entries(step(k, k2, path + ".key"), step(v, v2, path + ".value"))
        case (Binary, vector: Numbers)         => Some(NumberBytes.numbers(_, vector.element, s"$where, column $path"))
        case (vector: Numbers, Binary)         => Some(NumberBytes.bytes(_, vector.element))
        case (vector: Numbers, Items(wanted))  => each(step(elementOf(vector), wanted, path + ".element"))
        case (t: Timestamp, Int64) if t.millis => Some(v => Long.box(v.asInstanceOf[Long] / 1000))
        case _                                 => plain(from, to, path)
      }

  private def plain(from: ValueType, to: ValueType, path: String): Option[Any => Any] =
    (plainOf(from), plainOf(to)) match {
      case (Some(own), Some(wanted)) if Widening.isSame(own, wanted)     => None
      case (Some(own), Some(wanted)) if Widening.isPossible(own, wanted) => Some(widened(from, to, path))
      case (Some(own), Some(wanted)) if Widening.isParsed(own, wanted)   => Some(v => parsed(v, to))
      case _                                                             => throw refused(from, to, path)
    }

  private def widened(from: ValueType, to: ValueType, path: String): Any => Any = (from, to) match {
    case (Float32, Float64)          => v => Double.box(Widening.float64(v.asInstanceOf[Float], floatsByText))
    case (_, Int64)                  => v => Long.box(v.asInstanceOf[Number].longValue)
    case (_, Float32)                => v => Float.box(v.asInstanceOf[Number].floatValue)
    case (_, Float64)                => v => Double.box(v.asInstanceOf[Number].doubleValue)
    case (Date, Text)                => v => Widening.dateText(v.asInstanceOf[Int]).getBytes(UTF_8)
    case (_, Text)                   => v => v.toString.getBytes(UTF_8)
    case (_: Decimal, t: Decimal)    => v => v.asInstanceOf[BigDecimal].setScale(t.scale)
    case (_, Decimal(digits, scale)) => v => Widening.decimal(v.toString, digits, scale, s"$where: column $path")
    case _                           => throw refused(from, to, path)
  }

  /** Null where the text stands for no value. */
  private def parsed(value: Any, to: ValueType): Any = {
    val text = new String(value.asInstanceOf[Array[Byte]], UTF_8)
    to match {
      case Decimal(digits, scale) => TextCast.decimal(text, digits, scale).orNull
      case _                      => TextCast.date(text).map(Int.box(_)).orNull
    }
  }

  /** For each field of a struct where the other one has it; -1: nowhere. */
  private[rows] def placesOf(own: Struct, wanted: Struct, path: String): Array[Int] = {
    if (
      HudiType.Variant.isShredded(own.fields.map(_.name)) && wanted.fields
        .forall(f => !f.name.equalsIgnoreCase(HudiType.Variant.Shredded))
    )
      throw HudiType.Variant.refused(where, path, "Hive")
    wanted.fields.map(f => own.indexOf(f.name)).toArray
  }

  private def fields(own: Struct, wanted: Struct, path: String): Any => Any = {
    val places = placesOf(own, wanted, path)
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

  private def refused(own: ValueType, wanted: ValueType, path: String) = new UnsupportedTable(
    s"$where: column $path is of type ${show(own)} here and ${show(wanted)} is wanted; no rule turns one into the other, leave the " +
      "column out, or declare it as the table has it"
  )
}
