package hudiidx.fs

import java.io.{ByteArrayOutputStream, FileNotFoundException, IOException, OutputStream}
import java.util.{Locale, UUID}
import java.util.concurrent.ConcurrentHashMap

import scala.util.control.NonFatal

import hudiidx.Log
import hudiidx.fs.S3Client.{Conflict, Done, NotImplemented, Taken}
import hudiidx.storage.FileInfo
import org.apache.hadoop.fs.{FSDataOutputStream, FileSystem, Path}

/** Publishing on S3 and what speaks as it does: a put that the store refuses where an object is (`If-None-Match: *`). That of
  * `hadoop-aws` looks first and puts then, so of two who publish at once both would believe they had won. Stores that do not
  * know the header are found out before anything is published there: names are claimed then, see [[Claims]].
  */
private[hudiidx] object S3ConditionalPut extends FileCreation {
  private val log = Log.of(getClass)
  private val MostConflicts = 20
  private val ConflictPauseMillis = 50L
  private val FewFiles = 64
  private val ListVersion = "fs.s3a.list.version"
  private val Encryption = Vector("fs.s3a.encryption.algorithm", "fs.s3a.server-side-encryption-algorithm")

  /** Of each bucket whether it refuses a second put, once that is known. */
  private val refusing = new ConcurrentHashMap[String, java.lang.Boolean]

  override def publish(fs: FileSystem, target: Path, content: Array[Byte]): Boolean =
    if (isRefusing(fs, target.getParent)) putNew(fs, target, content)
    else Claims.Default.publish(fs, target, content)

  private def isRefusing(fs: FileSystem, folder: Path): Boolean = {
    val bucket = fs.getUri.toString
    if (!refusing.containsKey(bucket)) {
      val whyNot = probed(fs, new Path(folder, s".${UUID.randomUUID()}.probe"))
      whyNot.foreach(Claims.warn(fs, _))
      refusing.put(bucket, whyNot.isEmpty)
    }
    refusing.get(bucket)
  }

  /** Why the store does not refuse a second put of an object; None if it does. */
  private def probed(fs: FileSystem, probe: Path): Option[String] = S3Client.of(fs, probe) match {
    case None         => Some("its client cannot be reached through this hadoop-aws")
    case Some(client) =>
      def put() = send(client, probe, Array.emptyByteArray, UUID.randomUUID().toString)
      try
        if (put() == NotImplemented) Some("it knows no conditional put (If-None-Match)")
        else if (put() != Taken) Some("it ignores the condition of a conditional put (If-None-Match)")
        else None
      finally
        try client.delete()
        catch {
          case e: IOException => log.warn("{}: an empty object stays, remove it: {}", probe: Any, e.toString: Any)
        }
  }

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

  override def create(fs: FileSystem, target: Path)(content: OutputStream => Unit): Boolean =
    ByCreation.create(fs, target)(content)

  /** A small file takes one put. What hadoop-aws does for a file is three requests: it looks for a folder, and for marks of folders. */
  override def createOnce(fs: FileSystem, target: Path)(content: OutputStream => Unit): Boolean = {
    beginOnce(fs, target)(content)()
    true
  }

  override def beginOnce(fs: FileSystem, target: Path)(content: OutputStream => Unit): () => Unit = {
    val out = new SmallOutput(S3Client.SmallBytes, () => ByCreation.openOnce(fs, target))
    write(fs, target, out, content)
    () => out.stream.fold(put(fs, target, out.held))(ByCreation.closeOwn(fs, target, _))
  }

  private def write(fs: FileSystem, target: Path, out: SmallOutput, content: OutputStream => Unit): Unit =
    try content(out)
    catch {
      case NonFatal(e) =>
        out.stream.foreach(ByCreation.abandon(fs, target, _))
        throw e
    }

  /** A small file takes one put, which the store refuses where there is an object; hadoop-aws looks twice before. Whether the store does
    * is not found out here: among data no object is put that is not one of the table's.
    */
  override def createInPlace(fs: FileSystem, target: Path)(content: OutputStream => Unit): Boolean =
    if (!isKnownToRefuse(fs) || isEncrypting(fs)) ByCreation.create(fs, target)(content)
    else {
      val out = new SmallOutput(S3Client.SmallBytes, () => fs.create(target, false))
      try {
        write(fs, target, out, content)
        out.stream match {
          case Some(stream) =>
            ByCreation.closeOwn(fs, target, stream)
            true
          case None => putNew(fs, target, out.held)
        }
      } catch { case e: IOException if ByCreation.isTaken(e) => false }
    }

  override def createEmpty(fs: FileSystem, target: Path): Boolean =
    if (isEncrypting(fs) || !isRefusing(fs, target.getParent)) ByCreation.create(fs, target)(_ => ())
    else putNew(fs, target, Array.emptyByteArray)

  private def isKnownToRefuse(fs: FileSystem): Boolean =
    Option(refusing.get(fs.getUri.toString)).exists(_.booleanValue)

  /** Its client may change what it puts. */
  private def isEncrypting(fs: FileSystem): Boolean =
    Encryption.exists(key => Option(fs.getConf.get(key)).exists(_.toUpperCase(Locale.ROOT).startsWith("CSE")))

  private def putNew(fs: FileSystem, target: Path, content: Array[Byte]): Boolean =
    put(S3Client.of(fs, target).get, target, content) match {
      case NotImplemented => throw new IOException(s"$target: the store refuses conditional puts, and took one before")
      case status         => status != Taken
    }

  private def put(fs: FileSystem, target: Path, content: Array[Byte]): Unit = S3Client.of(fs, target) match {
    case Some(client) => client.put(content)
    case None         => ByCreation.createOnce(fs, target)(_.write(content)): Unit
  }

  /** One request; hadoop-aws looks first, and then whether the folder is to be marked. */
  override def deleteFile(fs: FileSystem, target: Path): Unit = S3Client.of(fs, target) match {
    case Some(client) => client.delete()
    case None         => fs.delete(target, false): Unit
  }

  /** Few files take one list, and a request each at the same time; hadoop-aws looks twice before, and once behind. */
  override def deleteAll(fs: FileSystem, target: Path): Boolean = few(fs, target) match {
    case None        => fs.delete(target, true)
    case Some(files) =>
      CallsAtOnce(files.map(file => () => deleteFile(fs, file)))
      true
  }

  /** The files below a folder; None where it has none, or many. */
  private def few(fs: FileSystem, folder: Path): Option[Vector[Path]] =
    try {
      val listed = fs.listFiles(folder, true)
      val found = Vector.newBuilder[Path]
      var count = 0
      while (count <= FewFiles && listed.hasNext) {
        found += listed.next().getPath
        count += 1
      }
      if (count == 0 || count > FewFiles) None else Some(found.result())
    } catch { case _: FileNotFoundException => None }

  /** All of a small file, by one request, or what it is, see [[S3Client.get]]. None as `listed`. */
  def small(fs: FileSystem, target: Path, path: String): Option[Either[FileInfo, Array[Byte]]] =
    asked(fs, target)(_.get(path))

  /** What lies directly under a folder, see [[S3Client.list]]: hadoop-aws asks twice more where nothing does. None too where that fails, or its
    * client is not to be had, or changes sizes, or the store knows older requests alone.
    */
  def listed(fs: FileSystem, target: Path, folder: String, deep: Boolean = false): Option[Vector[FileInfo]] =
    if (fs.getConf.getInt(ListVersion, 2) != 2) None else asked(fs, target)(_.list(folder, deep))

  /** What a file is, and the bytes with which it begins, by one request; hadoop-aws asks first what it is. None as `listed`, and for a file
    * without bytes.
    */
  def begun(fs: FileSystem, target: Path, path: String): Option[(FileInfo, Array[Byte])] =
    asked(fs, target)(_.begin(path)).flatten

  /** Where there is no file hadoop-aws asks for a folder too. */
  def isThere(fs: FileSystem, target: Path): Boolean =
    asked(fs, target)(_.isThere()).getOrElse {
      try fs.getFileStatus(target) != null
      catch { case _: FileNotFoundException => false }
    }

  /** By the client alone; None where that fails, and hadoop-aws is to try again, which has errors of its own. */
  private def asked[A](fs: FileSystem, target: Path)(call: S3Client => A): Option[A] =
    if (isEncrypting(fs)) None
    else
      try S3Client.of(fs, target).map(call)
      catch {
        case e: FileNotFoundException                         => throw e
        case _: IOException | _: ReflectiveOperationException => None
      }

  override def touch(fs: FileSystem, target: Path): Unit = ByCreation.touch(fs, target)

  override def replace(fs: FileSystem, target: Path, content: Array[Byte]): Unit =
    ByCreation.replace(fs, target, content)
}

/** Holds what is written until that is too much, and from then on writes to a stream. */
private final class SmallOutput(mostBytes: Int, open: () => FSDataOutputStream) extends OutputStream {
  private val bytes = new ByteArrayOutputStream
  private var opened = Option.empty[FSDataOutputStream]

  /** None: all is held. */
  def stream: Option[FSDataOutputStream] = opened

  def held: Array[Byte] = bytes.toByteArray

  override def write(b: Int): Unit = write(Array(b.toByte), 0, 1)

  override def write(content: Array[Byte], from: Int, length: Int): Unit = {
    if (opened.isEmpty && bytes.size + length > mostBytes) {
      opened = Some(open())
      opened.foreach(bytes.writeTo)
      bytes.reset()
    }
    opened.getOrElse(bytes).write(content, from, length)
  }

  override def flush(): Unit = opened.foreach(_.flush())
}
