package hudiidx.write

import hudiidx.storage.Storage
import hudiidx.table.TableConfig
import java.nio.file.FileAlreadyExistsException

/** A data file that a write announced before it made it.
  *
  * @param path relative to the table's base path
  */
final case class Marked(path: String)

/** Direct markers below `.hoodie/.temp/<instant>/`: by them whoever rolls a failed write back, stock Hudi too, finds its files.
  * One is there before the file is.
  */
final class Markers(storage: Storage, tablePath: String, tableVersion: Int, instant: String) {
  private val dir = s"${Storage.join(tablePath, TableConfig.HoodieFolder)}/.temp/$instant"

  /** Before version 8 stock's rollback expects log files to be appended to, and from then on to be made; base files always. */
  private def suffix(path: String): String = {
    val isLog = path.charAt(path.lastIndexOf('/') + 1) == '.'
    Markers.Infix + (if (isLog && tableVersion < 8) "APPEND" else "CREATE")
  }

  def create(path: String): Unit =
    try storage.writeInPlace(s"$dir/$path${suffix(path)}")(_ => ())
    catch { case _: FileAlreadyExistsException => () }

  /** All files announced. */
  def all: Vector[Marked] = below(dir)

  private def below(folder: String): Vector[Marked] = storage.list(folder).flatMap { f =>
    if (f.isDirectory) below(f.path)
    else {
      val at = f.name.lastIndexOf(Markers.Infix)
      if (at < 0) Vector.empty
      else
        Vector(
          Marked(
            f.path.substring(
              f.path.lastIndexOf(s"/.temp/$instant/") + s"/.temp/$instant/".length,
              f.path.length - f.name.length + at
            )
          )
        )
    }
  }

  def delete(): Unit = storage.delete(dir): Unit
}

object Markers {
  private val Infix = ".marker."
}
