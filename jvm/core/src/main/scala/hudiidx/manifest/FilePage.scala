package hudiidx.manifest

import hudiidx.DamagedIndex
import hudiidx.bytes.{PackedInput, PackedOutput}
import hudiidx.table.FileEntry

/** A page of file entries of one partition, stored by column. docs/format.md, "File page". Pure: bytes in, entries out. */
object FilePage {
  private[manifest] val Version = 1
  private[manifest] val NumericInstants = 1
  private[manifest] val UuidIds = 2
  private[manifest] val RandomUuids = 4
  private[manifest] val SparkTokens = 8

  /** Encodes `entries(from until until)`. Entries of one file group should stand together: an id is stored once a run. */
  def encode(entries: Array[FileEntry], from: Int, until: Int): Array[Byte] =
    new FilePageEncoder(entries, from, until).encode()

  /** Number of entries of a page, without decoding the rest. */
  def entryCount(in: PackedInput, where: => String): Int = refused(where) {
    in.byte()
    FilePageDecoder.count(in)
  }

  /** @param where file and page, for the error */
  def decode(bytes: Array[Byte], partitionPath: String, where: => String): Array[FileEntry] =
    decode(new PackedInput(bytes), partitionPath, where)

  /** As above, of a page that stands within a larger array. */
  def decode(page: PackedInput, partitionPath: String, where: => String): Array[FileEntry] =
    refused(where)(new FilePageDecoder(page, partitionPath).decode())

  /** Entries of the file groups that are wanted, of a page whose first entry has number `firstNumber`. */
  private[manifest] def select(
      page: PackedInput,
      partitionPath: String,
      wanted: WantedGroups,
      firstNumber: Int,
      where: => String
  ): Int = refused(where)(new FilePageDecoder(page, partitionPath).select(wanted, firstNumber))

  private def refused[A](where: => String)(read: => A): A =
    try read
    catch {
      case e @ (_: IllegalArgumentException | _: IndexOutOfBoundsException) =>
        throw new DamagedIndex(
          s"$where: file page cannot be decoded: ${e.getMessage}; `hudiidx create` makes a new index",
          e
        )
    }
}

/** An instant of a page's dictionary. `completion` is empty if unknown; `stage` and `attempt` are the write token's stage and
  *  (attempt - task) of the first entry with this instant, which most others of the same write repeat.
  */
private[manifest] final class PageInstant(val time: String) {
  var completion: String = ""
  var stage: Long = 0
  var attempt: Long = 0
  var tokenSeen: Boolean = false

  /** Unknown, or 17 digits and not before the request, so that the difference stores it. */
  def hasNumericCompletion: Boolean = completion.isEmpty || (PageInstant.isNumeric(completion) && completion >= time)
}

private[manifest] object PageInstant {

  /** 17 digits, so that a Long holds it and gives it back unchanged. */
  def isNumeric(s: String): Boolean = {
    var i = 0
    while (i < s.length && s.charAt(i) >= '0' && s.charAt(i) <= '9') i += 1
    s.length == 17 && i == 17
  }

  def render(value: Long): String = {
    require(value >= 0 && value < 100000000000000000L, s"instant $value is not one of 17 digits")
    val s = value.toString
    if (s.length == 17) s else "0" * (17 - s.length) + s
  }
}

private[manifest] final class FilePageEncoder(entries: Array[FileEntry], from: Int, until: Int) {
  private val n = until - from
  private val out = new PackedOutput(64 + n * 24)
  private val scratch = new Array[Long](n)
  private val instants: Array[PageInstant] = collectInstants()
  private val ordinal: java.util.HashMap[String, Integer] = {
    val m = new java.util.HashMap[String, Integer]
    instants.indices.foreach(i => m.put(instants(i).time, i))
    m
  }
  private val tokens: Array[SparkToken] = Array.tabulate(n)(i => SparkToken.parse(entries(from + i).writeToken))
  private val groups: Array[String] = groupIds()
  private val uuids: Array[UuidId] = groups.map(UuidId.parse)

  def encode(): Array[Byte] = {
    val numeric = instants.forall(i => PageInstant.isNumeric(i.time) && i.hasNumericCompletion)
    val uuid = !uuids.contains(null)
    val random = uuid && uuids.forall(_.isRandom)
    val spark = !tokens.contains(null)
    out.byte(FilePage.Version)
    out.varint(n.toLong)
    out.byte(
      (if (numeric) FilePage.NumericInstants else 0) | (if (uuid) FilePage.UuidIds else 0) |
        (if (random) FilePage.RandomUuids else 0) | (if (spark) FilePage.SparkTokens else 0)
    )
    if (spark) collectTokenBases()
    writeInstants(numeric, spark)
    column(i => entries(from + i).kind.code.toLong)
    column(i => ordinal.get(entries(from + i).instantTime).longValue)
    column(i => entries(from + i).logVersion.toLong)
    column(i => entries(from + i).sizeBytes)
    column(i => entries(from + i).replacedAt.fold(0L)(t => ordinal.get(t) + 1L))
    column(i => if (startsGroup(i)) 1L else 0L)
    writeIds(uuid, random)
    writeTokens(spark)
    out.toBytes
  }

  private def column(value: Int => Long): Unit = {
    var i = 0
    while (i < n) {
      scratch(i) = value(i)
      i += 1
    }
    out.column(scratch, n)
  }

  private def startsGroup(i: Int): Boolean = i == 0 || entries(from + i).fileId != entries(from + i - 1).fileId

  private def groupIds(): Array[String] = Array.range(0, n).filter(startsGroup).map(i => entries(from + i).fileId)

  private def collectInstants(): Array[PageInstant] = {
    val byTime = new java.util.TreeMap[String, PageInstant]
    var i = from
    while (i < until) {
      val e = entries(i)
      val instant = byTime.computeIfAbsent(e.instantTime, t => new PageInstant(t))
      if (e.completionTime.isDefined) instant.completion = e.completionTime.get
      if (e.replacedAt.isDefined) byTime.computeIfAbsent(e.replacedAt.get, t => new PageInstant(t))
      i += 1
    }
    byTime.values.toArray(new Array[PageInstant](0))
  }

  private def collectTokenBases(): Unit = {
    var i = 0
    while (i < n) {
      val instant = instants(ordinal.get(entries(from + i).instantTime))
      if (!instant.tokenSeen) {
        instant.tokenSeen = true
        instant.stage = tokens(i).stage
        instant.attempt = tokens(i).attempt - tokens(i).task
      }
      i += 1
    }
  }

  private def writeInstants(numeric: Boolean, spark: Boolean): Unit = {
    out.varint(instants.length.toLong)
    var previous = 0L
    instants.foreach { i =>
      if (numeric) {
        val time = i.time.toLong
        out.varint(time - previous)
        out.zigzag(if (i.completion.isEmpty) 0 else 1 + i.completion.toLong - time)
        previous = time
      } else {
        out.string(i.time)
        out.string(i.completion)
      }
      if (spark) {
        out.varint(i.stage)
        out.zigzag(i.attempt)
      }
    }
  }

  private def writeIds(uuid: Boolean, random: Boolean): Unit =
    if (uuid) {
      val (high, low) = (uuids.map(_.high), uuids.map(_.low))
      if (random) {
        out.bits(high.map(UuidId.dropVersion), high.length, 0, 60)
        out.bits(low.map(UuidId.dropVariant), low.length, 0, 62)
      } else {
        out.bits(high, high.length, 0, 64)
        out.bits(low, low.length, 0, 64)
      }
      out.column(uuids.map(_.suffix), uuids.length)
    } else groups.foreach(out.string)

  private def writeTokens(spark: Boolean): Unit =
    if (spark) {
      column(i => tokens(i).task)
      column(i => tokens(i).stage - instantOf(i).stage)
      column(i => tokens(i).attempt - tokens(i).task - instantOf(i).attempt)
    } else {
      var i = 0
      while (i < n) {
        out.string(entries(from + i).writeToken)
        i += 1
      }
    }

  private def instantOf(i: Int): PageInstant = instants(ordinal.get(entries(from + i).instantTime))
}
