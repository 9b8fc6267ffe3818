package hudiidx

/** What failed, and by what: engines and libraries wrap the failures of those below them. */
object Causes {

  /** Longer messages are documents, as Parquet's of a footer that it cannot write, with values of rows in it. */
  private val LongestReason = 1000

  private val Deepest = 20

  /** The failure, then its causes down to the first one. */
  def of(failure: Throwable): Vector[Throwable] =
    Iterator.iterate(failure)(_.getCause).takeWhile(_ != null).take(Deepest).toVector

  /** The first of our errors among them: engines wrap what a task threw. */
  def ours(failure: Throwable): Option[HudiIdxException] = of(failure).collectFirst { case e: HudiIdxException => e }

  /** The same where `path` was read: the machine's own message names nothing. */
  def reading(path: String, e: OutOfMemoryError): OutOfMemoryError = {
    val named = new OutOfMemoryError(s"$path: ${e.getMessage}")
    named.setStackTrace(e.getStackTrace)
    named
  }

  /** A file whose types are so deep in one another that whoever walks over them finds no more stack. */
  def tooDeep(path: String, e: StackOverflowError): DamagedTable =
    new DamagedTable(s"$path: its types are too deep in one another to be read; restore the file from a copy", e)

  /** Can a message stand in another one? */
  def isReason(message: String): Boolean = message.length <= LongestReason
}
