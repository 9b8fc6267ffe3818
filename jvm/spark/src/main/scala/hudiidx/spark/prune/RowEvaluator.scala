package hudiidx.spark.prune

import scala.util.control.NonFatal

import hudiidx.column.{ColumnType, ColumnValues, ValueOrder}
import hudiidx.column.expression.ExpressionGrowth
import hudiidx.engine.column.{RowEvaluation, RowExpression, ValueSink}
import org.apache.spark.sql.catalyst.expressions.{Expression, GenericInternalRow, MutableProjection}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, DecimalType, StringType}
import org.apache.spark.unsafe.types.UTF8String

/** An expression as tasks evaluate it, by Spark's own code.
  *
  *  @param bound over the inputs by place
  *  @param facts  settings that it depends on
  *  @param growth memory that it takes
  */
final private[spark] case class SparkRowExpression(
    bound: Expression,
    inputs: Vector[(String, ColumnType)],
    types: Vector[DataType],
    result: ColumnType,
    facts: Vector[(String, String)],
    growth: ExpressionGrowth
) extends RowExpression {
  override def newEvaluation(): RowEvaluation = new RowEvaluator(this)
}

final private class RowEvaluator(of: SparkRowExpression) extends RowEvaluation {
  private val conf = ExpressionFacts.conf(of.facts)

  /** None where this expression cannot be made into code, or gives something else in this process: nothing is known of any row then. */
  private val projection: Option[MutableProjection] =
    if (ExpressionFacts.differsHere(of.facts)) None
    else RowEvaluator.contained(WithoutSharing(conf)(MutableProjection.create(Seq(of.bound))))
  private val types = of.types.toArray
  private val orders = of.inputs.map(_._2.order).toArray
  private val values = new Array[Any](types.length)
  private val input = new GenericInternalRow(values)
  private val resultType = of.bound.dataType
  private val isLong = of.result.order == ValueOrder.Longs

  override def within[A](work: => A): A = SQLConf.withExistingConf(conf)(work)

  /** Files' zeros come without their sign, on which a result may depend: both are tried. */
  override def add(row: ColumnValues, to: ValueSink): Unit = {
    var zeros = 0
    var i = 0
    while (i < types.length) {
      values(i) = if (row.isNull(i)) null else value(row, i)
      if (isZero(i)) zeros += 1
      i += 1
    }
    if (projection.isEmpty || !of.growth.allows(size)) to.addUnknown()
    else if (zeros == 0) add(to)
    else if (zeros > RowEvaluator.MostZeros) to.addUnknown()
    else signs(0, to)
  }

  /** Bytes of the row's texts. */
  private def size: Long = values.foldLeft(0L) { (sum, value) =>
    value match {
      case s: UTF8String  => sum + s.numBytes
      case b: Array[Byte] => sum + b.length
      case _              => sum + 16
    }
  }

  private def signs(from: Int, to: ValueSink): Unit =
    if (from == types.length) add(to)
    else {
      signs(from + 1, to)
      if (isZero(from)) {
        val zero = values(from)
        values(from) = if (zero.isInstanceOf[Float]) -0.0f else -0.0d
        signs(from + 1, to)
        values(from) = zero
      }
    }

  private def isZero(i: Int): Boolean = values(i) match {
    case f: Float  => f == 0.0f
    case d: Double => d == 0.0d
    case _         => false
  }

  private def value(row: ColumnValues, i: Int): Any =
    if (orders(i) == ValueOrder.Longs) ValueCode.value(row.long(i), types(i))
    else
      types(i) match {
        case StringType     => UTF8String.fromBytes(row.text(i))
        case d: DecimalType => ValueCode.decimal(row.text(i), d)
        case _              => row.text(i)
      }

  /** What raises an error is not known: it is the query's to raise. */
  private def add(to: ValueSink): Unit = RowEvaluator.contained(evaluated()) match {
    case None        => to.addUnknown()
    case Some(null)  => to.addNull()
    case Some(found) =>
      if (isLong) to.add(ValueCode.long(found, resultType))
      else {
        val text = ValueCode.text(found, resultType)
        to.add(text, 0, text.length)
      }
  }

  private def evaluated(): Any = projection.get.apply(input).get(0, resultType)
}

private object RowEvaluator {

  /** In one row; twice as many results each. */
  val MostZeros = 4

  /** None if the work fails, also for lack of memory or of stack: what an index keeps may have been written by anybody. */
  private def contained[A](work: => A): Option[A] =
    try Some(work)
    catch {
      case NonFatal(_)                                 => None
      case _: StackOverflowError | _: OutOfMemoryError => None
    }
}
