package hudiidx.symlink

import scala.collection.JavaConverters._

import com.fasterxml.jackson.core.JsonProcessingException
import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.JsonNodeFactory
import hudiidx.storage.Storage
import hudiidx.store.{CheckedJson, IndexNames}
import java.io.FileNotFoundException
import java.nio.file.NoSuchFileException

/** What the last export into a folder did, or is about to do. docs/format.md, "Symlink manifests".
  *
  *  @param exporter   names the export: no two have the same
  *  @param isComplete false: it is under way, or died
  *  @param tablePath  the table that the manifests are of
  *  @param indexVersion number of the index version whose files the manifests name, 0 if they come from a listing
  *  @param manifests  partition path -> CRC-32C of its manifest; of an export that is not complete the paths alone count: no other
  *                    manifest may be there
  */
private[symlink] final case class SymlinkState(
    exporter: String,
    isComplete: Boolean,
    tablePath: String,
    indexVersion: Long,
    manifests: Map[String, Long]
)

private[symlink] object SymlinkState {

  val FileName: String = IndexNames.SymlinkState
  private val Format = 1
  private val json = new ObjectMapper()

  def encode(s: SymlinkState): Array[Byte] = {
    val root = JsonNodeFactory.instance.objectNode()
    root.put("format", Format).put("exporter", s.exporter).put("complete", s.isComplete)
    root.put("table", s.tablePath).put("index_version", s.indexVersion)
    val manifests = root.putObject("manifests")
    s.manifests.toVector.sortBy(_._1).foreach { case (partition, crc) => manifests.put(partition, crc) }
    CheckedJson.encode(root)
  }

  /** None if there is none, or none that is known and whole: what lies there is then unknown. */
  def read(storage: Storage, folder: String): Option[SymlinkState] =
    try Some(decode(storage.readAll(Storage.join(folder, FileName))))
    catch {
      case _: NoSuchFileException | _: FileNotFoundException        => None
      case _: IllegalArgumentException | _: JsonProcessingException => None
    }

  private def decode(bytes: Array[Byte]): SymlinkState = {
    val root = json.readTree(CheckedJson.checked(bytes))
    require(root.path("format").asInt == Format, "another format")
    // Manifests of partitions that are gone are removed by these names.
    require(!root.path("manifests").fieldNames.asScala.exists(Storage.leaves), "a manifest outside the folder")
    val version = root.path("index_version")
    require(version.isIntegralNumber && version.canConvertToLong && version.asLong >= 0, "no number of a version")
    SymlinkState(
      root.path("exporter").asText,
      root.path("complete").asBoolean,
      root.path("table").asText,
      version.asLong,
      root.path("manifests").properties.asScala.iterator.map(e => e.getKey -> e.getValue.asLong).toMap
    )
  }
}
