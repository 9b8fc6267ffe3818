package hudiidx.spark.write.options

import hudiidx.InvalidOption
import hudiidx.sync.OptionDoc
import hudiidx.sync.OptionKind.{IntRange, OneOf, Text}
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

  private val usual = LockOptions()
  private val mode = OptionDoc(
    Mode,
    OneOf(Vector(SingleWriter, Optimistic).map(_.toLowerCase(Locale.ROOT))),
    SingleWriter.toLowerCase(Locale.ROOT),
    "`optimistic_concurrency_control`: several writers at a time, behind a lock ([writing.md](writing.md))."
  )
  private val expire = OptionDoc(
    Expire,
    IntRange(0),
    usual.expireMinutes.toString,
    "Minutes after which a lock is nobody's; `0`: never, and the lock of a writer that died is removed by hand."
  )
  private val retries =
    OptionDoc(Retries, IntRange(0), usual.retries.toString, "How often a writer asks for the lock.")
  private val pause = OptionDoc(Wait, IntRange(1), usual.waitMillis.toString, "Milliseconds between two times.")

  val Docs: Vector[OptionDoc] = Vector(
    mode,
    OptionDoc(Provider, Text("class"), "(none)", s"With several writers, the only one served: `$Served`."),
    OptionDoc(Folder, Text("path"), "(the table's `.hoodie`)", "Folder of the lock file."),
    expire,
    retries,
    pause
  )

  /** None: one writer at a time. InvalidOption for a mode or a kind of lock that is not served.
    */
  def of(given: Map[String, String]): Option[LockOptions] =
    mode.text(given).toUpperCase(Locale.ROOT) match {
      case "" | SingleWriter => None
      case Optimistic        =>
        requireServed(given.get(Provider).map(_.trim))
        val folder = given.get(Folder).map(_.trim).filter(_.nonEmpty)
        Some(LockOptions(folder, expire.whole(given).toInt, retries.whole(given).toInt, pause.whole(given)))
      case other =>
        throw new InvalidOption(
          s"$Mode: unsupported value '$other'; supported: single_writer, optimistic_concurrency_control"
        )
    }

  private def requireServed(provider: Option[String]): Unit =
    if (!provider.contains(Served))
      throw new InvalidOption(
        s"$Provider: ${provider.fold("it is not set")(p => s"unsupported value '$p'")}; several writers need the same lock: give $Served " +
          "to all of them"
      )
}
