package hudiidx.hive.mapreduce

import java.util.{ArrayList => JArrayList, List => JList}

import hudiidx.hive.{
  ColumnChoice,
  JobInput,
  PieceRows,
  PieceSplit,
  PlainWritables,
  ReadSettings,
  RowPredicate,
  SlicePiece
}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.hadoop.io.{ArrayWritable, NullWritable}
import org.apache.hadoop.mapreduce.lib.input.{FileInputFormat, FileSplit}
import org.apache.hadoop.mapreduce.{InputFormat, InputSplit, JobContext, RecordReader, TaskAttemptContext}

/** Rows of Hudi tables for MapReduce jobs, without Hive: what a snapshot query shows. docs/hive.md.
  *
  * A row has the columns that `hudiidx.read.columns` names, or all of the table's, as Hadoop's own Writables. Input folders and
  * errors as of `hudiidx.hive.HudiIdxInputFormat`.
  */
final class HudiIdxInputFormat extends InputFormat[NullWritable, ArrayWritable] {

  override def getSplits(job: JobContext): JList[InputSplit] = {
    val conf = job.getConfiguration
    val folders = FileInputFormat.getInputPaths(job).toSeq
    val pieces = JobInput.pieces(conf, folders, ReadSettings.of(conf), RowPredicate.Everything) { (_, block) =>
      math.max(FileInputFormat.getMinSplitSize(job), math.min(FileInputFormat.getMaxSplitSize(job), block)).max(1L)
    }
    val splits = new JArrayList[InputSplit]
    pieces.foreach(p => splits.add(new HudiIdxSplit(p)))
    splits
  }

  override def createRecordReader(
      split: InputSplit,
      context: TaskAttemptContext
  ): RecordReader[NullWritable, ArrayWritable] = new HudiIdxRecordReader
}

object HudiIdxInputFormat {

  /** Sets the columns of a row, in this order. */
  def setColumns(conf: Configuration, columns: Array[String]): Unit =
    conf.set(ReadSettings.Columns, ReadSettings.json(columns.toSeq))

  /** Sets the partitions to read, by their paths. */
  def setPartitions(conf: Configuration, partitions: Array[String]): Unit =
    conf.set(ReadSettings.Partitions, ReadSettings.json(partitions.toSeq))

  /** Sets the record keys whose rows are read. */
  def setKeys(conf: Configuration, keys: Array[String]): Unit =
    conf.set(ReadSettings.Keys, ReadSettings.json(keys.toSeq))
}

/** A piece of a table. */
final class HudiIdxSplit private[mapreduce] (private[hive] override var piece: SlicePiece)
    extends FileSplit(new Path(piece.path), piece.start, piece.bytes, Array.empty[String])
    with PieceSplit {

  /** For Hadoop, which reads the rest behind it. */
  def this() = this(SlicePiece.None)
}

private final class HudiIdxRecordReader extends RecordReader[NullWritable, ArrayWritable] {
  private var rows: PieceRows = _
  private var current: ArrayWritable = _

  override def initialize(split: InputSplit, context: TaskAttemptContext): Unit = {
    val piece = split.asInstanceOf[HudiIdxSplit].piece
    val conf = context.getConfiguration
    rows = PieceRows.open(
      conf,
      piece,
      table => ColumnChoice.of(table, ReadSettings.of(conf), piece.path)(c => PlainWritables.of(c.valueType))
    )
  }

  override def nextKeyValue(): Boolean = {
    val row = rows.next()
    if (row != null) {
      current = PieceRows.emptyRow
      current.set(row)
    }
    row != null
  }

  override def getCurrentKey: NullWritable = NullWritable.get
  override def getCurrentValue: ArrayWritable = current
  override def getProgress: Float = rows.progress
  override def close(): Unit = if (rows != null) rows.close()
}
