package hudiidx.write

import com.fasterxml.jackson.core.JsonProcessingException
import com.fasterxml.jackson.databind.ObjectMapper
import hudiidx.WholeNumber
import hudiidx.sync.TableContext
import hudiidx.timeline.CommitMetadata

/** A batch of a stream. The commit that has its rows has its number too, as stock Hudi's sink writes it: extra metadata
  * `_hudi_streaming_sink_checkpoint`, a JSON object of writer and number.
  *
  * @param writer whose batches are numbered
  * @param id     ascending; one that failed comes again under its number
  */
final case class StreamBatch(writer: String, id: Long) {

  /** Of the commit with its rows. */
  def metadata: Map[String, String] = {
    val json = StreamBatch.mapper.createObjectNode()
    json.put(writer, id.toString)
    Map(StreamBatch.Key -> StreamBatch.mapper.writeValueAsString(json))
  }

  /** Has the table this batch, or a later one of its writer? Where its active timeline has none, the archive is asked. */
  def isIn(table: TableContext): Boolean = {
    val active = table.timeline.completedWrites.reverseIterator.map(i => table.contents.commitWithoutStats(i))
    def archived = table.history
      .instantsFrom("")
      .filter(i => TableContext.Writes(i.action))
      .flatMap(i => idOf(i.content.commitWithoutStats))
    active.flatMap(c => idOf(c)).take(1).toVector.headOption match {
      case Some(last) => last >= id
      case None       => id > 0 && archived.exists(_ >= id)
    }
  }

  /** The batch of this writer that a commit has. */
  private def idOf(commit: CommitMetadata): Option[Long] = commit.extraMetadata.get(StreamBatch.Key).flatMap { text =>
    try Option(StreamBatch.mapper.readTree(text).get(writer)).flatMap(n => WholeNumber.of(n.asText.trim, Long.MaxValue))
    catch { case _: JsonProcessingException => None }
  }
}

object StreamBatch {
  private val Key = "_hudi_streaming_sink_checkpoint"
  private val mapper = new ObjectMapper
}
