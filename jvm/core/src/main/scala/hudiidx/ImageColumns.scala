package hudiidx

import hudiidx.bytes.Bytes
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.{ArrayList => JList, Collection => JCollection, LinkedHashMap => JLinkedMap, Map => JMap}

import scala.collection.JavaConverters._

import org.apache.avro.Conversions.DecimalConversion
import org.apache.avro.generic.{GenericData, GenericFixed, IndexedRecord}
import org.apache.avro.{AvroTypeException, LogicalTypes, Schema}

/** Brings images of records to the columns that the table has now, as readers of rows bring values: Avro itself makes no text of
  * a number, which Hudi does. AvroTypeException for columns to which no way leads.
  *
  * @param floatsByText see `Widening.float64`
  */
private[hudiidx] final class ImageColumns(floatsByText: Boolean) {
  import ImageColumns._

  def of(from: Schema, to: Schema): Any => Any = value(from, to, "")

  private def value(from: Schema, to: Schema, path: String): Any => Any =
    if (from == to) identity
    else
      (from.getType, to.getType) match {
        case (Schema.Type.UNION, _) | (_, Schema.Type.UNION) => union(from, to, path)
        case (Schema.Type.RECORD, Schema.Type.RECORD)        =>
          if (columnsOf(from) == columnsOf(to)) identity else record(from, to, path)
        case (Schema.Type.ARRAY, Schema.Type.ARRAY) =>
          val item = value(from.getElementType, to.getElementType, path)
          v => new JList(v.asInstanceOf[JCollection[Any]].asScala.map(item).asJavaCollection)
        case (Schema.Type.MAP, Schema.Type.MAP) =>
          val mapped = value(from.getValueType, to.getValueType, path)
          v => {
            val all = new JLinkedMap[Any, Any]
            v.asInstanceOf[JMap[Any, Any]].forEach((key, held) => all.put(key, mapped(held)): Unit)
            all
          }
        case _ => leaf(from, to, path)
      }

  private def record(from: Schema, to: Schema, path: String): Any => Any = {
    val fields = to.getFields.asScala.map { field =>
      val name = if (path.isEmpty) field.name else s"$path.${field.name}"
      Option(from.getField(field.name)) match {
        case Some(own) =>
          val inner = value(own.schema, field.schema, name)
          (v: IndexedRecord) => inner(v.get(own.pos))
        case None if field.hasDefaultValue =>
          val default = GenericData.get.getDefaultValue(field)
          (_: IndexedRecord) => default
        case None if field.schema.isNullable => (_: IndexedRecord) => null
        case None => throw new AvroTypeException(s"$name is missing, and the table has no default for it")
      }
    }.toArray
    v => {
      val made = new GenericData.Record(to)
      fields.indices.foreach(i => made.put(i, fields(i)(v.asInstanceOf[IndexedRecord])))
      made
    }
  }

  private def union(from: Schema, to: Schema, path: String): Any => Any = {
    val steps = membersOf(from).map(of => of -> member(of, membersOf(to), path))
    v =>
      if (v == null) null
      else if (steps.size == 1) steps.head._2(v)
      else {
        val taken = from.getTypes.get(GenericData.get.resolveUnion(from, v))
        steps.collectFirst { case (of, step) if of == taken => step(v) }.get
      }
  }

  /** The same type goes first. */
  private def member(from: Schema, to: Vector[Schema], path: String): Any => Any = {
    val (same, others) = to.partition(_.getType == from.getType)
    def step(to: Schema): Option[Any => Any] =
      try Some(value(from, to, path))
      catch { case _: AvroTypeException if to.getType != from.getType => None }
    (same ++ others).iterator.flatMap(step(_)).take(1).toVector.headOption.getOrElse(throw refused(from, to, path))
  }

  private def leaf(from: Schema, to: Schema, path: String): Any => Any = (from.getType, to.getType) match {
    case (Schema.Type.ENUM, Schema.Type.STRING)                      => _.toString
    case (Schema.Type.STRING, Schema.Type.BYTES)                     => v => ByteBuffer.wrap(v.toString.getBytes(UTF_8))
    case (Schema.Type.BYTES, Schema.Type.STRING) if !isDecimal(from) =>
      v => UTF_8.decode(v.asInstanceOf[ByteBuffer].duplicate()).toString
    case (own, wanted) =>
      val known = for { a <- plainOf(from); b <- plainOf(to) } yield (a, b)
      known match {
        case Some((a, b)) if Widening.isPossible(a, b)           => widened(from, to, path)
        case Some((a, b)) if Widening.isParsed(a, b)             => v => parsed(v.toString, to)
        case Some((a, b)) if Widening.isSame(a, b)               => identity
        case None if own == wanted && sizeOf(from) == sizeOf(to) => identity
        case _                                                   => throw refused(from, Vector(to), path)
      }
  }

  private def widened(from: Schema, to: Schema, path: String): Any => Any = to.getType match {
    case Schema.Type.LONG   => v => Long.box(v.asInstanceOf[Number].longValue)
    case Schema.Type.FLOAT  => v => Float.box(v.asInstanceOf[Number].floatValue)
    case Schema.Type.DOUBLE => {
      case f: java.lang.Float => Double.box(Widening.float64(f, floatsByText))
      case v                  => Double.box(v.asInstanceOf[Number].doubleValue)
    }
    case Schema.Type.STRING => textOf(from, _)
    case _                  =>
      val d = to.getLogicalType.asInstanceOf[LogicalTypes.Decimal]
      v => {
        decimalOf(Widening.decimal(textOf(from, v), d.getPrecision, d.getScale, path), to, d)
      }
  }

  /** Null where the text stands for no value. */
  private def parsed(text: String, to: Schema): Any = to.getLogicalType match {
    case d: LogicalTypes.Decimal =>
      TextCast.decimal(text, d.getPrecision, d.getScale).map(decimalOf(_, to, d)).orNull
    case _ => TextCast.date(text).map(Int.box(_)).orNull
  }

  private def decimalOf(number: java.math.BigDecimal, to: Schema, d: LogicalTypes.Decimal): Any =
    if (to.getType == Schema.Type.FIXED) decimals.toFixed(number, to, d) else decimals.toBytes(number, to, d)

  private def textOf(from: Schema, v: Any): String = (from.getLogicalType, v) match {
    case (d: LogicalTypes.Decimal, b: ByteBuffer) =>
      DecimalText.unscaled(Bytes.ofBuffer(b.duplicate()), d.getPrecision, d.getScale).toString
    case (d: LogicalTypes.Decimal, b: GenericFixed) =>
      DecimalText.unscaled(b.bytes, d.getPrecision, d.getScale).toString
    case (_: LogicalTypes.Date, days: Integer) => Widening.dateText(days)
    case _                                     => v.toString
  }
}

private[hudiidx] object ImageColumns {
  private val decimals = new DecimalConversion

  /** Without null. */
  private def membersOf(schema: Schema): Vector[Schema] =
    if (schema.getType != Schema.Type.UNION) Vector(schema)
    else schema.getTypes.asScala.filter(_.getType != Schema.Type.NULL).toVector

  private def columnsOf(record: Schema) = record.getFields.asScala.map(f => f.name -> f.schema)

  private def isDecimal(schema: Schema): Boolean = schema.getLogicalType.isInstanceOf[LogicalTypes.Decimal]

  private def sizeOf(schema: Schema): Int = if (schema.getType == Schema.Type.FIXED) schema.getFixedSize else 0

  private[hudiidx] def plainOf(schema: Schema): Option[PlainType] = (schema.getType, schema.getLogicalType) match {
    case (Schema.Type.BYTES | Schema.Type.FIXED, d: LogicalTypes.Decimal) =>
      Some(PlainType.Decimal(d.getPrecision, d.getScale))
    case (Schema.Type.BOOLEAN, _)                => Some(PlainType.Bool)
    case (Schema.Type.INT, _: LogicalTypes.Date) => Some(PlainType.Date)
    case (Schema.Type.INT, _)                    => Some(PlainType.Int32)
    case (Schema.Type.LONG, _)                   => Some(PlainType.Int64)
    case (Schema.Type.FLOAT, _)                  => Some(PlainType.Float32)
    case (Schema.Type.DOUBLE, _)                 => Some(PlainType.Float64)
    case (Schema.Type.STRING, _)                 => Some(PlainType.Text)
    case _                                       => None
  }

  private def refused(from: Schema, to: Vector[Schema], path: String) =
    new AvroTypeException(
      s"$path is ${from.getType.getName} there and ${to.map(_.getType.getName).mkString(" or ")} in the table"
    )
}
