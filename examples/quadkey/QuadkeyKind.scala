package quadkey

import java.nio.ByteBuffer
import java.util.TreeSet

import hudiidx.InvalidOption
import hudiidx.column._

/** An index of one's own: the cells of a grid over longitude and latitude in which a file has rows. A condition on both columns
  * that asks for a box leaves out the files without a row in any of its cells, though the box lies within both columns' bounds.
  *
  * Compile it against the jar that `hudiidx jar` names, put the classes and META-INF/services into a jar of their own, give that
  * to Spark with `--jars`, and make the index: `hudiidx add-index TABLE "quadkey(lon,lat,level=14)"`.
  */
final class QuadkeyKind extends IndexKind {
  override def name: String = "quadkey"

  override def creator(columns: Vector[IndexedColumn], options: Map[String, String]): IndexCreator = {
    val numbers = Set[ColumnType](ColumnType.Float32, ColumnType.Float64)
    if (columns.size != 2 || !columns.forall(c => numbers(c.columnType)))
      throw new InvalidOption("quadkey is of two columns of floats or doubles: longitude and latitude")
    new QuadkeyCreator(number(options, "level", 12, 1 to 20), number(options, "most", 1024, 1 to 65536))
  }

  private def number(options: Map[String, String], name: String, default: Int, allowed: Range): Int =
    options.get(name).fold(default) { text =>
      val value = scala.util.Try(text.toInt).getOrElse(Int.MinValue)
      if (allowed.contains(value)) value
      else throw new InvalidOption(s"$name of quadkey is '$text'; it takes ${allowed.head} to ${allowed.last}")
    }

  /** Rows without a place are not in the record: it tells nothing where they are wanted. */
  override def test(columns: Vector[IndexedColumn], wanted: Vector[Option[LeafTest]]): Option[RecordTest] =
    wanted match {
      case Vector(
            Some(LeafTest(false, Some(lon: ValueSet.Longs), _)),
            Some(LeafTest(false, Some(lat: ValueSet.Longs), _))
          ) =>
        Some(new QuadkeyTest(lon, lat))
      case _ => None
    }
}

/** The lines of the grid on one axis. What lies beyond the first and the last line belongs to the cells there. */
private final class Axis(from: Double, length: Double) {

  /** Where a cell begins. */
  def line(cell: Int, level: Int): Double = from + length * cell / (1 << level)

  def cell(value: Double, level: Int): Int = {
    val last = (1 << level) - 1
    var cell =
      if (value.isNaN) last else math.max(0.0, math.min(last.toDouble, (value - from) / length * (1 << level))).toInt
    // Rounding must not put a value beside its cell.
    while (cell > 0 && value < line(cell, level)) cell -= 1
    while (cell < last && value >= line(cell + 1, level)) cell += 1
    cell
  }

  /** A value of the cell may be wanted. */
  def meets(wanted: ValueSet.Longs, cell: Int, level: Int): Boolean = {
    val low = if (cell == 0) Long.MinValue else ColumnType.ofDouble(line(cell, level))
    val high = if (cell == (1 << level) - 1) Long.MaxValue else ColumnType.ofDouble(line(cell + 1, level))
    wanted.meets(low, high)
  }
}

private object Axis {
  val Lon = new Axis(-180, 360)
  val Lat = new Axis(-90, 180)
}

/** Record: a byte 1, the level, the number of cells, and of each its place on both axes; numbers are int32, big-endian. */
private final class QuadkeyCreator(startLevel: Int, most: Int) extends IndexCreator {
  private var level = startLevel
  private var cells = new TreeSet[java.lang.Long]

  override def add(row: ColumnValues): Unit = if (!row.isNull(0) && !row.isNull(1)) {
    val x = Axis.Lon.cell(ColumnType.toDouble(row.long(0)), level)
    val y = Axis.Lat.cell(ColumnType.toDouble(row.long(1)), level)
    cells.add((x.toLong << 32) | y)
    while (cells.size > most) coarsen()
  }

  /** Four cells become one. */
  private def coarsen(): Unit = {
    val finer = cells
    cells = new TreeSet[java.lang.Long]
    level -= 1
    finer.forEach(c => cells.add(((c >> 33) << 32) | ((c & 0xffffffffL) >> 1)): Unit)
  }

  override def finish(): Array[Byte] = {
    val out = ByteBuffer.allocate(9 + 8 * cells.size).put(1.toByte).putInt(level).putInt(cells.size)
    cells.forEach(c => out.putLong(c): Unit)
    out.array
  }
}

private final class QuadkeyTest(lon: ValueSet.Longs, lat: ValueSet.Longs) extends RecordTest {

  override def mightMatch(record: ByteBuffer): Boolean = {
    val in = record.duplicate()
    if (in.remaining < 9 || in.get() != 1) true
    else {
      val level = in.getInt()
      val count = in.getInt()
      if (level < 0 || level > 20 || count < 0 || in.remaining != count * 8L) true
      else
        (0 until count).exists { _ =>
          val cell = in.getLong()
          Axis.Lon.meets(lon, (cell >> 32).toInt, level) && Axis.Lat.meets(lat, cell.toInt, level)
        }
    }
  }
}
