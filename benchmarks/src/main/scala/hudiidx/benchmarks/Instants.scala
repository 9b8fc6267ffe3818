package hudiidx.benchmarks

import java.nio.file.{Files, Path, Paths}

import hudiidx.sync.build.Indexer

/** `Instants --dir DIR --out OUT [--counts 1000,10000,100000]`: tables whose timelines nobody archives, of so many commits of ten files
  * each in 1,000 partitions, without their data files. What opening, planning and updates cost there.
  */
object Instants {
  private val FilesACommit = 10
  private val Partitions = 1000
  private val Indexed = 100
  private val Repeats = 10

  def main(args: Array[String]): Unit = {
    val options = Options.parse(args, Set("dir", "out", "counts"), Set.empty)
    val counts = options.value("counts").getOrElse("1000,10000,100000").split(',').map(_.toInt)
    counts.foreach { n =>
      val table = Paths.get(options("dir")).resolve(s"instants-$n")
      if (!Files.exists(table)) new TableWriter(new TablePlan(shape(n)), table, 2).write(withFiles = false)
      new Instants(table, shape(n), new Report(Paths.get(options("out")), n.toString, "hudiidx")).run()
    }
  }

  private def shape(instants: Int): Shape =
    Shape(s"I$instants", instants * FilesACommit, Partitions, instants, 15005L)
}

private final class Instants(root: Path, shape: Shape, report: Report) {
  import Instants._
  private val table = root.toString
  private val timeline = root.resolve(".hoodie/timeline")

  def run(): Unit = {
    catchUp()
    val partition = new TablePlan(shape).partitionPath(Partitions / 2)
    def opened(): Any = Rfc15.opened(table)(_.source.partitions)
    report.median("list the timeline's folder", "table", "", repeated(Report.millis(timeline.toFile.list())))
    report.median("open", "table", "cold", repeated(Report.millis(opened())))
    report.median("open", "table", "processor time", repeated(Report.cpuMillis(opened())))
    report.median(
      "open, files of a partition",
      "table",
      "cold",
      repeated(Report.millis(Rfc15.opened(table)(_.source.files(partition))))
    )
    (0 until 10).foreach(_ => append())
    report.median("open, ten commits behind", "table", "cold", repeated(Report.millis(opened())))
    update(): Unit
    report.median(
      "update, 100 files",
      "table",
      "",
      (0 until 5).map { _ =>
        append()
        Report.millis(update())
      }
    )
  }

  /** Opens are compiled by then. */
  private def repeated(call: => Double): Seq[Double] = (0 until 2 * Repeats).map(_ => call).drop(Repeats)

  private def append(): Unit = AppendCommit.append(root, shape, 100, withFiles = false): Unit

  private def update(): AnyRef = new Indexer(Rfc15.access(), table, Rfc15.strict).update()

  /** Makes the index when the first commits are there, and updates it once by all others. */
  private def catchUp(): Unit = {
    val hidden = root.resolve(".hoodie/timeline-hidden")
    Rfc15.deleteTree(root.resolve(".hoodie/hudiidx"))
    Files.move(timeline, hidden)
    Files.createDirectories(timeline)
    new Indexer(Rfc15.access(), table, Rfc15.strict.copy(source = "listing")).create()
    val names = hidden.toFile.list().sorted
    val first = names.map(_.take(17)).distinct.take(Indexed).toSet
    names.filter(n => first(n.take(17))).foreach(n => Files.move(hidden.resolve(n), timeline.resolve(n)))
    update(): Unit
    hidden.toFile.list().foreach(n => Files.move(hidden.resolve(n), timeline.resolve(n)))
    Rfc15.deleteTree(hidden)
    val commits = shape.instants - Indexed
    report.add("catch up, a commit of ten files", "table", "", Report.millis(update()) / commits, "ms", 1)
    val bytes = Rfc15.opened(table)(_.use.version.get.files.map(_.sizeBytes).sum)
    report.add("index, bytes a file", "table", "", bytes.toDouble / shape.files, "bytes", 1)
  }
}
