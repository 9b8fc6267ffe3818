package hudiidx.storage

import scala.util.control.NonFatal

/** Files whose size somebody tells who may be wrong, as commits are. */
private[hudiidx] object ToldSize {

  /** What `use` makes of the open file, which it owns then. A store that is far is not asked how long the file is, until `use` fails:
    * where the file turns out to have another size that counts.
    */
  def opening[A](storage: Storage, path: String, sizeBytes: Long)(use: RandomReader => A): A =
    if (sizeBytes <= 0 || !storage.isFar(path)) owned(storage.open(path))(use)
    else
      try owned(storage.open(FileInfo(path, sizeBytes, 0L, isDirectory = false)))(use)
      catch {
        case NonFatal(e) =>
          val found = storage.open(path)
          if (found.sizeBytes != sizeBytes) owned(found)(use)
          else {
            found.close()
            throw e
          }
      }

  private def owned[A](reader: RandomReader)(use: RandomReader => A): A =
    try use(reader)
    catch {
      case e: Throwable =>
        reader.close()
        throw e
    }
}
