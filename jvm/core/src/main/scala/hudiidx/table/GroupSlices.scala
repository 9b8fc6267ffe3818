package hudiidx.table

import java.util.Arrays

/** The committed file slices of one file group after another, in arrays that are used again: a partition may have a
  *  hundred thousand groups. Slices stand in ascending order of their instants, log files in log order. Format notes §4.3, §4.4.
  *
  *  @param files one partition's files in `FileOrder`
  */
private[table] final class GroupSlices(files: Array[FileEntry], partitionPath: String, timeline: ViewTimeline) {
  private val compactions = timeline.compactionsOf(partitionPath)
  private var from = 0
  private var until = 0
  private var instants = new Array[String](8)
  private var bases = new Array[FileEntry](8)
  private var logs = new Array[FileEntry](8)
  private var sliceOfLog = new Array[Int](8)
  private var logCount = 0

  /** Number of slices of the group. */
  var count = 0

  /** Requested time of the group's pending compaction; null if there is none. */
  var compaction: String = null

  /** Requested time of the committed replacecommit that replaced the group; null if none did. */
  var replacedAt: String = null

  def fileId: String = files(from).fileId
  def instant(slice: Int): String = instants(slice)
  def base(slice: Int): FileEntry = bases(slice)

  /** Moves to the next file group; false behind the last one. */
  def next(): Boolean = {
    from = until
    if (from >= files.length) false
    else {
      val id = files(from).fileId
      until = from + 1
      while (until < files.length && files(until).fileId == id) until += 1
      compaction = if (compactions == null) null else compactions.get(id)
      replacedAt = findReplacement()
      count = 0
      logCount = 0
      makeSlices()
      true
    }
  }

  private def findReplacement(): String = {
    var earliest: String = null
    var i = from
    while (i < until) {
      val replaced = files(i).replacedAt
      if (
        replaced.isDefined && (earliest == null || replaced.get.compareTo(earliest) < 0) && timeline.isCommitted(
          replaced.get
        )
      )
        earliest = replaced.get
      i += 1
    }
    earliest
  }

  /** A committed file. On version 6 a log file bears its slice's instant, and whether its
    *  blocks count is for the log reader to find out; the same goes for such names on an upgraded table.
    */
  private def counts(f: FileEntry): Boolean =
    timeline.isCommitted(f.instantTime) || (!f.isBase && compaction != null && f.instantTime == compaction)

  /** Adds a slice behind the others unless there is one of that instant or a later one. */
  private def addSlice(instant: String): Unit =
    if (count == 0 || instants(count - 1).compareTo(instant) < 0) insertSlice(count, instant)

  private def makeSlices(): Unit = {
    var anyLog = false
    var i = from
    while (i < until) {
      val f = files(i)
      if (counts(f))
        if (f.isBase) {
          addSlice(f.instantTime)
          bases(count - 1) = f
        } else {
          anyLog = true
          if (timeline.isOfSlice(f.instantTime)) addSlice(f.instantTime)
        }
      i += 1
    }
    // A group of which nothing is committed stays away, whatever the plan says.
    if (compaction != null && (count > 0 || anyLog)) {
      val at = latestNotAfter(compaction)
      if (at < 0 || instants(at) != compaction) insertSlice(at + 1, compaction)
    }
    if (anyLog) placeLogs()
  }

  private def placeLogs(): Unit = {
    var i = from
    while (i < until) {
      val f = files(i)
      if (!f.isBase && counts(f)) addLog(f, sliceFor(f))
      i += 1
    }
  }

  /** A log file that bears the instant of a slice of its group was named by version 6 and belongs there, as does one
    *  that makes the first slice of a group. Others were named by version 8 or later, also on a table that was downgraded
    *  since; the completion time is looked up only where a slice later than the log file's request could hold it.
    */
  private def sliceFor(log: FileEntry): Int = {
    val byName = latestNotAfter(log.instantTime)
    if (byName >= 0 && (byName == count - 1 || instants(byName) == log.instantTime)) byName
    else {
      val isFirst = count == 0 || (byName < 0 && timeline.slicesByName)
      val slice = if (isFirst) -1 else latestNotAfter(timeline.completionTime(log))
      if (slice >= 0) slice
      else {
        // At most once a group: every later log file was requested, and so completed, at or after this instant.
        insertSlice(0, log.instantTime)
        0
      }
    }
  }

  /** Index of the latest slice at or before the instant; -1 if there is none. */
  private def latestNotAfter(instant: String): Int = {
    if (count > 0 && instants(count - 1).compareTo(instant) <= 0) count - 1
    else {
      val at = Arrays.binarySearch(instants.asInstanceOf[Array[Object]], 0, count, instant)
      if (at >= 0) at else -at - 2
    }
  }

  private def insertSlice(at: Int, instant: String): Unit = {
    if (count == instants.length) {
      instants = Arrays.copyOf(instants, count * 2)
      bases = Arrays.copyOf(bases, count * 2)
    }
    if (at < count) {
      System.arraycopy(instants, at, instants, at + 1, count - at)
      System.arraycopy(bases, at, bases, at + 1, count - at)
      var i = 0
      while (i < logCount) {
        if (sliceOfLog(i) >= at) sliceOfLog(i) += 1
        i += 1
      }
    }
    instants(at) = instant
    bases(at) = null
    count += 1
  }

  private def addLog(log: FileEntry, slice: Int): Unit = {
    if (logCount == logs.length) {
      logs = Arrays.copyOf(logs, logCount * 2)
      sliceOfLog = Arrays.copyOf(sliceOfLog, logCount * 2)
    }
    logs(logCount) = log
    sliceOfLog(logCount) = slice
    logCount += 1
  }

  /** Index of the newest slice at or before `max` (null: of all); -1 if there is none. */
  def latest(max: String): Int = if (max == null) count - 1 else latestNotAfter(max)

  def hasFiles(slice: Int): Boolean = {
    var found = bases(slice) != null
    var i = 0
    while (!found && i < logCount) {
      found = sliceOfLog(i) == slice
      i += 1
    }
    found
  }

  /** The slice with all its files. */
  def slice(at: Int): FileSlice = make(at, at, at)

  /** The slice at `at - 1` with the log files of both, in log order. */
  def mergedWithPrevious(at: Int): FileSlice = make(at - 1, at - 1, at)

  private def make(at: Int, firstLogs: Int, lastLogs: Int): FileSlice =
    toSlice(at, logFiles(i => sliceOfLog(i) >= firstLogs && sliceOfLog(i) <= lastLogs))

  private def toSlice(at: Int, logFiles: Vector[LogFile]): FileSlice = {
    val base = if (bases(at) == null) None else Some(GroupSlices.baseFile(bases(at)))
    FileSlice(partitionPath, fileId, instants(at), base, logFiles)
  }

  private def logFiles(belongs: Int => Boolean): Vector[LogFile] = {
    var i = 0
    var found: scala.collection.mutable.Builder[LogFile, Vector[LogFile]] = null
    while (i < logCount) {
      if (belongs(i)) {
        if (found == null) found = Vector.newBuilder[LogFile]
        found += GroupSlices.logFile(logs(i))
      }
      i += 1
    }
    if (found == null) Vector.empty else found.result()
  }

  /** Hands every slice at or before `max` to `use`, oldest first. One pass over the log files, whatever their number. */
  def foreachSlice(max: String)(use: FileSlice => Unit): Unit = {
    val last = latest(max)
    if (logCount == 0 || last <= 0) {
      var s = 0
      while (s <= last) { use(slice(s)); s += 1 }
    } else {
      val found = Array.fill(last + 1)(Vector.newBuilder[LogFile])
      var i = 0
      while (i < logCount) {
        if (sliceOfLog(i) <= last) found(sliceOfLog(i)) += GroupSlices.logFile(logs(i))
        i += 1
      }
      var s = 0
      while (s <= last) { use(toSlice(s, found(s).result())); s += 1 }
    }
  }
}

private[table] object GroupSlices {

  def baseFile(f: FileEntry): BaseFile = BaseFile(f.partitionPath, f.fileId, f.instantTime, f.fileName, f.sizeBytes)

  def logFile(f: FileEntry): LogFile = LogFile(f.fileName, f.sizeBytes, f.logVersion)
}
