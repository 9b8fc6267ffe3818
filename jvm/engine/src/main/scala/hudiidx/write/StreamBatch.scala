package hudiidx.write

import java.security.MessageDigest

import scala.collection.JavaConverters._

import com.fasterxml.jackson.core.JsonProcessingException
import com.fasterxml.jackson.databind.ObjectMapper
import hudiidx.sync.TableContext
import hudiidx.timeline.CommitMetadata
import hudiidx.{DamagedTable, Log, TableChanged, UnsupportedTable, WholeNumber}

/** A batch of a stream. The commit that has its rows has its number too, as stock Hudi's sink writes it, and what tells it from
  * another batch of that number: see docs/format.md.
  *
  * @param writer  whose batches are numbered
  * @param number  one that failed comes again under its number
  * @param isOfAll it is held against all commits of the active timeline, not against the newest that names the writer alone: that
  *                may have a copy of an older number, as a writer of stock's that began before the last batch was there makes it
  */
final case class StreamBatch(writer: String, number: BatchNumber, isOfAll: Boolean = true) {

  /** Of the commit with its rows. */
  def metadata: Map[String, String] = StreamBatch.metadataOf(Map(writer -> number))

  /** Has the table this batch? Where its active timeline has none of the writer, the archive is asked. TableChanged if it has a later
    * one, or another of this number: Spark brings none but the last one again, so these are other rows.
    */
  def isIn(table: TableContext): Boolean = {
    val active = StreamBatch.active(table).flatMap(_.get(writer))
    def archived = StreamBatch.archived(table).flatMap(_.get(writer))
    val last = greatest(if (isOfAll) active else active.take(1)).orElse(greatest(archived))
    last.filter(number.isOutdatedBy).foreach(StreamBatch.requireLast(table.tablePath, this, _))
    last.exists(_.id == number.id)
  }

  private def greatest(numbers: Iterator[BatchNumber]): Option[BatchNumber] = numbers.reduceOption(_ max _)
}

/** @param id      ascending
  * @param offsets SHA-256 of what Spark noted of the batch before it ran; None: not known
  */
final case class BatchNumber(id: Long, offsets: Option[String] = None) {

  /** The later one, or of one batch the one of which more is known. */
  def max(other: BatchNumber): BatchNumber =
    if (other.id > id || other.id == id && offsets.isEmpty) other else this

  def isOutdatedBy(last: BatchNumber): Boolean =
    last.id > id || last.id == id && last.offsets.exists(o => offsets.exists(_ != o))
}

object BatchNumber {

  /** @param noted Spark's file of the batch's offsets */
  def digest(noted: Array[Byte]): String =
    MessageDigest.getInstance("SHA-256").digest(noted).map(b => f"$b%02x").mkString
}

object StreamBatch {

  /** The option that names the writer. */
  val Writer = "hoodie.datasource.write.streaming.checkpoint.identifier"

  private val Numbers = "_hudi_streaming_sink_checkpoint"
  private val Offsets = "_hudiidx_streaming_offsets"
  private val mapper = new ObjectMapper
  private val log = Log.of(classOf[StreamBatch])

  /** Of the commit that makes a table anew, whose timeline begins with it: the last batch of each writer that the table before had,
    * so that one of these that comes again is known there too.
    *
    * @param batch whose rows the commit has
    */
  def carried(before: TableContext, batch: Option[StreamBatch]): Map[String, String] = metadataOf(
    last(before) ++ batch.map(b => b.writer -> b.number)
  )

  private def last(table: TableContext): Map[String, BatchNumber] =
    try {
      (archived(table) ++ active(table)).foldLeft(Map.empty[String, BatchNumber])((all, numbers) =>
        all ++ numbers.map { case (writer, n) => writer -> all.get(writer).fold(n)(_ max n) }
      )
    } catch {
      // It may be made anew because it cannot be read.
      case e @ (_: DamagedTable | _: UnsupportedTable) =>
        log.warn("{}: a batch of a stream that the table has may come again: {}", table.tablePath, e.getMessage: Any)
        Map.empty
    }

  private def requireLast(tablePath: String, batch: StreamBatch, last: BatchNumber): Unit = {
    val has = if (last.id == batch.number.id) s"another batch ${last.id}" else s"its batch ${last.id}"
    throw new TableChanged(
      s"$tablePath: batch ${batch.number.id} of the stream '${batch.writer}' comes when the table has $has: its checkpoint is older than the " +
        "table or new, or another stream has its name. Nothing was written. Go on with the checkpoint that led to that batch, or, if " +
        s"these rows are not in the table yet, set $Writer to a name that no stream had"
    )
  }

  /** Numbers that commits have, the last commit first. */
  private def active(table: TableContext): Iterator[Map[String, BatchNumber]] =
    table.timeline.completedWrites.reverseIterator.map(i => numbersOf(table.contents.commitWithoutStats(i)))

  private def archived(table: TableContext): Iterator[Map[String, BatchNumber]] =
    table.history
      .instantsFrom("")
      .filter(i => TableContext.Writes(i.action))
      .map(i => numbersOf(i.content.commitWithoutStats))

  private def metadataOf(numbers: Map[String, BatchNumber]): Map[String, String] = {
    val all = numbers.toVector.sortBy(_._1)
    json(Numbers, all.map { case (writer, n) => writer -> n.id.toString }) ++
      json(Offsets, all.flatMap { case (writer, n) => n.offsets.map(writer -> _) })
  }

  private def json(key: String, values: Vector[(String, String)]): Map[String, String] =
    if (values.isEmpty) Map.empty
    else {
      val node = mapper.createObjectNode()
      values.foreach { case (writer, value) => node.put(writer, value) }
      Map(key -> mapper.writeValueAsString(node))
    }

  private def numbersOf(commit: CommitMetadata): Map[String, BatchNumber] = {
    val offsets = texts(commit, Offsets)
    texts(commit, Numbers).flatMap { case (writer, text) =>
      WholeNumber.of(text.trim, Long.MaxValue).map(id => writer -> BatchNumber(id, offsets.get(writer)))
    }
  }

  private def texts(commit: CommitMetadata, key: String): Map[String, String] =
    try
      commit.extraMetadata.get(key).fold(Map.empty[String, String]) { text =>
        val root = mapper.readTree(text)
        root.fieldNames.asScala.map(writer => writer -> root.get(writer).asText).toMap
      }
    catch { case _: JsonProcessingException => Map.empty }
}
