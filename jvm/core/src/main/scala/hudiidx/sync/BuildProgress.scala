package hudiidx.sync

import hudiidx.IndexNotWritable
import hudiidx.storage.FileInfo
import hudiidx.store.{IndexFile, IndexStore, IndexVersion}
import java.io.IOException

/** Tells others how far a `create` has come: marker files whose names say it, in steps of ten percent of the partitions.
  * docs/format.md, "Index folder". Being the first files of a create, they also find out early that the folder takes none.
  */
private[sync] final class BuildProgress(store: IndexStore, startMillis: Long) {
  private val token = IndexStore.newToken()
  private var markers = Vector.empty[IndexFile]

  /** Leaves a marker. IndexNotWritable if that fails. */
  def show(percent: Int): Unit =
    markers :+= store.writeScratch(s"$startMillis.$token.$percent${BuildProgress.Suffix}", BuildProgress.Kind)(_ => ())

  /** The same items; markers are left as they pass. */
  def following[A](items: Iterator[A], total: Int): Iterator[A] = {
    var (passed, shown) = (0L, 0)
    items.map { item =>
      passed += 1
      val step = (passed * 10 / total).toInt * 10
      if (step > shown && step < 100) {
        shown = step
        show(step)
      }
      item
    }
  }

  /** Removes the markers. Those that will not go are left to a later update. */
  def end(): Unit =
    try markers.foreach(store.delete)
    catch { case _: IndexNotWritable => () }
}

private[sync] object BuildProgress {
  private val Suffix = ".building"
  private val Kind = "progress"
  private val Marker = """(\d{1,18})\.[0-9a-z]+\.(\d{1,3})\.building""".r

  /** A create that has left no marker for so long is taken for dead. */
  val MaxSilenceMillis: Long = 2L * 60 * 60 * 1000

  /** Percent done of a create that is running and began after `current` was made. None where the folder cannot be read. */
  def running(store: IndexStore, current: Option[IndexVersion], nowMillis: Long): Option[Int] = {
    val made = current.map(_.createdAtMillis).getOrElse(0L)
    val percents = listed(store).filter(nowMillis - _.modifiedMillis < MaxSilenceMillis).map(_.name).collect {
      case Marker(start, percent) if start.toLong > made => percent.toInt
    }
    percents.sorted.lastOption
  }

  private def listed(store: IndexStore): Vector[FileInfo] =
    try store.storage.list(store.dir)
    catch { case _: IOException => Vector.empty }
}
