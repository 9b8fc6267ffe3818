package hudiidx.hive

import hudiidx.rows.ValueType
import org.apache.hadoop.io._

/** Values as Hadoop's own Writables, for jobs without Hive: a decimal is the text of it, a date the days since 1970-01-01, a
  * timestamp the microseconds since 1970. Structs and arrays are ArrayWritables of their parts, maps of pairs.
  */
private[hive] object PlainWritables {

  def of(valueType: ValueType): Any => Writable = valueType match {
    case ValueType.Bool                   => v => new BooleanWritable(v.asInstanceOf[Boolean])
    case ValueType.Int32 | ValueType.Date => v => new IntWritable(v.asInstanceOf[Int])
    case ValueType.Int64                  => v => new LongWritable(v.asInstanceOf[Long])
    case _: ValueType.Timestamp           => v => new LongWritable(v.asInstanceOf[Long])
    case ValueType.Float32                => v => new FloatWritable(v.asInstanceOf[Float])
    case ValueType.Float64                => v => new DoubleWritable(v.asInstanceOf[Double])
    case ValueType.Text                   => v => new Text(v.asInstanceOf[Array[Byte]])
    case ValueType.Binary                 => v => new BytesWritable(v.asInstanceOf[Array[Byte]])
    case _: ValueType.Decimal             => v => new Text(v.asInstanceOf[java.math.BigDecimal].toPlainString)
    case ValueType.Nothing                => _ => NullWritable.get
    case ValueType.Items(element)         => array(of(element))
    case vector: ValueType.Numbers        => array(of(ValueType.elementOf(vector)))
    case ValueType.Entries(key, value)    => array(parts(Array(of(key), of(value))))
    case ValueType.Struct(fields)         => parts(fields.map(f => of(f.valueType)).toArray)
  }

  /** Of an array or a map. */
  def array(item: Any => Writable): Any => Writable = values =>
    new ArrayWritable(classOf[Writable], values.asInstanceOf[Array[Any]].map(v => if (v == null) null else item(v)))

  /** Of a struct, or an entry of a map. */
  def parts(items: Array[Any => Writable]): Any => Writable = { value =>
    val own = value.asInstanceOf[Array[Any]]
    val made = new Array[Writable](items.length)
    var i = 0
    while (i < items.length) {
      if (own(i) != null) made(i) = items(i)(own(i))
      i += 1
    }
    new ArrayWritable(classOf[Writable], made)
  }
}
