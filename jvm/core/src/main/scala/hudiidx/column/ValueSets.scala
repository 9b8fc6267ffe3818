package hudiidx.column

import java.util.Arrays

import hudiidx.column.ValueSet.{Longs, Texts}

/** Sets of values of one order: made, joined, cut and turned round. Both operands of an operation are of one order. */
object ValueSets {
  val NoLongs: Longs = new Longs(Array.empty, Array.empty)
  val AllLongs: Longs = new Longs(Array(Long.MinValue), Array(Long.MaxValue))
  val NoTexts: Texts = new Texts(Array.empty, Array.empty)
  val AllTexts: Texts = new Texts(Array(Array.emptyByteArray), Array(null))

  def all(order: ValueOrder): ValueSet = order match {
    case ValueOrder.Longs => AllLongs
    case ValueOrder.Texts => AllTexts
  }

  def none(order: ValueOrder): ValueSet = order match {
    case ValueOrder.Longs => NoLongs
    case ValueOrder.Texts => NoTexts
  }

  /** Nothing but these. */
  def oneOf(values: Array[Long]): Longs = {
    val sorted = values.clone()
    Arrays.sort(sorted)
    val out = new LongIntervals
    sorted.foreach(v => out.add(v, v))
    out.result
  }

  /** min <= value <= max; empty if min > max. */
  def range(min: Long, max: Long): Longs = if (min > max) NoLongs else new Longs(Array(min), Array(max))

  /** Intervals `(min, max)` in any order; those with min > max are empty. */
  def longs(intervals: Seq[(Long, Long)]): Longs = {
    val out = new LongIntervals
    intervals.filter(i => i._1 <= i._2).sortBy(_._1).foreach { case (min, max) => out.add(min, max) }
    out.result
  }

  /** Nothing but these. */
  def oneOf(values: Array[Array[Byte]]): Texts = {
    val out = new TextIntervals
    values.sortWith((a, b) => compare(a, b) < 0).foreach(v => out.add(v, next(v)))
    out.result
  }

  /** from <= value < until; until null: no end. */
  def textRange(from: Array[Byte], until: Array[Byte]): Texts =
    if (until != null && compare(from, until) >= 0) NoTexts else new Texts(Array(from), Array(until))

  /** Intervals `(from, until)` as of [[textRange]], in any order. */
  def texts(intervals: Seq[(Array[Byte], Array[Byte])]): Texts = {
    val out = new TextIntervals
    intervals
      .filter(i => i._2 == null || compare(i._1, i._2) < 0)
      .sortWith((a, b) => compare(a._1, b._1) < 0)
      .foreach { case (from, until) => out.add(from, until) }
    out.result
  }

  /** All that begins so. */
  def beginning(prefix: Array[Byte]): Texts = textRange(prefix, afterPrefix(prefix))

  /** The least string above `value`. */
  def next(value: Array[Byte]): Array[Byte] = Arrays.copyOf(value, value.length + 1)

  /** The interval of texts is a single value. */
  def isPoint(low: Array[Byte], high: Array[Byte]): Boolean =
    high != null && high.length == low.length + 1 && high(low.length) == 0 &&
      Arrays.equals(high, 0, low.length, low, 0, low.length)

  /** The least string above all that begin with `prefix`; null if there is none. */
  def afterPrefix(prefix: Array[Byte]): Array[Byte] = {
    val length = prefix.lastIndexWhere(_ != -1) + 1
    if (length == 0) null
    else {
      val end = Arrays.copyOf(prefix, length)
      end(length - 1) = (end(length - 1) + 1).toByte
      end
    }
  }

  def union(a: ValueSet, b: ValueSet): ValueSet = (a, b) match {
    case (x: Longs, y: Longs) => union(x, y)
    case (x: Texts, y: Texts) => union(x, y)
    case _                    => throw mixed()
  }

  def intersect(a: ValueSet, b: ValueSet): ValueSet = (a, b) match {
    case (x: Longs, y: Longs) => intersect(x, y)
    case (x: Texts, y: Texts) => intersect(x, y)
    case _                    => throw mixed()
  }

  /** All other values of the order. */
  def complement(a: ValueSet): ValueSet = a match {
    case x: Longs => complement(x)
    case x: Texts => complement(x)
  }

  def isAll(a: ValueSet): Boolean = a match {
    case x: Longs => x.lows.length == 1 && x.lows(0) == Long.MinValue && x.highs(0) == Long.MaxValue
    case x: Texts => x.lows.length == 1 && x.lows(0).isEmpty && x.highs(0) == null
  }

  /** The intervals `(min, max)`, ascending. */
  def intervals(a: Longs): Vector[(Long, Long)] = a.lows.indices.map(i => (a.lows(i), a.highs(i))).toVector

  /** The intervals `(from, until)`, ascending. */
  def intervals(a: Texts): Vector[(Array[Byte], Array[Byte])] =
    a.lows.indices.map(i => (a.lows(i), a.highs(i))).toVector

  def same(a: ValueSet, b: ValueSet): Boolean = (a, b) match {
    case (x: Longs, y: Longs) => Arrays.equals(x.lows, y.lows) && Arrays.equals(x.highs, y.highs)
    case (x: Texts, y: Texts) =>
      Arrays.deepEquals(x.lows.toArray[Object], y.lows.toArray[Object]) &&
      Arrays.deepEquals(x.highs.toArray[Object], y.highs.toArray[Object])
    case _ => false
  }

  private def union(a: Longs, b: Longs): Longs = {
    val out = new LongIntervals
    var (i, j) = (0, 0)
    while (i < a.lows.length || j < b.lows.length) {
      val ofA = j == b.lows.length || (i < a.lows.length && a.lows(i) <= b.lows(j))
      if (ofA) { out.add(a.lows(i), a.highs(i)); i += 1 }
      else { out.add(b.lows(j), b.highs(j)); j += 1 }
    }
    out.result
  }

  private def intersect(a: Longs, b: Longs): Longs = {
    val out = new LongIntervals
    var (i, j) = (0, 0)
    while (i < a.lows.length && j < b.lows.length) {
      val low = math.max(a.lows(i), b.lows(j))
      val high = math.min(a.highs(i), b.highs(j))
      if (low <= high) out.add(low, high)
      if (a.highs(i) < b.highs(j)) i += 1 else j += 1
    }
    out.result
  }

  private def complement(a: Longs): Longs = {
    val out = new LongIntervals
    var from = Long.MinValue
    var open = true
    a.lows.indices.foreach { i =>
      if (a.lows(i) > from) out.add(from, a.lows(i) - 1)
      open = a.highs(i) < Long.MaxValue
      if (open) from = a.highs(i) + 1
    }
    if (open) out.add(from, Long.MaxValue)
    out.result
  }

  private def union(a: Texts, b: Texts): Texts = {
    val out = new TextIntervals
    var (i, j) = (0, 0)
    while (i < a.lows.length || j < b.lows.length) {
      val ofA = j == b.lows.length || (i < a.lows.length && compare(a.lows(i), b.lows(j)) <= 0)
      if (ofA) { out.add(a.lows(i), a.highs(i)); i += 1 }
      else { out.add(b.lows(j), b.highs(j)); j += 1 }
    }
    out.result
  }

  private def intersect(a: Texts, b: Texts): Texts = {
    val out = new TextIntervals
    var (i, j) = (0, 0)
    while (i < a.lows.length && j < b.lows.length) {
      val low = if (compare(a.lows(i), b.lows(j)) >= 0) a.lows(i) else b.lows(j)
      val ofA = compareEnds(a.highs(i), b.highs(j)) <= 0
      val high = if (ofA) a.highs(i) else b.highs(j)
      if (high == null || compare(low, high) < 0) out.add(low, high)
      if (ofA) i += 1 else j += 1
    }
    out.result
  }

  private def complement(a: Texts): Texts = {
    val out = new TextIntervals
    var from = Array.emptyByteArray
    a.lows.indices.foreach { i =>
      if (compare(from, a.lows(i)) < 0) out.add(from, a.lows(i))
      from = a.highs(i)
    }
    if (from != null) out.add(from, null)
    out.result
  }

  private def compare(a: Array[Byte], b: Array[Byte]): Int = Arrays.compareUnsigned(a, b)

  /** Upper ends, null above all. */
  private def compareEnds(a: Array[Byte], b: Array[Byte]): Int =
    if (a == null || b == null) java.lang.Boolean.compare(a == null, b == null) else compare(a, b)

  private def mixed() = new IllegalArgumentException("sets of values of different orders")

  /** Takes intervals by ascending lower ends, and joins those that meet or touch. */
  final private class LongIntervals {
    private val lows = Array.newBuilder[Long]
    private val highs = Array.newBuilder[Long]
    private var isOpen = false
    private var (low, high) = (0L, 0L)

    def add(min: Long, max: Long): Unit =
      if (isOpen && (high == Long.MaxValue || min <= high + 1)) high = math.max(high, max)
      else {
        close()
        isOpen = true
        low = min
        high = max
      }

    def result: Longs = {
      close()
      isOpen = false
      new Longs(lows.result(), highs.result())
    }

    private def close(): Unit = if (isOpen) { lows += low; highs += high }
  }

  /** The same for strings of bytes. */
  final private class TextIntervals {
    private val lows = Array.newBuilder[Array[Byte]]
    private val highs = Array.newBuilder[Array[Byte]]
    private var low: Array[Byte] = _
    private var high: Array[Byte] = _

    def add(from: Array[Byte], until: Array[Byte]): Unit =
      if (low != null && (high == null || compare(from, high) <= 0)) {
        if (compareEnds(until, high) > 0) high = until
      } else {
        close()
        low = from
        high = until
      }

    def result: Texts = {
      close()
      low = null
      new Texts(lows.result(), highs.result())
    }

    private def close(): Unit = if (low != null) { lows += low; highs += high }
  }
}
