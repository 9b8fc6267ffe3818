package hudiidx.engine

import java.nio.file.{Files, Path, Paths}

import hudiidx.storage.LocalStorage
import hudiidx.table.TableConfig
import hudiidx.timeline.InstantName

/** Hides instants of a copied table's active timeline, the last completed ones first. Those that were there when the table was
  * upgraded come and go at once: without some of them it was never a table of its version.
  */
private[hudiidx] final class TimelineCut(table: String) {
  import TimelineCut.Named

  private val config = TableConfig.read(LocalStorage, table)
  private val dir = Paths.get(config.timelineDir(table))
  private val hidden: Path = Files.createDirectories(Paths.get(table + "-hidden"))

  private val steps: Vector[Vector[String]] = {
    val all = LocalStorage.list(dir.toString).flatMap { f =>
      InstantName.parse(f.name, config.timelineLayout).map { i =>
        Named(f.name, i.requestedTime, i.completionTime, InstantName.comparableAction(i.action))
      }
    }
    if (config.initialVersion == config.version) one(all)
    else {
      val upgraded = all.filter(i => all.flatMap(_.completed).forall(i.requested < _))
      val next = all.diff(upgraded).map(_.requested)
      // A compaction that was pending then has been completed since.
      val since = upgraded.filter(_.completed.exists(c => next.exists(_ < c)))
      upgraded.diff(since).map(_.file) +: one(all.diff(upgraded) ++ since)
    }
  }

  /** A step for each instant. */
  private def one(all: Vector[Named]): Vector[Vector[String]] =
    all
      .groupBy(i => (i.requested, i.action))
      .toVector
      .map { case (id, files) => files.flatMap(_.completed).headOption.getOrElse(id._1) -> files.map(_.file) }
      .sorted(Ordering.by((i: (String, Vector[String])) => (i._1, i._2.min)))
      .map(_._2)

  def size: Int = steps.size

  def showFirst(n: Int): Unit = steps.zipWithIndex.foreach { case (files, i) =>
    files.foreach { f =>
      val (from, to) = if (i < n) (hidden, dir) else (dir, hidden)
      if (Files.exists(from.resolve(f))) Files.move(from.resolve(f), to.resolve(f))
    }
  }

  def showAll(): Unit = showFirst(size)
}

private object TimelineCut {
  final case class Named(file: String, requested: String, completed: Option[String], action: String)
}
