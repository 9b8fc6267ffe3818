package hudiidx.hadoop

import java.io.{IOException, OutputStream}
import java.util.UUID
import java.util.concurrent.ConcurrentHashMap

import hudiidx.hadoop.S3Client.{Conflict, Done, NotImplemented, Taken}
import org.apache.hadoop.fs.{FileSystem, Path}
import org.slf4j.LoggerFactory

/** Publishing on S3 and what speaks as it does: a put that the store refuses where an object is (`If-None-Match: *`). That of
  * `hadoop-aws` looks first and puts then, so of two who publish at once both would believe they won. Stores that do not know the
  * header get its way, and one warning.
  */
private[hadoop] object ConditionalPut extends NewFile {
  private val log = LoggerFactory.getLogger(getClass)
  private val MostConflicts = 20
  private val ConflictPauseMillis = 50L

  /** Of each bucket whether it refuses a second put, once that is known. */
  private val refusing = new ConcurrentHashMap[String, java.lang.Boolean]

  override def publish(fs: FileSystem, target: Path, content: Array[Byte]): Boolean =
    refusing.get(fs.getUri.toString) match {
      case java.lang.Boolean.FALSE => ByCreation.publish(fs, target, content)
      // A store that passes over the condition would replace what is there.
      case null if fs.exists(target) => false
      case known                     =>
        S3Client.of(fs, target) match {
          case None         => unsafely(fs, target, content, "its client cannot be reached through this hadoop-aws")
          case Some(client) =>
            put(client, target, content) match {
              case NotImplemented => unsafely(fs, target, content, "it knows no conditional put (If-None-Match)")
              case Taken          => false
              case _              =>
                if (known == null) probe(client, fs, target, content)
                true
            }
        }
    }

  /** A store may pass over the header: the same put once more tells. */
  private def probe(client: S3Client, fs: FileSystem, target: Path, content: Array[Byte]): Unit =
    if (send(client, target, content, UUID.randomUUID().toString) == Taken) refusing.put(fs.getUri.toString, true): Unit
    else warn(fs, "it passes over the condition of a conditional put (If-None-Match)")

  /** The status of the answer, `Taken` only if the object is another's: a put whose answer was lost is sent again. */
  private def put(client: S3Client, target: Path, content: Array[Byte]): Int = {
    val writer = UUID.randomUUID().toString
    val status = send(client, target, content, writer)
    if (status == Taken && client.writer().contains(writer)) Done else status
  }

  /** The status of the answer, once it is not that another put is at work. */
  private def send(client: S3Client, target: Path, content: Array[Byte], writer: String): Int = {
    var status = client.put(content, writer)
    var conflicts = 0
    while (status == Conflict) {
      conflicts += 1
      if (conflicts == MostConflicts) throw new IOException(s"$target: the store told of $conflicts conflicts in a row")
      Thread.sleep(ConflictPauseMillis)
      status = client.put(content, writer)
    }
    status
  }

  private def unsafely(fs: FileSystem, target: Path, content: Array[Byte], why: String): Boolean = {
    warn(fs, why)
    ByCreation.publish(fs, target, content)
  }

  private def warn(fs: FileSystem, why: String): Unit = {
    refusing.put(fs.getUri.toString, false)
    log.warn("{}: {}; let one process at a time write indexes and tables here", fs.getUri: Any, why: Any)
  }

  override def create(fs: FileSystem, target: Path)(content: OutputStream => Unit): Boolean =
    ByCreation.create(fs, target)(content)

  override def touch(fs: FileSystem, target: Path): Unit = ByCreation.touch(fs, target)

  override def replace(fs: FileSystem, target: Path, content: Array[Byte]): Unit =
    ByCreation.replace(fs, target, content)
}
