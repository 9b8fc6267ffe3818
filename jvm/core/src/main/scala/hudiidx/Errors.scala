package hudiidx

/** Every failure that hudiidx reports by itself. Extends RuntimeException so that PySpark leaves its type alone. Messages name
  * paths, and never a password in one; each is one line, see [[Texts]].
  */
sealed abstract class HudiIdxException(message: String, cause: Throwable)
    extends RuntimeException(Texts.ofError(message), cause)

/** The path is missing, unreadable, or not a Hudi table. */
final class NotAHudiTable(message: String, cause: Throwable = null) extends HudiIdxException(message, cause)

object NotAHudiTable {

  /** `body` reads `path` of a table: an I/O error becomes NotAHudiTable. NoSuchFileException passes, since callers know what
    *  it means that a file went away.
    */
  def reading[A](path: String)(body: => A): A =
    try body
    catch {
      case e: java.nio.file.NoSuchFileException => throw e
      case e: java.io.IOException               =>
        throw new NotAHudiTable(s"$path: cannot be read ($e); check the table's path and its permissions", e)
    }
}

/** A Hudi table of a version, type or format that hudiidx does not serve. */
final class UnsupportedTable(message: String, cause: Throwable = null) extends HudiIdxException(message, cause)

object UnsupportedTable {

  /** The one form of what is told of a table that has something which hudiidx does not read.
    *
    * @param where  the file that says so
    * @param has    what the table has
    * @param why    behind "since"
    * @param remedy what to do
    */
  def having(where: String, has: String, why: String, remedy: String): UnsupportedTable =
    new UnsupportedTable(s"$where: $has, which hudiidx does not read, since $why; $remedy")
}

/** The table's own files contradict each other or cannot be decoded. */
final class DamagedTable(message: String, cause: Throwable = null) extends HudiIdxException(message, cause)

/** The table is no longer what it was when a plan or a handle was made: made anew, upgraded, rolled back, or cleaned past that
  * moment. Read it again.
  */
final class TableChanged(message: String, cause: Throwable = null) extends HudiIdxException(message, cause)

/** A file of the index cannot be decoded. Readers fall back to listing unless strict.
  *
  *  @param isLater a later hudiidx wrote it: whole, but in a format that this one does not know
  */
final class DamagedIndex(message: String, cause: Throwable = null, val isLater: Boolean = false)
    extends HudiIdxException(message, cause)

/** The table has no index, or not the part that was asked for. */
final class IndexNotFound(message: String, cause: Throwable = null) extends HudiIdxException(message, cause)

/** Strict mode only: the index could not be used as it is. */
final class StaleIndex(message: String, cause: Throwable = null) extends HudiIdxException(message, cause)

/** Another writer published first and re-basing did not succeed. */
final class WriteConflict(message: String, cause: Throwable = null) extends HudiIdxException(message, cause)

/** A store, or the disk of a task, failed a write to the table: it is full, read-only, or does not answer. Nothing of the write counts,
  * and it may be done again.
  */
final class WriteFailed(message: String, cause: Throwable = null) extends HudiIdxException(message, cause)

/** The store does not say whether a write to the table counts: look before it is done again. */
final class WriteUnknown(message: String, cause: Throwable = null) extends HudiIdxException(message, cause)

/** An option or argument has an unknown name or a value out of its range. */
final class InvalidOption(message: String, cause: Throwable = null) extends HudiIdxException(message, cause)

/** The index folder takes no files: it is read-only, full, or otherwise refuses a write. What was there stays in force. */
final class IndexNotWritable(message: String, cause: Throwable = null) extends HudiIdxException(message, cause)
