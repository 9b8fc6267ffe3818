package hudiidx.spark.read

import org.apache.spark.sql.sources._

/** Filters on floats and doubles as Parquet's reader has to be given them. To Spark both zeros are one value; to Parquet, which looks into bounds
  * and dictionaries, -0.0 is less than 0.0. Plain Spark leaves rows out there.
  */
private[read] object SignedZeros {

  /** The same rows, in an order in which the zeros are two. */
  def exact(filter: Filter): Filter = filter match {
    case And(a, b)                                  => And(exact(a), exact(b))
    case Or(a, b)                                   => Or(exact(a), exact(b))
    case Not(a)                                     => Not(exact(a))
    case EqualTo(column, Zero(least, most))         => Or(EqualTo(column, least), EqualTo(column, most))
    case EqualNullSafe(column, Zero(least, most))   => Or(EqualTo(column, least), EqualTo(column, most))
    case In(column, values)                         => isOneOf(column, values)
    case GreaterThan(column, Zero(_, most))         => GreaterThan(column, most)
    case GreaterThanOrEqual(column, Zero(least, _)) => GreaterThanOrEqual(column, least)
    case LessThan(column, Zero(least, _))           => LessThan(column, least)
    case LessThanOrEqual(column, Zero(_, most))     => LessThanOrEqual(column, most)
    case other                                      => other
  }

  /** Spark's list takes the zeros for one value again. */
  private def isOneOf(column: String, values: Array[Any]): Filter = {
    val (zeros, others) = values.partition(Zero.unapply(_).isDefined)
    val among = if (others.isEmpty && zeros.nonEmpty) None else Some(In(column, others))
    (among ++ zeros.headOption.map(zero => exact(EqualTo(column, zero)))).reduce[Filter](Or(_, _))
  }

  /** Of either zero both, the negative one first. */
  private object Zero {
    def unapply(value: Any): Option[(Any, Any)] = value match {
      case d: Double if d == 0.0 => Some((-0.0, 0.0))
      case f: Float if f == 0.0f => Some((-0.0f, 0.0f))
      case _                     => None
    }
  }
}
