package hudiidx.column

import hudiidx.InvalidOption
import hudiidx.bytes.{PackedInput, PackedOutput}
import java.nio.ByteBuffer
import java.util.TreeSet

/** The values of a column that has few of them in each file: rules out files that lie within the bounds of a condition and
  * have none of its values. docs/format.md, "Values record".
  */
object ValuesKind extends IndexKind {
  override val name = "values"

  /** Option: most values of a file; of one that has more nothing is kept. */
  val Most = "most"
  val DefaultMost = 64

  override def creator(columns: Vector[IndexedColumn], options: Map[String, String]): IndexCreator = {
    if (columns.size != 1) throw new InvalidOption(s"a set of values is of one column, not of ${columns.map(_.path)}")
    new ValuesCreator(columns.head.columnType.order, most(options))
  }

  def most(options: Map[String, String]): Int = options.get(Most).fold(DefaultMost) { text =>
    val value = scala.util.Try(text.toInt).getOrElse(0)
    if (value >= 1 && value <= 65536) value
    else throw new InvalidOption(s"a set keeps 1 to 65536 values, not $text")
  }

  override def test(columns: Vector[IndexedColumn], wanted: Vector[Option[LeafTest]]): Option[RecordTest] =
    wanted.headOption.flatten.filter(w => w.nulls || w.values.isDefined).map(new ValuesTest(_))

  private[column] val Version = 1
  private[column] val Longs = 0
  private[column] val Texts = 1
}

private[column] final class ValuesCreator(order: ValueOrder, most: Int) extends IndexCreator {
  private val longs = new TreeSet[java.lang.Long]
  private val texts = new TreeSet[Array[Byte]](ValuesCreator.Unsigned)
  private var nulls = false
  private var tooMany = false

  override def add(row: ColumnValues): Unit =
    if (row.isNull(0)) nulls = true
    else if (!tooMany) {
      if (order == ValueOrder.Longs) longs.add(row.long(0))
      else if (!texts.contains(row.text(0))) texts.add(row.text(0).clone())
      tooMany = longs.size + texts.size > most
    }

  override def finish(): Array[Byte] =
    if (tooMany) Array.emptyByteArray
    else {
      val out = new PackedOutput(64)
      out.byte(ValuesKind.Version)
      out.byte(if (nulls) 1 else 0)
      out.byte(if (order == ValueOrder.Longs) ValuesKind.Longs else ValuesKind.Texts)
      out.varint((longs.size + texts.size).toLong)
      if (order == ValueOrder.Longs) {
        val values = longs.toArray(new Array[java.lang.Long](0)).map(_.longValue)
        out.column(values, values.length)
      } else texts.forEach(t => out.bytes(t))
      out.toBytes
    }
}

private[column] object ValuesCreator {
  val Unsigned: java.util.Comparator[Array[Byte]] = new java.util.Comparator[Array[Byte]] {
    override def compare(a: Array[Byte], b: Array[Byte]): Int = java.util.Arrays.compareUnsigned(a, b)
  }
}

private[column] final class ValuesTest(wanted: LeafTest) extends RecordTest {

  override def mightMatch(record: ByteBuffer): Boolean =
    !record.hasRemaining || {
      val bytes = new Array[Byte](record.remaining)
      record.duplicate().get(bytes)
      try matches(new PackedInput(bytes))
      catch { case _: IllegalArgumentException | _: IndexOutOfBoundsException => true }
    }

  private def matches(in: PackedInput): Boolean = in.byte() != ValuesKind.Version || {
    val nulls = in.byte() != 0
    val form = in.byte()
    (wanted.nulls && nulls) || (wanted.values match {
      case None                                                => in.varint() > 0
      case Some(s: ValueSet.Longs) if form == ValuesKind.Longs =>
        val n = in.varint()
        require(n >= 0 && n <= PackedValues.Most, s"$n values")
        in.column(n.toInt).exists(v => s.meets(v, v))
      case Some(s: ValueSet.Texts) if form == ValuesKind.Texts =>
        val n = in.count(8)
        (0 until n).exists { _ =>
          val v = in.bytes()
          s.meets(v, v)
        }
      case _ => true
    })
  }
}

private[column] object PackedValues {
  val Most = 1 << 16
}
