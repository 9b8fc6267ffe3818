package hudiidx.engine.record

import hudiidx.record._
import hudiidx.record.page.EntryFlag
import hudiidx.storage.EndsAhead
import hudiidx.store.{IndexFile, IndexStore}
import hudiidx.sync.{TableAccess, TaskEngine}

/** The work of creation's tasks. Made here, so that tasks carry what they need and nothing else. */
private[record] object KeyTasks {

  /** Memory for entries that a task holds before it writes a run. */
  val BudgetBytes: Long = 256L << 20

  /** Behind an input a run is written when the entries held take so much, so that a killed task loses little (some 250,000
    * keys), and a merge has few runs.
    */
  val RunBytes: Long = 16L << 20

  /** Reads the keys of the inputs and writes runs into `folder`.
    *
    *  @param show is told the share that is done, from 0 to 1
    */
  def write(
      engine: TaskEngine,
      table: RecordTable,
      folder: String,
      ranges: Vector[HashRange],
      inputs: Vector[SliceInput],
      show: Double => Unit = _ => ()
  ): Vector[IndexFile] =
    if (inputs.isEmpty) Vector.empty
    else {
      val shares = Shares.ofBytes(inputs, engine.parallelism)(_.bytes)
      val what = s"read record keys of ${inputs.size} file slices"
      engine.runShowing(what, shares, counting(shares.size, show))(runs(table, folder, ranges)).flatten
    }

  private def counting(total: Int, show: Double => Unit): Seq[Int] => Unit = {
    var done = 0
    places => {
      done += places.size
      show(done.toDouble / total)
    }
  }

  private def runs(
      table: RecordTable,
      path: String,
      ranges: Vector[HashRange]
  ): (TableAccess, Vector[SliceInput]) => Vector[IndexFile] = { (access, share) =>
    val folder = new RunFolder(access.storage, path)
    val task = s"${share.head.ordinal}-${share.head.part}"
    var written = Vector.empty[IndexFile]
    var complete, open = Vector.empty[String]
    var betweenInputs = false
    // A run that the budget forces out amid an input is named by the run behind it that completes the input.
    def flush(run: SortedRun): Unit = {
      val file =
        if (betweenInputs) folder.write(run, task, complete, open)
        else folder.write(run, task, Vector.empty, Vector.empty)
      written :+= file
      open = if (betweenInputs) Vector.empty else open :+ file.name
      if (betweenInputs) complete = Vector.empty
    }
    val builder = new RunBuilder(ranges, BudgetBytes, flush)
    val ahead = new EndsAhead(access.storage)
    val reading = access.over(ahead)
    ahead.over(share)(table.baseOf).foreach { input =>
      betweenInputs = false
      table.keys(reading, input) { (bytes, from, length, day, doubt) =>
        builder.add(bytes, from, length, input.ordinal, day, if (doubt) EntryFlag.Doubt else 0)
      }
      complete :+= input.name
      betweenInputs = true
      if (builder.pendingBytes >= RunBytes) builder.flushRest()
    }
    builder.flushRest()
    written
  }

  /** Merges each hash group's sections of all runs into a base file. `show` as in `write`. */
  def merge(
      engine: TaskEngine,
      indexDir: String,
      instant: String,
      ranges: Vector[HashRange],
      runs: Vector[IndexFile],
      show: Double => Unit
  ): Vector[WrittenGroup] = {
    val work = bases(indexDir, instant, runs)
    val what = s"merge ${runs.size} runs of record keys into ${ranges.size} groups"
    engine.runShowing(what, ranges.zipWithIndex, counting(ranges.size, show))(work)
  }

  private def bases(
      indexDir: String,
      instant: String,
      runs: Vector[IndexFile]
  ): (TableAccess, (HashRange, Int)) => WrittenGroup = { case (access, (range, group)) =>
    val store = new IndexStore(access.storage, indexDir)
    val folder = RunFolder.ofBuild(store)
    new HashGroupWriter(store, instant).baseOfRuns(range, group, runs.map(run => () => folder.open(run)))
  }
}

/** Shares of work. */
private[record] object Shares {
  private val PerSlot = 3
  private val MostBytes: Long = 1L << 30

  /** Consecutive items in shares of about the same weight: a few for each task that runs at once, none very large. */
  def ofBytes[A](items: Vector[A], slots: Int)(bytes: A => Long): Vector[Vector[A]] = {
    val total = items.map(bytes).sum
    val target = math.max(1L, math.min(MostBytes, total / (slots.toLong * PerSlot) + 1))
    val out = Vector.newBuilder[Vector[A]]
    var share = Vector.empty[A]
    var held = 0L
    items.foreach { item =>
      if (share.nonEmpty && held + bytes(item) > target) {
        out += share
        share = Vector.empty
        held = 0
      }
      share :+= item
      held += bytes(item)
    }
    if (share.nonEmpty) out += share
    out.result()
  }
}
