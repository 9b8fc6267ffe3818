package hudiidx.benchmarks

import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.Paths
import java.util.UUID

/** `GenerateTables --dir DIR [--no-files] [--threads N] SHAPE...`: makes `DIR/<shape>` and `DIR/<shape>.json`;
  *  with `--no-files` `DIR/<shape>-timeline`, a table that is nothing but its timeline.
  */
object GenerateTables {

  def main(args: Array[String]): Unit = {
    val options = Options.parse(args, Set("dir", "threads"), Set("no-files"))
    val threads = options.value("threads").map(_.toInt).getOrElse(2)
    options.rest.foreach(name =>
      generate(Shape.named(name), Paths.get(options("dir")), !options.flag("no-files"), threads)
    )
  }

  def generate(shape: Shape, dir: Path, withFiles: Boolean, threads: Int): Unit = {
    val name = if (withFiles) shape.name else shape.name + "-timeline"
    val root = dir.resolve(name)
    if (Files.exists(root)) throw new IllegalArgumentException(s"$root: is already there; delete it first")
    val started = System.nanoTime()
    val plan = new TablePlan(shape)
    new TableWriter(plan, root, threads).write(withFiles)
    val facts = TableFacts.of(plan)
    facts.write(dir.resolve(name + ".json"))
    val seconds = (System.nanoTime() - started) / 1e9
    println(
      f"$root: ${facts.files}%,d files, ${facts.partitions}%,d partitions (average ${facts.average.head.files}, largest " +
        f"${facts.largest.head.files}%,d), ${facts.instants} commits, in $seconds%.1f s"
    )
  }
}

/** `AppendCommit --table DIR --shape SHAPE [--files N] [--no-files]`: one more completed commit, N new file groups
  *  (100 unless told) in random partitions.
  */
object AppendCommit {

  def main(args: Array[String]): Unit = {
    val options = Options.parse(args, Set("table", "shape", "files"), Set("no-files"))
    val files = options.value("files").map(_.toInt).getOrElse(100)
    val instant = append(Paths.get(options("table")), Shape.named(options("shape")), files, !options.flag("no-files"))
    println(s"${options("table")}: commit $instant added $files files")
  }

  /** Returns the new commit's requested time. */
  def append(root: Path, shape: Shape, files: Int, withFiles: Boolean): String = {
    val timeline = root.resolve(".hoodie/timeline")
    val names = timeline.toFile.list()
    val instant = names.count(_.endsWith(".commit"))
    val requested = TablePlan.requestedTime(instant)
    val random = TablePlan.random(shape.seed, -3 - instant)
    val first = java.time.LocalDate.of(2012, 1, 1)
    val written = Vector.tabulate(files) { task =>
      val partition = first.plusDays(random.nextInt(shape.partitions - 1).toLong).toString
      val high = (random.nextLong() & ~0xf000L) | 0x4000L
      val low = (random.nextLong() & 0x3fffffffffffffffL) | 0x8000000000000000L
      val fileId = new UUID(high, low).toString + "-0"
      val token = s"$task-${39 + 26 * instant}-${7000000 + 200 * instant + task}"
      WrittenFile(
        partition,
        fileId,
        s"${fileId}_${token}_$requested.parquet",
        random.nextLong(1L << 24, 1L << 27),
        None
      )
    }
    if (withFiles)
      written.foreach(f => TableWriter.writeSparse(root.resolve(f.partitionPath).resolve(f.fileName), f.sizeBytes))
    TableWriter.writeCommit(timeline, requested, TablePlan.completionTime(instant), written.iterator)
    requested
  }
}
