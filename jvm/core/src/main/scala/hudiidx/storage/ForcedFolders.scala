package hudiidx.storage

import java.io.IOException
import java.nio.channels.FileChannel
import java.nio.file.{Path, StandardOpenOption}

/** Folders that are brought to disk: a new name in one survives a power cut only then, be it a file's or a folder's. */
private[storage] object ForcedFolders {

  /** Told of each, by tests. */
  @volatile private[storage] var observer: Path => Unit = (_: Path) => ()

  /** Not every system lets a folder be opened. */
  def force(folder: Path): Unit = {
    observer(folder)
    try {
      val channel = FileChannel.open(folder, StandardOpenOption.READ)
      try channel.force(true)
      finally channel.close()
    } catch { case _: IOException => () }
  }
}
