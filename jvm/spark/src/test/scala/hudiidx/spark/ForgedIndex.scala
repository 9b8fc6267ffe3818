package hudiidx.spark

import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.{Files, Path, Paths}

import scala.util.Try

import hudiidx.Fixtures
import hudiidx.hfile.{BlockCache, HFileReader}
import hudiidx.storage.LocalStorage
import hudiidx.store.{Current, IndexStore, IndexVersion}

/** An index whose versions somebody writes by hand, with checksums that are right. */
final class ForgedIndex(table: String) {
  val folder: Path = Paths.get(IndexStore.defaultDir(table))
  private val store = new IndexStore(LocalStorage, folder.toString)

  def version: IndexVersion = store.current() match {
    case Current.Found(found, _) => found
    case other                   => throw new AssertionError(s"$table: $other")
  }

  /** In the place of the current version. */
  def change(of: Map[String, String] => Map[String, String]): Unit = {
    val now = version
    val file = folder.resolve("versions").resolve(f"${now.number}%020d.json")
    Files.write(file, IndexVersion.encode(now.copy(properties = of(now.properties)))): Unit
  }

  /** All that the index's files hold, in their bytes or in cells. A link to a folder has none. */
  def bytes: Vector[(String, String)] = Fixtures
    .filesBelow(folder.toString)
    .filterNot(f => Files.isDirectory(folder.resolve(f)))
    .map(f => f -> (new String(Files.readAllBytes(folder.resolve(f)), ISO_8859_1) + ForgedIndex.cells(s"$folder/$f")))
}

object ForgedIndex {

  /** Of an HFile, whose blocks are compressed; empty for another file. */
  def cells(file: String): String = Try {
    val reader = LocalStorage.open(file)
    try {
      val cursor = HFileReader.open(reader, new BlockCache(0)).scan()
      val out = new StringBuilder
      while (cursor.next()) {
        out.append(new String(cursor.keyBytes, cursor.keyOffset, cursor.keyLength, ISO_8859_1))
        out.append(new String(cursor.valueBytes, cursor.valueOffset, cursor.valueLength, ISO_8859_1))
      }
      out.toString
    } finally reader.close()
  }.getOrElse("")
}
