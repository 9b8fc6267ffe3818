package hudiidx.rows

import java.math.BigDecimal

/** Batches as rows of plain values. */
object BatchRows {

  /** All of them; closes the batches. Each batch has to be what it says of itself. */
  def all(batches: Batches): Vector[Array[Any]] =
    try Iterator.continually(batches.next()).takeWhile(_ != null).flatMap(of).toVector
    finally batches.close()

  def of(batch: RowBatch): Vector[Array[Any]] = {
    assert(batch.rows > 0)
    batch.columns.foreach(c => assert(c.count == batch.rows))
    Vector.tabulate(batch.rows)(i => batch.columns.map(_.value(i)))
  }

  /** As a text that is another one for any other value. */
  def show(value: Any): String = value match {
    case null               => "null"
    case bytes: Array[Byte] => bytes.map(b => f"$b%02x").mkString("x", "", "")
    case all: Array[_]      => all.map(show).mkString("[", ",", "]")
    case f: Float           => s"f${java.lang.Float.floatToIntBits(f)}"
    case d: Double          => s"d${java.lang.Double.doubleToLongBits(d)}"
    case d: BigDecimal      => s"${d.unscaledValue}e-${d.scale}"
    case other              => s"${other.getClass.getSimpleName} $other"
  }
}
