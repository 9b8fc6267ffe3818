package hudiidx.spark.write.group

import hudiidx.UnsupportedTable
import hudiidx.log.OrderingValue
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** The ordering value of a delete, as Hudi takes it from a column. */
private[write] object OrderingOf {

  def value(dataType: DataType, value: Any): OrderingValue =
    if (value == null) OrderingValue.Default
    else
      dataType match {
        case ByteType | ShortType | IntegerType          => OrderingValue.ofInt(value.asInstanceOf[Number].intValue)
        case LongType | TimestampType | TimestampNTZType => OrderingValue.ofLong(value.asInstanceOf[Long])
        case DateType                                    => OrderingValue.ofDate(value.asInstanceOf[Int])
        case FloatType                                   => OrderingValue.ofFloat(value.asInstanceOf[Float])
        case DoubleType                                  => OrderingValue.ofDouble(value.asInstanceOf[Double])
        case BooleanType                                 => OrderingValue.ofBoolean(value.asInstanceOf[Boolean])
        case StringType => OrderingValue.ofUtf8(value.asInstanceOf[UTF8String].getBytes)
        case other      =>
          throw new UnsupportedTable(
            s"deletes with an ordering value of type ${other.simpleString} cannot be written; use stock Hudi's writer"
          )
      }
}
