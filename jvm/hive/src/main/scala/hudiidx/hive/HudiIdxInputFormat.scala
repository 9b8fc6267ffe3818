package hudiidx.hive

import hudiidx.InvalidOption
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.hadoop.hive.ql.io.CombineHiveInputFormat
import org.apache.hadoop.io.{ArrayWritable, NullWritable, Writable}
import org.apache.hadoop.mapred.{FileInputFormat, InputFormat, InputSplit, JobConf, RecordReader, Reporter}

/** Rows of Hudi tables for Hive, and for Spark's Hive tables: what a snapshot query shows. docs/hive.md.
  *
  * The job's input folders are tables or partitions of them; files come from the table's index, or from a listing that stands in
  * for it. Rows are as Hive's Parquet serde takes them. Typed errors as everywhere: NotAHudiTable, UnsupportedTable, DamagedTable,
  * InvalidOption, and in strict mode those of the index.
  */
class HudiIdxInputFormat
    extends InputFormat[NullWritable, ArrayWritable]
    with CombineHiveInputFormat.AvoidSplitCombination {

  /** What `conf` says; other formats may say something else. */
  protected def isReadOptimized(conf: Configuration): Boolean = false

  override def getSplits(job: JobConf, wanted: Int): Array[InputSplit] = {
    val settings = settingsOf(job)
    val folders = FileInputFormat.getInputPaths(job).toSeq
    val pieces = JobInput.pieces(job, folders, settings, HivePredicate.of(job)) { (total, block) =>
      val least = job.getLong("mapreduce.input.fileinputformat.split.minsize", 1L)
      val most = job.getLong("mapreduce.input.fileinputformat.split.maxsize", Long.MaxValue)
      val goal = math.max(1L, total / math.max(1, wanted))
      math.max(math.max(1L, least), math.min(most, math.min(goal, block)))
    }
    pieces.map(new HudiIdxSplit(_): InputSplit).toArray
  }

  override def getRecordReader(
      split: InputSplit,
      job: JobConf,
      reporter: Reporter
  ): RecordReader[NullWritable, ArrayWritable] = split match {
    case own: HudiIdxSplit =>
      val where = own.piece.path
      val rows = PieceRows.open(
        job,
        own.piece,
        table => HiveLayout.of(job).fold(HiveLayout.plain(table, settingsOf(job), where))(_.of(table, where))
      )
      new HudiIdxRecordReader(rows, own.getLength)
    case other =>
      throw new InvalidOption(
        s"$other is not a split of ${getClass.getName}, so the rows of its slice are unknown; set hive.input.format to " +
          "org.apache.hadoop.hive.ql.io.HiveInputFormat"
      )
  }

  private def settingsOf(conf: Configuration): ReadSettings = {
    val settings = ReadSettings.of(conf)
    settings.copy(readOptimized = settings.readOptimized || isReadOptimized(conf))
  }

  /** Splits are ours alone to make: Hive's combined ones are made of files that it lists. */
  override def shouldSkipCombine(path: Path, conf: Configuration): Boolean = true
}

/** The same of base files alone: of merge-on-read tables the rows as of each file group's last compaction. */
final class HudiIdxReadOptimizedInputFormat extends HudiIdxInputFormat {
  override protected def isReadOptimized(conf: Configuration): Boolean = true
}

private final class HudiIdxRecordReader(rows: PieceRows, bytes: Long)
    extends RecordReader[NullWritable, ArrayWritable] {
  override def createKey(): NullWritable = NullWritable.get
  override def createValue(): ArrayWritable = PieceRows.emptyRow

  override def next(key: NullWritable, value: ArrayWritable): Boolean = {
    val row: Array[Writable] = rows.next()
    if (row != null) value.set(row)
    row != null
  }

  override def getPos: Long = (bytes * getProgress).toLong
  override def getProgress: Float = rows.progress
  override def close(): Unit = rows.close()
}
