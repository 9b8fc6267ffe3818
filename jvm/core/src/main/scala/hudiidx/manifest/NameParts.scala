package hudiidx.manifest

/** A write token `<task>-<stage>-<attempt>` in numbers. */
private[hudiidx] final class SparkToken(val task: Long, val stage: Long, val attempt: Long)

private[hudiidx] object SparkToken {
  private val MaxDigits = 15

  /** Null unless rendering the numbers gives the same text back. */
  def parse(token: String): SparkToken = {
    val first = token.indexOf('-')
    val second = token.indexOf('-', first + 1)
    if (first < 0 || second < 0) null
    else {
      val task = number(token, 0, first)
      val stage = number(token, first + 1, second)
      val attempt = number(token, second + 1, token.length)
      if (task < 0 || stage < 0 || attempt < 0) null else new SparkToken(task, stage, attempt)
    }
  }

  /** -1 unless the text is a plain decimal without leading zeros. */
  def number(s: String, from: Int, until: Int): Long =
    if (until <= from || until - from > MaxDigits || (s.charAt(from) == '0' && until - from > 1)) -1
    else {
      var v = 0L
      var i = from
      while (i < until && v >= 0) {
        val d = s.charAt(i) - '0'
        v = if (d < 0 || d > 9) -1 else v * 10 + d
        i += 1
      }
      v
    }
}

/** A file id `<uuid>-<n>` or `<uuid>` (suffix -1) in numbers. */
private[hudiidx] final class UuidId(val high: Long, val low: Long, val suffix: Long) {

  /** Version 4, variant 2: six bits are known. */
  def isRandom: Boolean = ((high >>> 12) & 0xf) == 4 && (low >>> 62) == 2
}

private[hudiidx] object UuidId {
  private val UuidLength = 36

  /** Null unless rendering the numbers gives the same text back. */
  def parse(id: String): UuidId =
    if (id.length < UuidLength || !dashesStand(id)) null
    else {
      val suffix =
        if (id.length == UuidLength) -1L
        else if (id.charAt(UuidLength) != '-') -2L
        else {
          val n = SparkToken.number(id, UuidLength + 1, id.length)
          if (n < 0) -2L else n
        }
      val digits = hex(id)
      if (suffix == -2 || digits == null) null else new UuidId(digits(0), digits(1), suffix)
    }

  private def dashesStand(id: String): Boolean =
    id.charAt(8) == '-' && id.charAt(13) == '-' && id.charAt(18) == '-' && id.charAt(23) == '-'

  private def hex(id: String): Array[Long] = {
    val out = new Array[Long](2)
    var digits = 0
    var i = 0
    while (i < UuidLength && digits >= 0) {
      if (i != 8 && i != 13 && i != 18 && i != 23) {
        val c = id.charAt(i)
        val d = if (c >= '0' && c <= '9') c - '0' else if (c >= 'a' && c <= 'f') c - 'a' + 10 else -1
        if (d < 0) digits = -1000
        else {
          out(digits >> 4) = (out(digits >> 4) << 4) | d
          digits += 1
        }
      }
      i += 1
    }
    if (digits == 32) out else null
  }

  def dropVersion(high: Long): Long = ((high >>> 16) << 12) | (high & 0xfff)

  def addVersion(packed: Long): Long = ((packed >>> 12) << 16) | 0x4000L | (packed & 0xfff)

  def dropVariant(low: Long): Long = low & 0x3fffffffffffffffL

  def addVariant(packed: Long): Long = (packed & 0x3fffffffffffffffL) | (1L << 63)
}

/** Text of file ids and write tokens; one buffer serves a whole page. */
private[hudiidx] final class NameRenderer {
  private val buffer = new Array[Byte](64)

  def apply(high: Long, low: Long, suffix: Long): String = {
    var at = hex(high >>> 32, 4, 0)
    at = hex(high >>> 16, 2, dash(at))
    at = hex(high, 2, dash(at))
    at = hex(low >>> 48, 2, dash(at))
    at = hex(low, 6, dash(at))
    if (suffix >= 0) at = decimal(suffix, dash(at))
    text(at)
  }

  /** A write token's text. */
  def token(task: Long, stage: Long, attempt: Long): String =
    text(decimal(attempt, dash(decimal(stage, dash(decimal(task, 0))))))

  private def text(length: Int): String =
    new String(buffer, 0, length, java.nio.charset.StandardCharsets.ISO_8859_1)

  private def dash(at: Int): Int = {
    buffer(at) = '-'
    at + 1
  }

  /** The lowest `bytes` bytes of a number, two digits each. */
  private def hex(value: Long, bytes: Int, at: Int): Int = {
    var i = 0
    while (i < bytes) {
      val pair = ((value >>> ((bytes - 1 - i) * 8)) & 0xff).toInt * 2
      buffer(at + i * 2) = NameRenderer.HexPairs(pair)
      buffer(at + i * 2 + 1) = NameRenderer.HexPairs(pair + 1)
      i += 1
    }
    at + bytes * 2
  }

  private def decimal(value: Long, at: Int): Int = {
    var size = 1
    var v = value
    while (v >= 10) {
      v /= 10
      size += 1
    }
    v = value
    var i = at + size - 1
    while (i >= at) {
      buffer(i) = ('0' + v % 10).toByte
      v /= 10
      i -= 1
    }
    at + size
  }
}

private[hudiidx] object NameRenderer {

  /** The two hexadecimal digits of each byte value. */
  private val HexPairs: Array[Byte] = {
    val digits = "0123456789abcdef"
    Array.tabulate(512)(i => digits.charAt(if (i % 2 == 0) i / 2 >> 4 else i / 2 & 15).toByte)
  }
}
