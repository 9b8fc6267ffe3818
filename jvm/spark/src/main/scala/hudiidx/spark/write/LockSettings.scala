package hudiidx.spark.write

import hudiidx.InvalidOption
import hudiidx.sync.OptionDoc
import hudiidx.write.LockOptions
import java.util.Locale

/** Options of a write about other writers of the table, named as in Hudi. */
private[write] object LockSettings {
  val Mode = "hoodie.write.concurrency.mode"
  val Provider = "hoodie.write.lock.provider"
  val Folder = "hoodie.write.lock.filesystem.path"
  val Expire = "hoodie.write.lock.filesystem.expire"
  val Retries = "hoodie.write.lock.client.num_retries"
  val Wait = "hoodie.write.lock.client.wait_time_ms_between_retry"

  private val SingleWriter = "SINGLE_WRITER"
  private val Optimistic = "OPTIMISTIC_CONCURRENCY_CONTROL"
  private val Served = "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider"

  val Docs: Vector[OptionDoc] = Vector(
    OptionDoc(Mode, "single_writer", "`optimistic_concurrency_control`: several writers at a time, behind a lock."),
    OptionDoc(Provider, "-", s"With several writers: `$Served`."),
    OptionDoc(Folder, "the table's .hoodie", "Folder of the lock file."),
    OptionDoc(Expire, "0", "Minutes after which a lock is nobody's; 0: never."),
    OptionDoc(Retries, "50", "How often a writer asks for the lock."),
    OptionDoc(Wait, "5000", "Milliseconds between two times.")
  )

  /** None: one writer at a time. InvalidOption for a mode or a kind of lock that is not served.
    *
    * @param number value of an option, its default and the least value
    */
  def of(given: Map[String, String], number: (String, Long, Long) => Long): Option[LockOptions] =
    given.get(Mode).map(_.trim.toUpperCase(Locale.ROOT)).filter(_.nonEmpty) match {
      case None | Some(SingleWriter) => None
      case Some(Optimistic)          =>
        requireServed(given.get(Provider).map(_.trim))
        val folder = given.get(Folder).map(_.trim).filter(_.nonEmpty)
        Some(LockOptions(folder, number(Expire, 0L, 0L).toInt, number(Retries, 50L, 0L).toInt, number(Wait, 5000L, 1L)))
      case Some(other) =>
        throw new InvalidOption(
          s"$Mode: '$other' is not served; known are single_writer and optimistic_concurrency_control"
        )
    }

  private def requireServed(provider: Option[String]): Unit =
    if (!provider.contains(Served))
      throw new InvalidOption(
        s"$Provider: ${provider.fold("it is not set")(p => s"'$p' is not served")}; several writers need the same lock: give $Served " +
          "to all of them"
      )
}
