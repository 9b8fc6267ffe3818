package hudiidx.manifest

import hudiidx.bytes.PackedInput
import hudiidx.table.{FileEntry, FileKind}

/** Columns are read where they stand, so that entries which nobody wants cost little. */
private[manifest] final class FilePageDecoder(in: PackedInput, partitionPath: String) {
  private val version = in.byte()
  require(version == FilePage.Version, s"page version $version, this hudiidx reads ${FilePage.Version}")
  private val count = FilePageDecoder.count(in)
  private val flags = in.byte()
  private val instants = readInstants((flags & FilePage.NumericInstants) != 0, (flags & FilePage.SparkTokens) != 0)
  private val kinds, instant, logVersions, sizes, replaced, starts = in.columnInPlace(count)
  private val ids: Int => String = readIds()
  private val tokens: Int => String = readTokens()
  require(in.remaining == 0, s"${in.remaining} bytes after the page")

  def decode(): Array[FileEntry] = {
    val out = new Array[FileEntry](count)
    var group = -1
    var id: String = null
    var i = 0
    while (i < count) {
      if (starts(i) != 0) {
        group += 1
        id = ids(group)
      }
      out(i) = entry(i, id)
      i += 1
    }
    out
  }

  /** Hands the entries of file groups that are wanted to `wanted`, and tells it of each that is not.
    *
    *  @param firstNumber of the page's first entry
    *  @return entries of the page
    */
  def select(wanted: WantedGroups, firstNumber: Int): Int = {
    val plain = kinds.isConstant && kinds(0) == FileKind.Parquet.code && replaced.isConstant && replaced(0) == 0
    var group = 0
    var from = 0
    while (from < count) {
      var until = from + 1
      while (until < count && starts(until) == 0) until += 1
      // A group at an end of the page may go on in the next one.
      var pick = from == 0 || until == count
      var i = from
      while (i < until && !pick) {
        pick = wanted.hasSize(sizes(i)) || (!plain && (kinds(i) != FileKind.Parquet.code || replaced(i) != 0))
        i += 1
      }
      pick ||= wanted.isChanged(firstNumber + from, firstNumber + until)
      if (pick || wanted.hasIds) {
        val id = ids(group)
        if (pick || wanted.hasId(id))
          (from until until).foreach(i => if (!wanted.isRemoved(firstNumber + i)) wanted.add(entry(i, id)))
        else wanted.passOver()
      } else wanted.passOver()
      group += 1
      from = until
    }
    count
  }

  private def entry(i: Int, id: String): FileEntry = {
    val at = instant(i).toInt
    val kind = FileKind.ofCode(kinds(i).toInt).orNull
    require(kind != null, s"file kind ${kinds(i)}")
    require(FileEntry.isSize(sizes(i)), s"file of ${sizes(i)} bytes")
    val replacedBy = replaced(i)
    FileEntry(
      partitionPath,
      id,
      instants.time(at),
      tokens(i),
      kind,
      logVersions(i).toInt,
      sizes(i),
      instants.completion(at),
      if (replacedBy == 0) None else instants.replacing((replacedBy - 1).toInt)
    )
  }

  private def readInstants(numeric: Boolean, spark: Boolean): DecodedInstants = {
    val out = new DecodedInstants(in.count(16))
    var previous = 0L
    var i = 0
    while (i < out.count) {
      if (numeric) {
        previous += in.varint()
        val completion = in.zigzag()
        out.setNumbers(i, previous, if (completion == 0) DecodedInstants.Missing else previous + completion - 1)
      } else out.setTexts(i, part(), part())
      if (spark) {
        out.stages(i) = in.varint()
        out.attempts(i) = in.zigzag()
      }
      i += 1
    }
    out
  }

  /** Id of each file group of the page. */
  private def readIds(): Int => String = {
    require(count == 0 || starts(0) == 1, "first entry does not start a file group")
    var groups = 0
    var i = 0
    while (i < count) {
      if (starts(i) != 0) groups += 1
      i += 1
    }
    if ((flags & FilePage.UuidIds) != 0) {
      val random = (flags & FilePage.RandomUuids) != 0
      val high = in.bitsInPlace(groups, 0, if (random) 60 else 64)
      val low = in.bitsInPlace(groups, 0, if (random) 62 else 64)
      val suffix = in.columnInPlace(groups)
      val render = new NameRenderer
      if (random) g => render(UuidId.addVersion(high(g)), UuidId.addVariant(low(g)), suffix(g))
      else g => render(high(g), low(g), suffix(g))
    } else Array.fill(groups)(part())
  }

  /** Write token of each entry. */
  private def readTokens(): Int => String =
    if ((flags & FilePage.SparkTokens) != 0) {
      val tasks, stages, attempts = in.columnInPlace(count)
      val render = new NameRenderer
      i => {
        val at = instant(i).toInt
        render.token(tasks(i), stages(i) + instants.stages(at), attempts(i) + tasks(i) + instants.attempts(at))
      }
    } else Array.fill(count)(part())

  /** Part of a file's name: its text, where it is of no usual form. */
  private def part(): String = {
    val text = in.string()
    require(text.indexOf('/') < 0, s"'$text' is part of no file name")
    text
  }
}

/** Instants of a page, as texts when they are asked for: of most pages few entries are wanted. */
private[manifest] final class DecodedInstants(val count: Int) {
  val stages, attempts = new Array[Long](count)
  private val numbers, completionNumbers = new Array[Long](count)
  private val times = new Array[String](count)
  private val completions, replacings = new Array[Option[String]](count)

  def setNumbers(i: Int, time: Long, completion: Long): Unit = {
    DecodedInstants.check(time)
    if (completion != DecodedInstants.Missing) DecodedInstants.check(completion)
    numbers(i) = time
    completionNumbers(i) = completion
  }

  def setTexts(i: Int, time: String, completion: String): Unit = {
    times(i) = time
    completions(i) = Some(completion).filter(_.nonEmpty)
  }

  def time(i: Int): String = {
    if (times(i) == null) times(i) = PageInstant.render(numbers(i))
    times(i)
  }

  def completion(i: Int): Option[String] = {
    if (completions(i) == null)
      completions(i) =
        if (completionNumbers(i) == DecodedInstants.Missing) None else Some(PageInstant.render(completionNumbers(i)))
    completions(i)
  }

  /** As a file's instant of replacement. */
  def replacing(i: Int): Option[String] = {
    if (replacings(i) == null) replacings(i) = Some(time(i))
    replacings(i)
  }
}

private[manifest] object DecodedInstants {

  /** Not completed. */
  val Missing: Long = Long.MinValue

  def check(time: Long): Unit =
    if (time < 0 || time >= 100000000000000000L)
      throw new IllegalArgumentException(s"instant $time is not one of 17 digits")
}

private[manifest] object FilePageDecoder {

  /** Writers stay far below; a hostile count above is refused before anything is allocated. */
  val MaxEntries: Int = 1 << 16

  def count(in: PackedInput): Int = {
    val n = in.varint()
    require(n >= 0 && n <= MaxEntries, s"page of $n entries")
    n.toInt
  }
}
