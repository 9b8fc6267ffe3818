package hudiidx.engine.column

import java.math.BigInteger

import hudiidx.column._

/** Takes the values of one column, row by row, as [[ColumnType]] holds them. */
trait ValueSink {
  def addNull(): Unit
  def add(value: Long): Unit

  /** The bytes are good during the call alone. */
  def add(bytes: Array[Byte], from: Int, length: Int): Unit

  /** A value that its type cannot hold. */
  def addUnknown(): Unit
}

private[column] final class StatsSink(columnType: ColumnType) extends ValueSink {
  private val builder = new StatsBuilder(columnType)

  override def addNull(): Unit = builder.addNulls(1)
  override def add(value: Long): Unit = builder.add(value)
  override def add(bytes: Array[Byte], from: Int, length: Int): Unit = builder.add(bytes, from, length)
  override def addUnknown(): Unit = builder.addUnknown()

  def result: ColumnStats = {
    val found = builder.result
    found.copy(bounds = Calendars.widened(columnType, found.bounds))
  }
}

private[column] object Decimals {
  private val MostDigits = 38

  /** As many digits as its type says: what has more cannot be held. */
  def fits(unscaled: BigInteger, to: ColumnType.Decimal): Boolean =
    to.precision <= MostDigits && unscaled.abs.compareTo(BigInteger.TEN.pow(to.precision)) < 0

  def add(sink: ValueSink, unscaled: BigInteger, to: ColumnType.Decimal): Unit =
    if (!fits(unscaled, to)) sink.addUnknown()
    else if (to.order == ValueOrder.Longs) sink.add(unscaled.longValueExact)
    else {
      val bytes = ColumnType.ofDecimal(unscaled)
      sink.add(bytes, 0, bytes.length)
    }
}
