package hudiidx.spark.stream

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8

import hudiidx.engine.Tables
import hudiidx.spark.options.{ReadOptions, StreamOptions}
import hudiidx.spark.pinned.SharedTable
import hudiidx.storage.Storage
import hudiidx.table.query.{MicroBatch, StreamCommits, StreamOffset}
import hudiidx.{Log, LogOnce}
import org.apache.spark.SparkEnv
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read._
import org.apache.spark.sql.connector.read.streaming._
import org.apache.spark.sql.vectorized.ColumnarBatch

/** What a stream of a table reads, a micro-batch after another: each is a batch query of the commits between two offsets.
  *
  * @param read       how the table is opened
  * @param checkpoint the folder that Spark keeps for this stream
  */
abstract private[spark] class TableStream(
    spark: SparkSession,
    path: String,
    read: ReadOptions,
    asked: StreamOptions,
    checkpoint: String
) extends MicroBatchStream
    with SupportsTriggerAvailableNow {
  // With Trigger.AvailableNow: the table as it was when the query started.
  private var atStart: Option[SharedTable] = None

  /** The batch query of some commits. */
  protected def query(table: SharedTable, batch: MicroBatch): Batch

  private def open(): SharedTable = {
    val table = SharedTable.open(spark, path, read.index)
    StreamOptions.check(asked, table.config)
    table
  }

  private def commits(table: SharedTable): StreamCommits =
    new StreamCommits(
      table.config,
      table.timeline,
      table.contents,
      table.context.history,
      asked.request,
      System.currentTimeMillis()
    )

  /** Kept in the checkpoint, so that a query that ends before its first batch is done begins there again. */
  override def initialOffset(): Offset = {
    val hadoop = spark.sessionState.newHadoopConf()
    val file = Storage.join(Tables.qualified(checkpoint, hadoop), TableStream.StartFile)
    val storage = Tables.access(hadoop).storage
    if (storage.status(file).isEmpty) {
      val start = commits(open()).start(asked.start)
      storage.publish(file, start.json.getBytes(UTF_8)): Unit
    }
    deserializeOffset(new String(storage.readAll(file), UTF_8))
  }

  override def deserializeOffset(json: String): Offset = new TableOffset(StreamOffset.parse(json))

  override def getDefaultReadLimit: ReadLimit = asked.most.fold(ReadLimit.allAvailable())(MaxCommits(_))

  override def latestOffset(): Offset = throw new IllegalStateException("Spark asks with a limit")

  override def latestOffset(from: Offset, limit: ReadLimit): Offset = {
    val offset = TableStream.offset(from)
    val found = commits(atStart.getOrElse(open()))
    TableStream.told.warn(
      s"$path $checkpoint",
      found
        .hole(offset)
        .map(hole => s"$path: the stream waits for the write $hole, which has not completed; later ones have")
    )
    val most = limit match {
      case MaxCommits(n) => Some(n)
      case _             => None
    }
    val next = found.next(offset, most)
    // Spark makes a batch of no rows of an offset that it has not seen.
    if (next == offset) null else new TableOffset(next)
  }

  override def prepareForTriggerAvailableNow(): Unit = atStart = Some(open())

  override def planInputPartitions(from: Offset, to: Offset): Array[InputPartition] = {
    val table = open()
    val batch = query(table, commits(table).between(TableStream.offset(from), TableStream.offset(to)))
    val pieces = batch.planInputPartitions()
    if (pieces.isEmpty) pieces
    else {
      val readers = batch.createReaderFactory()
      val sent = spark.sparkContext.broadcast(StreamReaders.written(readers))
      pieces.map(p => StreamPiece(p, readers.supportColumnarReads(p), sent, readers): InputPartition)
    }
  }

  override def createReaderFactory(): PartitionReaderFactory = StreamReaders

  override def commit(end: Offset): Unit = ()

  override def stop(): Unit = ()
}

private[spark] object TableStream {

  /** In the folder of the checkpoint: the offset at which the stream began. */
  val StartFile = "hudiidx-start.json"

  private val log = Log.of(classOf[TableStream])
  private val told = new LogOnce(log)

  private def offset(of: Offset): StreamOffset = StreamOffset.parse(of.json)
}

final private class TableOffset(offset: StreamOffset) extends Offset {
  override val json: String = offset.json
}

/** So many commits make a batch. */
final private case class MaxCommits(commits: Int) extends ReadLimit

/** A piece of a micro-batch, and what reads it: Spark asks for the readers of a stream without saying of which batch.
  *
  * @param held the readers again, on the driver alone: Spark removes what was sent for them when nobody there has them any more
  */
final private case class StreamPiece(
    piece: InputPartition,
    isColumnar: Boolean,
    readers: Broadcast[Array[Byte]],
    @transient held: PartitionReaderFactory
) extends InputPartition {
  override def preferredLocations(): Array[String] = piece.preferredLocations()
}

private object StreamReaders extends PartitionReaderFactory {

  /** Each task gets readers of its own, as Spark hands them out: they keep what they have open. */
  def written(readers: PartitionReaderFactory): Array[Byte] = {
    val bytes = SparkEnv.get.closureSerializer.newInstance().serialize(readers)
    val all = new Array[Byte](bytes.remaining)
    bytes.get(all)
    all
  }

  private def reading[A](input: InputPartition)(read: (PartitionReaderFactory, InputPartition) => A): A = {
    val StreamPiece(piece, _, written, _) = ofStream(input)
    val serializer = SparkEnv.get.closureSerializer.newInstance()
    val loader = Thread.currentThread.getContextClassLoader
    read(serializer.deserialize[PartitionReaderFactory](ByteBuffer.wrap(written.value), loader), piece)
  }

  private def ofStream(input: InputPartition): StreamPiece = input match {
    case p: StreamPiece => p
    case other          => throw new IllegalStateException(s"no piece of a stream: $other")
  }

  override def supportColumnarReads(input: InputPartition): Boolean = ofStream(input).isColumnar

  override def createReader(input: InputPartition): PartitionReader[InternalRow] = reading(input)(_.createReader(_))

  override def createColumnarReader(input: InputPartition): PartitionReader[ColumnarBatch] =
    reading(input)(_.createColumnarReader(_))
}
