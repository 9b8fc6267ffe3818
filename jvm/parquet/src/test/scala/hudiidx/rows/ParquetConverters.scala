package hudiidx.rows

import java.math.BigDecimal

import scala.collection.mutable.ArrayBuffer

import org.apache.parquet.io.api.{Binary, Converter, GroupConverter, PrimitiveConverter}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName
import org.apache.parquet.schema.{GroupType, Type}

/** Converters that hand each value to `take`. */
private[rows] object ParquetConverters {

  def of(field: Type, valueType: ValueType, path: String, take: Any => Unit): Converter = valueType match {
    case ValueType.Items(element)      => new ParquetList(field.asGroupType, element, path, take)
    case ValueType.Entries(key, value) => new ParquetMap(field.asGroupType, key, value, path, take)
    case struct: ValueType.Struct      =>
      new ParquetStruct(field.asGroupType, struct.fields.map(_.valueType).toArray, path, take)
    case _ => new ParquetValue(valueType, field.asPrimitiveType.getPrimitiveTypeName, take)
  }
}

private[rows] final class ParquetValue(valueType: ValueType, stored: PrimitiveTypeName, take: Any => Unit)
    extends PrimitiveConverter {
  private val (isMillis, scale) = valueType match {
    case t: ValueType.Timestamp      => (t.millis, 0)
    case ValueType.Decimal(_, scale) => (false, scale)
    case _                           => (false, 0)
  }
  private val isDecimal = valueType.isInstanceOf[ValueType.Decimal]

  override def addBoolean(value: Boolean): Unit = take(Boolean.box(value))
  override def addFloat(value: Float): Unit = take(Float.box(value))
  override def addDouble(value: Double): Unit = take(Double.box(value))

  override def addInt(value: Int): Unit =
    take(if (isDecimal) BigDecimal.valueOf(value.toLong, scale) else Int.box(value))

  override def addLong(value: Long): Unit =
    take(
      if (isDecimal) BigDecimal.valueOf(value, scale)
      else if (isMillis) Long.box(Math.multiplyExact(value, 1000L))
      else Long.box(value)
    )

  override def addBinary(value: Binary): Unit = {
    val bytes = value.getBytes
    take(
      if (isDecimal) ParquetTypes.decimal(bytes, scale)
      else if (stored == PrimitiveTypeName.INT96) Long.box(ParquetTypes.microsOfInt96(bytes))
      else bytes
    )
  }
}

private[rows] final class ParquetStruct(
    group: GroupType,
    types: Array[ValueType],
    path: String,
    take: Array[Any] => Unit
) extends GroupConverter {
  private var current: Array[Any] = _
  private val children = Array.tabulate(types.length) { i =>
    ParquetConverters.of(group.getType(i), types(i), path, value => current(i) = value)
  }

  override def getConverter(field: Int): Converter = children(field)
  override def start(): Unit = current = new Array[Any](types.length)
  override def end(): Unit = take(current)
}

private[rows] final class ParquetList(list: GroupType, element: ValueType, path: String, take: Any => Unit)
    extends GroupConverter {
  private val items = new ArrayBuffer[Any]
  private val inner = list.getType(0)
  private val child: Converter =
    if (ParquetTypes.isElement(list, inner)) ParquetConverters.of(inner, element, path, items += _)
    else new ParquetItem(inner.asGroupType, element)

  override def getConverter(field: Int): Converter = child
  override def start(): Unit = items.clear()
  override def end(): Unit = take(items.toArray[Any])

  /** The group around an element, which may be null. */
  private final class ParquetItem(around: GroupType, element: ValueType) extends GroupConverter {
    private var value: Any = _
    private val child = ParquetConverters.of(around.getType(0), element, path, v => value = v)

    override def getConverter(field: Int): Converter = child
    override def start(): Unit = value = null
    override def end(): Unit = items += value
  }
}

private[rows] final class ParquetMap(map: GroupType, key: ValueType, value: ValueType, path: String, take: Any => Unit)
    extends GroupConverter {
  private val entries = new ArrayBuffer[Any]
  private val child = new ParquetStruct(map.getType(0).asGroupType, Array(key, value), path, entries += _)

  override def getConverter(field: Int): Converter = child
  override def start(): Unit = entries.clear()
  override def end(): Unit = take(entries.toArray[Any])
}
