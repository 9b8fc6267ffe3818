package hudiidx.sync

import hudiidx.IndexNotWritable
import hudiidx.storage.FileInfo
import hudiidx.store.{IndexFile, IndexStore, IndexVersion}

/** Tells others how far a `create` or an addition has come: marker files whose names say it, in steps of ten percent.
  * docs/format.md, "Index folder". Being the first files of a create, they also find out early that the folder takes none.
  */
private[sync] final class BuildProgress(store: IndexStore, startMillis: Long) {
  private val token = IndexStore.newToken()
  private var markers = Vector.empty[IndexFile]
  private var shown = -1
  private var shownNanos = 0L

  /** Leaves a marker. IndexNotWritable if that fails. */
  def begin(): Unit = show(0)

  private def show(percent: Int): Unit = {
    shown = percent
    shownNanos = System.nanoTime()
    markers :+= store.writeScratch(s"$startMillis.$token.$percent${BuildProgress.Suffix}", BuildProgress.Kind)(_ => ())
  }

  /** What is told how much of one step of the work is done, from 0 to 1. A marker is left where that makes a difference.
    *
    *  @param step  place of the step among `steps` that take the same share
    */
  def of(step: Int, steps: Int): Double => Unit = { done =>
    val percent = ((step + done) / steps * 10 + BuildProgress.Rounding).toInt * 10
    if (percent > shown && percent < 100 && isTime) show(percent)
  }

  /** A marker costs a store that is far some calls, now and at the end. */
  private def isTime: Boolean =
    !store.storage.isFar(store.dir) || System.nanoTime() - shownNanos >= BuildProgress.FarNanos

  /** The same items; `show` is told as they pass. */
  def following[A](items: Iterator[A], total: Int, show: Double => Unit): Iterator[A] = {
    var passed = 0L
    items.map { item =>
      passed += 1
      show(passed.toDouble / total)
      item
    }
  }

  /** Removes the markers. Those that will not go are left to a later update. */
  def end(): Unit =
    try markers.foreach(store.delete)
    catch { case _: IndexNotWritable => () }
}

private[hudiidx] object BuildProgress {
  private val Suffix = ".building"
  private val Kind = "progress"
  private val FarNanos = 5L * 1000 * 1000 * 1000

  /** Sums of shares come out a little below the whole number that they are. */
  private val Rounding = 1e-9
  private val Marker = """(\d{1,18})\.[0-9a-z]+\.(\d{1,2})\.building""".r

  /** A create that has left no marker for so long is taken for dead. */
  val MaxSilenceMillis: Long = 2L * 60 * 60 * 1000

  /** Percent done of a create that is running and began after `current` was made.
    *
    * @param listed what is in the index folder
    */
  def running(listed: Vector[FileInfo], current: Option[IndexVersion], nowMillis: Long): Option[Int] = {
    val made = current.map(_.createdAtMillis).getOrElse(0L)
    val percents = listed.filter(nowMillis - _.modifiedMillis < MaxSilenceMillis).map(_.name).collect {
      case Marker(start, percent) if start.toLong > made => percent.toInt
    }
    percents.sorted.lastOption
  }
}
