package hudiidx.hadoop

import java.nio.file.{Files, Path, Paths}

import hudiidx.storage.LocalStorage
import hudiidx.table.TableConfig
import hudiidx.timeline.InstantName

/** Hides instants of a copied table's active timeline, the last completed ones first. */
private[hudiidx] final class TimelineCut(table: String) {
  private val config = TableConfig.read(LocalStorage, table)
  private val dir = Paths.get(config.timelineDir(table))
  private val hidden: Path = Files.createDirectories(Paths.get(table + "-hidden"))
  private val instants: Vector[(String, Vector[String])] = {
    val parsed = LocalStorage
      .list(dir.toString)
      .flatMap(f => InstantName.parse(f.name, config.timelineLayout).map(i => f.name -> i))
    parsed
      .groupBy { case (_, i) => (i.requestedTime, InstantName.comparableAction(i.action)) }
      .toVector
      .map { case (id, files) =>
        files.flatMap(_._2.completionTime).headOption.getOrElse(id._1) -> files.map(_._1)
      }
      .sorted(Ordering.by((i: (String, Vector[String])) => (i._1, i._2.min)))
  }

  def size: Int = instants.size

  def showFirst(n: Int): Unit = instants.zipWithIndex.foreach { case ((_, files), i) =>
    files.foreach { f =>
      val (from, to) = if (i < n) (hidden, dir) else (dir, hidden)
      if (Files.exists(from.resolve(f))) Files.move(from.resolve(f), to.resolve(f))
    }
  }

  def showAll(): Unit = showFirst(size)
}
