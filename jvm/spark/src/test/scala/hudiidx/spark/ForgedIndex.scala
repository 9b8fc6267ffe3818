package hudiidx.spark

import java.nio.file.{Files, Path, Paths}

import hudiidx.Fixtures
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

  /** All that the index's files hold. */
  def bytes: Vector[(String, String)] = Fixtures.filesBelow(folder.toString).toVector.map { f =>
    f -> new String(Files.readAllBytes(folder.resolve(f)), "ISO-8859-1")
  }
}
