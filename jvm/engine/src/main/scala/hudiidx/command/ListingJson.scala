package hudiidx.command

import com.fasterxml.jackson.core.JsonGenerator
import hudiidx.answer.{JsonEncoder, ListedFile, ListedSlice, UsedIndex}
import hudiidx.sync.TableSnapshot
import hudiidx.table.FileOrder

/** `partitions`, `files` and `slices` as JSON, streamed: one partition's files at a time. */
final class ListingJson(snapshot: TableSnapshot, call: CommandLine, json: JsonGenerator) {
  private var left = call.limit.getOrElse(Int.MaxValue)

  def write(what: String): Unit = {
    json.writeStartObject()
    json.writeArrayFieldStart(what)
    what match {
      case "partitions" => snapshot.view.partitions.foreach(p => if (take()) json.writeString(p))
      case "files"      =>
        each { p =>
          FileOrder.sorted(snapshot.source.files(p)).foreach { f =>
            if (call.asOf.forall(f.instantTime <= _) && take()) JsonEncoder.write(ListedFile.of(f), json)
          }
        }
      case _ =>
        each(p =>
          snapshot.view
            .latestFileSlices(p, call.asOf)
            .foreach(s => if (take()) JsonEncoder.write(ListedSlice.of(s), json))
        )
    }
    json.writeEndArray()
    JsonEncoder.writeFields(UsedIndex.of(snapshot.use), json)
    json.writeEndObject()
  }

  private def each(use: String => Unit): Unit = call.partition match {
    case Some(p) => use(p)
    case None    =>
      val it = snapshot.view.partitions.iterator
      while (left > 0 && it.hasNext) use(it.next())
  }

  private def take(): Boolean = {
    left -= 1
    left >= 0
  }
}
