package hudiidx.bytes

/** Canonical lower-case UUIDs (RFC 4122: 8-4-4-4-12 hexadecimal digits) as ASCII bytes, and as 128 bits in two halves. */
object UuidText {
  val Length = 36

  /** The bytes after which there is a dash. */
  private val DashAt: Array[Boolean] = {
    val at = new Array[Boolean](16)
    Seq(3, 5, 7, 9).foreach(i => at(i) = true)
    at
  }

  /** Value of each lower-case hexadecimal digit; everything else is negative. */
  private val Digit: Array[Byte] = {
    val values = Array.fill[Byte](256)(-1)
    "0123456789abcdef".zipWithIndex.foreach { case (c, i) => values(c.toInt) = i.toByte }
    values
  }

  private val HexPairs: Array[Byte] = {
    val digits = "0123456789abcdef"
    Array.tabulate(512)(i => digits.charAt(if (i % 2 == 0) i / 2 >> 4 else i / 2 & 15).toByte)
  }

  /** Reads 36 bytes into `halves` (high, low); false if they are no canonical lower-case UUID. */
  def parse(bytes: Array[Byte], from: Int, halves: Array[Long]): Boolean =
    bytes(from + 8) == '-' && bytes(from + 13) == '-' && bytes(from + 18) == '-' && bytes(from + 23) == '-' && {
      var bad = 0
      var high = 0L
      var low = 0L
      var at = from
      var i = 0
      while (i < 8) {
        val pair = Digit(bytes(at) & 0xff) << 4 | Digit(bytes(at + 1) & 0xff)
        bad |= pair
        high = (high << 8) | pair
        at += (if (DashAt(i)) 3 else 2)
        i += 1
      }
      while (i < 16) {
        val pair = Digit(bytes(at) & 0xff) << 4 | Digit(bytes(at + 1) & 0xff)
        bad |= pair
        low = (low << 8) | pair
        at += (if (DashAt(i)) 3 else 2)
        i += 1
      }
      halves(0) = high
      halves(1) = low
      bad >= 0
    }

  /** Writes the 36 bytes of a UUID at `at`. */
  def render(high: Long, low: Long, out: Array[Byte], at: Int): Unit = {
    var to = at
    var i = 0
    while (i < 16) {
      val half = if (i < 8) high else low
      val pair = ((half >>> ((7 - (i & 7)) * 8)) & 0xff).toInt * 2
      out(to) = HexPairs(pair)
      out(to + 1) = HexPairs(pair + 1)
      to += 2
      if (DashAt(i)) {
        out(to) = '-'
        to += 1
      }
      i += 1
    }
  }
}
