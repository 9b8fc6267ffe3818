package hudiidx.hive

import hudiidx.rows._
import org.apache.hadoop.io._

/** Makes what a reader of rows takes for a value. */
private[hive] trait ColumnWriter {

  /** @param at place of a value that is not null */
  def write(values: ColumnValues, at: Int): Writable

  /** Null for a null. */
  final def orNull(values: ColumnValues, at: Int): Writable = if (values.isNull(at)) null else write(values, at)
}

/** Values as Hadoop's own Writables, for jobs without Hive: a decimal is the text of it, a date the days since 1970-01-01, a
  * timestamp the microseconds since 1970. Structs and arrays are ArrayWritables of their parts, maps of pairs.
  */
private[hive] object PlainWritables {

  def of(valueType: ValueType): ColumnWriter = valueType match {
    case ValueType.Bool                   => (v, at) => new BooleanWritable(v.asInstanceOf[BoolValues](at))
    case ValueType.Int32 | ValueType.Date => (v, at) => new IntWritable(v.asInstanceOf[IntValues](at))
    case ValueType.Int64                  => (v, at) => new LongWritable(v.asInstanceOf[LongValues](at))
    case _: ValueType.Timestamp           => (v, at) => new LongWritable(v.asInstanceOf[LongValues](at))
    case ValueType.Float32                => (v, at) => new FloatWritable(v.asInstanceOf[FloatValues](at))
    case ValueType.Float64                => (v, at) => new DoubleWritable(v.asInstanceOf[DoubleValues](at))
    case ValueType.Text                   => text
    case ValueType.Binary                 => (v, at) => new BytesWritable(v.asInstanceOf[BytesValues](at))
    case _: ValueType.Decimal             => (v, at) => new Text(v.asInstanceOf[DecimalValues](at).toPlainString)
    case ValueType.Nothing                => (_, _) => NullWritable.get
    case ValueType.Items(element)         => array(of(element))
    case vector: ValueType.Numbers        => array(of(ValueType.elementOf(vector)))
    case ValueType.Entries(key, value)    => array(parts(Array(of(key), of(value))))
    case ValueType.Struct(fields)         => parts(fields.map(f => of(f.valueType)).toArray)
  }

  private def text: ColumnWriter = { (v, at) =>
    val bytes = v.asInstanceOf[BytesValues]
    val made = new Text
    made.set(bytes.values, bytes.from(at), bytes.length(at))
    made
  }

  /** Of an array or a map. */
  def array(item: ColumnWriter): ColumnWriter = { (v, at) =>
    val lists = v.asInstanceOf[ListValues]
    val made = new Array[Writable](lists.length(at))
    var i = 0
    while (i < made.length) {
      made(i) = item.orNull(lists.items, lists.from(at) + i)
      i += 1
    }
    new ArrayWritable(classOf[Writable], made)
  }

  /** Of a struct, or an entry of a map. */
  def parts(items: Array[ColumnWriter]): ColumnWriter = parts(items, items.indices.toArray)

  /** The same of some fields of it. */
  def parts(items: Array[ColumnWriter], fields: Array[Int]): ColumnWriter = { (v, at) =>
    val structs = v.asInstanceOf[StructValues]
    val made = new Array[Writable](items.length)
    var i = 0
    while (i < items.length) {
      made(i) = items(i).orNull(structs.fields(fields(i)), at)
      i += 1
    }
    new ArrayWritable(classOf[Writable], made)
  }
}
