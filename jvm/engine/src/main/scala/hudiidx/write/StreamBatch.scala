package hudiidx.write

import scala.collection.JavaConverters._

import com.fasterxml.jackson.core.JsonProcessingException
import com.fasterxml.jackson.databind.ObjectMapper
import hudiidx.sync.TableContext
import hudiidx.timeline.CommitMetadata
import hudiidx.{DamagedTable, Log, UnsupportedTable, WholeNumber}

/** A batch of a stream. The commit that has its rows has its number too, as stock Hudi's sink writes it: extra metadata
  * `_hudi_streaming_sink_checkpoint`, a JSON object of writers and numbers.
  *
  * @param writer whose batches are numbered
  * @param id     ascending; one that failed comes again under its number
  */
final case class StreamBatch(writer: String, id: Long) {

  /** Of the commit with its rows. */
  def metadata: Map[String, String] = StreamBatch.metadataOf(Map(writer -> id))

  /** Has the table this batch, or a later one of its writer? Where its active timeline has none, the archive is asked. */
  def isIn(table: TableContext): Boolean =
    StreamBatch.active(table).flatMap(_.get(writer)).take(1).toVector.headOption match {
      case Some(last) => last >= id
      case None       => StreamBatch.archived(table).flatMap(_.get(writer)).exists(_ >= id)
    }
}

object StreamBatch {
  private val Key = "_hudi_streaming_sink_checkpoint"
  private val mapper = new ObjectMapper
  private val log = Log.of(classOf[StreamBatch])

  /** Of the commit that makes a table anew, whose timeline begins with it: the last batch of each writer that the table before had,
    * so that one of these that comes again is known there too.
    *
    * @param batch whose rows the commit has
    */
  def carried(before: TableContext, batch: Option[StreamBatch]): Map[String, String] = metadataOf(
    last(before) ++ batch.map(b => b.writer -> b.id)
  )

  private def last(table: TableContext): Map[String, Long] =
    try {
      val old = archived(table).foldLeft(Map.empty[String, Long])((all, n) =>
        all ++ n.map { case (w, id) => w -> math.max(id, all.getOrElse(w, id)) }
      )
      active(table).foldRight(old)((n, all) => all ++ n)
    } catch {
      // It may be made anew because it cannot be read.
      case e @ (_: DamagedTable | _: UnsupportedTable) =>
        log.warn("{}: a batch of a stream that the table has may come again: {}", table.tablePath, e.getMessage: Any)
        Map.empty
    }

  /** Numbers that commits have, the last commit first. */
  private def active(table: TableContext): Iterator[Map[String, Long]] =
    table.timeline.completedWrites.reverseIterator.map(i => numbersOf(table.contents.commitWithoutStats(i)))

  private def archived(table: TableContext): Iterator[Map[String, Long]] =
    table.history
      .instantsFrom("")
      .filter(i => TableContext.Writes(i.action))
      .map(i => numbersOf(i.content.commitWithoutStats))

  private def metadataOf(numbers: Map[String, Long]): Map[String, String] =
    if (numbers.isEmpty) Map.empty
    else {
      val json = mapper.createObjectNode()
      numbers.toVector.sorted.foreach { case (writer, id) => json.put(writer, id.toString) }
      Map(Key -> mapper.writeValueAsString(json))
    }

  private def numbersOf(commit: CommitMetadata): Map[String, Long] =
    try
      commit.extraMetadata.get(Key).fold(Map.empty[String, Long]) { text =>
        val root = mapper.readTree(text)
        root.fieldNames.asScala
          .flatMap(w => WholeNumber.of(root.get(w).asText.trim, Long.MaxValue).map(w -> _))
          .toMap
      }
    catch { case _: JsonProcessingException => Map.empty }
}
