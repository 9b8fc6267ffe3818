package hudiidx.fs

import org.apache.hadoop.conf.Configuration

/** Hadoop's settings in a JVM that runs one command: what its class path says, read when a store needs it. For a table on the
  * local disk none of Hadoop's file systems is loaded, which would take a third of a lookup's time.
  */
final class CommandSettings extends Configuration {

  /** Whether something may say that paths without a scheme are not the local disk's. */
  private val isConfigured: Boolean =
    Option(Thread.currentThread.getContextClassLoader).exists(_.getResource("core-site.xml") != null)

  /** Whether the path is the local disk's without doubt. */
  def isLocal(path: String): Boolean = {
    val scheme = path.takeWhile(c => c != ':' && c != '/')
    !isConfigured && path.nonEmpty && (!path.startsWith(s"$scheme:") || scheme == "file")
  }
}
