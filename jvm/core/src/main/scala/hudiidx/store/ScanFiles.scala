package hudiidx.store

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.atomic.AtomicLong

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import hudiidx.storage.{FileInfo, Storage}

/** A scan as its file has it. docs/format.md, "Recorded scans".
  *
  *  @param atMillis when it began
  *  @param filters  in SQL
  *  @param metrics  those of planning, by name
  */
final case class ScanRecord(atMillis: Long, reads: String, filters: Seq[String], metrics: Map[String, Long]) {

  def encode: Array[Byte] = {
    val json = ScanRecord.mapper.createObjectNode().put("at_millis", atMillis).put("reads", reads)
    val texts = json.putArray("filters")
    filters.foreach(f => texts.add(f))
    val numbers = json.putObject("metrics")
    metrics.toVector.sorted.foreach { case (name, value) => numbers.put(name, value) }
    ScanRecord.mapper.writeValueAsBytes(json)
  }
}

object ScanRecord {
  private val mapper = new ObjectMapper()

  /** None for bytes that are no such record. */
  def decode(bytes: Array[Byte]): Option[ScanRecord] =
    try {
      val json = mapper.readTree(new String(bytes, UTF_8))
      if (json == null || !json.path("filters").isArray) None
      else {
        val numbers = json.path("metrics")
        val metrics = numbers.fieldNames.asScala.map(name => name -> IndexVersion.count(numbers, name)).toMap
        val began = IndexVersion.count(json, "at_millis", IndexVersion.LastMilli)
        Some(ScanRecord(began, json.path("reads").asText, texts(json), metrics))
      }
    } catch { case _: IOException | _: IllegalArgumentException => None }

  private def texts(json: JsonNode): Vector[String] = json.path("filters").elements.asScala.map(_.asText).toVector
}

/** The recorded scans of a table, a file each: `scans/<millis>.<process>.<number>.json` in the index folder. */
final class ScanFiles(storage: Storage, indexDir: String, tablePath: String) {
  val dir: String = Storage.join(indexDir, IndexNames.Scans)
  private val store = new IndexStore(storage, dir)

  /** IndexNotWritable if the folder takes no files, or is a link. */
  def add(record: ScanRecord): Unit = {
    new IndexFolder(storage, indexDir).requireOwn(tablePath)
    val number = ScanFiles.written.incrementAndGet()
    val name = f"${record.atMillis}%015d.${ScanFiles.process}.$number.json"
    store.writeScratch(name, "scan")(_.write(record.encode))
    if (number % ScanFiles.Most == 1) all.dropRight(ScanFiles.Most).foreach(f => store.remove(f.name))
  }

  /** Removes all of them. */
  def clear(): Unit = all.foreach(f => store.remove(f.name))

  /** Those of other processes: what this one has run it knows. */
  def ofOthers: Vector[ScanRecord] = read(all.filterNot(_.name.contains(s".${ScanFiles.process}.")), ScanFiles.Most)

  /** Of all processes, the newest `most`, oldest first. */
  def newest(most: Int): Vector[ScanRecord] = read(all, most)

  private def read(files: Vector[FileInfo], most: Int): Vector[ScanRecord] =
    files.filter(_.sizeBytes <= ScanFiles.MostBytes).takeRight(most).flatMap { f =>
      try ScanRecord.decode(storage.readAll(f.path))
      catch { case _: IOException => None } // gone since
    }

  /** Oldest first. */
  private def all: Vector[FileInfo] = storage
    .list(dir)
    .filter(f => !f.isDirectory && IndexNames.isFile(f.name) && f.name.endsWith(".json"))
    .sortBy(_.name)
}

object ScanFiles {

  /** Newest files that are kept; a process looks after so many of its own. */
  val Most = 1000

  /** Larger ones are not read: anybody may have written them who may write into the index folder. */
  val MostBytes: Long = 1L << 20

  private val process = IndexStore.newToken()
  private val written = new AtomicLong
}
