package hudiidx.fs

import java.io.{FileNotFoundException, IOException, OutputStream}
import java.util.UUID

import scala.util.control.NonFatal

import hudiidx.storage.Storage
import org.apache.hadoop.fs._

/** How a store makes a file that is whole or not there. */
private[hudiidx] trait FileCreation {

  /** Writes by streaming; false if something is at `target`, which stays. On a failure nothing is left. */
  def create(fs: FileSystem, target: Path)(content: OutputStream => Unit): Boolean

  /** As `create`, of a name that no other file ever bore or will. */
  def createOnce(fs: FileSystem, target: Path)(content: OutputStream => Unit): Boolean = create(fs, target)(content)

  /** As `createOnce`, where nothing can be at `target`; what ends the file is left to who calls the result. */
  def beginOnce(fs: FileSystem, target: Path)(content: OutputStream => Unit): () => Unit = {
    if (!createOnce(fs, target)(content)) throw new java.nio.file.FileAlreadyExistsException(target.toString)
    () => ()
  }

  /** As `create`, of a file that grows under its own name, see [[hudiidx.storage.Storage.writeInPlace]]. */
  def createInPlace(fs: FileSystem, target: Path)(content: OutputStream => Unit): Boolean =
    ByCreation.create(fs, target)(content)

  /** Makes an empty file; false if something is at `target`. */
  def createEmpty(fs: FileSystem, target: Path): Boolean = ByCreation.create(fs, target)(_ => ())

  /** Removes what is known to be a file. */
  def deleteFile(fs: FileSystem, target: Path): Unit = fs.delete(target, false): Unit

  /** Removes a file, or a folder with all below it; false if there was none. */
  def deleteAll(fs: FileSystem, target: Path): Boolean = fs.delete(target, true)

  /** Makes now the modification time of a file. */
  def touch(fs: FileSystem, target: Path): Unit

  /** Puts a small file in the place of what is at `target`, in one step. */
  def replace(fs: FileSystem, target: Path, content: Array[Byte]): Unit

  /** As `create`, for content that several writers may offer under one name at once: one of them gets true. */
  def publish(fs: FileSystem, target: Path, content: Array[Byte]): Boolean = create(fs, target)(_.write(content))
}

/** Where a file is made, and how.
  *
  * @param fs   the store itself, where its own calls are needed; else what the user's path reaches
  * @param path of the file there
  */
private[hudiidx] final case class Place(how: FileCreation, fs: FileSystem, path: Path)

private[hudiidx] object FileCreation {

  /** File systems whose rename is one step and refuses a target that exists, by the class that is loaded: a scheme says nothing,
    * any client may be set for it.
    */
  private val Renaming = Set(
    "org.apache.hadoop.hdfs.DistributedFileSystem",
    "org.apache.hadoop.hdfs.web.WebHdfsFileSystem",
    "org.apache.hadoop.fs.ozone.BasicOzoneFileSystem",
    "org.apache.hadoop.fs.ozone.BasicRootedOzoneFileSystem"
  )

  /** Renames in one step where the account has a hierarchical namespace, and only there has permissions. */
  private val Azure = "org.apache.hadoop.fs.azurebfs.AzureBlobFileSystem"

  /** By it a file system that is not named here may say that its rename is such a step. */
  val RenameCapability = "hudiidx.rename.is.atomic"

  /** Of the client for S3, whatever the scheme it is used for. */
  private val S3Package = "org.apache.hadoop.fs.s3a."

  /** Other file systems under one tree; a path says which. */
  private val Views =
    Set("org.apache.hadoop.fs.viewfs.ViewFileSystem", "org.apache.hadoop.hdfs.ViewDistributedFileSystem")

  def of(fs: FileSystem, path: Path): Place =
    if (isOneOf(fs, Views)) behind(fs, path)
    else if (isRenaming(fs, path)) Place(ByRename, fs, path)
    else if (isS3(fs)) Place(S3ConditionalPut, fs, path)
    else Place(ByCreation, fs, path)

  def isS3(fs: FileSystem): Boolean = fs.getClass.getName.startsWith(S3Package)

  private def isRenaming(fs: FileSystem, path: Path): Boolean =
    isOneOf(fs, Renaming) || fs.hasPathCapability(path, RenameCapability) ||
      (isOneOf(fs, Set(Azure)) && fs.hasPathCapability(path, CommonPathCapabilities.FS_ACLS))

  private def isOneOf(fs: FileSystem, names: Set[String]): Boolean =
    Iterator.iterate[Class[_]](fs.getClass)(_.getSuperclass).takeWhile(_ != null).exists(c => names(c.getName))

  /** What is mounted where the path leads. Its renames are the view's too; its own puts are asked of itself. */
  private def behind(view: FileSystem, path: Path): Place = {
    val target = new Path(resolved(view, path.getParent), path.getName)
    val fs = target.getFileSystem(view.getConf)
    // Of a folder of the view's own nobody can say what will be mounted.
    val how = if (isOneOf(fs, Views)) ByCreation else of(fs, target).how
    if (how == S3ConditionalPut) Place(how, fs, target) else Place(how, view, path)
  }

  /** A folder that may not be there yet, nor those above it. */
  private def resolved(view: FileSystem, folder: Path): Path =
    try view.resolvePath(folder)
    catch {
      case _: FileNotFoundException if !folder.isRoot => new Path(resolved(view, folder.getParent), folder.getName)
    }
}

/** A hidden file beside the target, renamed when whole. */
private[hudiidx] object ByRename extends FileCreation {

  override def create(fs: FileSystem, target: Path)(content: OutputStream => Unit): Boolean =
    renamed(fs, target, content)(isRenamed(fs, _, target))

  /** Nothing need be looked for before, but what the store has done behind, as for `publish`. */
  override def createOnce(fs: FileSystem, target: Path)(content: OutputStream => Unit): Boolean =
    renamed(fs, target, content) { temporary =>
      val said = fs.rename(temporary, target)
      if (!isFile(fs, target)) throw if (said) notThere(target) else refused(temporary, target)
      said || !fs.exists(temporary)
    }

  /** A store that says it has renamed and has not would let a writer take its work for done. One that says it has not and has, as
    * HDFS does of a call that a client sends again, would leave a name taken by nobody. One look more for each.
    */
  override def publish(fs: FileSystem, target: Path, content: Array[Byte]): Boolean =
    renamed(fs, target, _.write(content)) { temporary =>
      isRenamed(fs, temporary, target) || isMade(fs, temporary, target, content)
    }

  private def isRenamed(fs: FileSystem, temporary: Path, target: Path): Boolean = {
    val said = rename(fs, temporary, target)
    if (said && !fs.exists(target)) throw notThere(target)
    said
  }

  private def isFile(fs: FileSystem, target: Path): Boolean =
    try fs.getFileStatus(target).isFile
    catch { case _: FileNotFoundException => false }

  private def notThere(target: Path) = new IOException(
    s"$target: the store said that it was made, and it is not there"
  )

  private def refused(from: Path, to: Path) = new IOException(
    s"$to: the store refused to rename $from to it; check permissions"
  )

  /** The temporary file's name is this writer's alone: where it is gone, and the target holds its content, it was renamed. */
  private def isMade(fs: FileSystem, temporary: Path, target: Path, content: Array[Byte]): Boolean =
    !fs.exists(temporary) && java.util.Arrays.equals(ByCreation.readAll(fs, target), content)

  /** A plain rename refuses a target that exists; this one takes its place. */
  override def replace(fs: FileSystem, target: Path, content: Array[Byte]): Unit =
    renamed(fs, target, _.write(content)) { temporary =>
      FileContext.getFileContext(fs.getUri, fs.getConf).rename(temporary, target, Options.Rename.OVERWRITE)
      true
    }: Unit

  private def renamed(fs: FileSystem, target: Path, content: OutputStream => Unit)(rename: Path => Boolean): Boolean = {
    val temporary = new Path(target.getParent, s".${target.getName}.${UUID.randomUUID()}.tmp")
    var isMoved = false
    try {
      val out = fs.create(temporary, false)
      try content(out)
      finally out.close()
      isMoved = rename(temporary)
      isMoved
    } finally if (!isMoved) fs.delete(temporary, false): Unit
  }

  override def touch(fs: FileSystem, target: Path): Unit = fs.setTimes(target, System.currentTimeMillis(), -1L)

  /** A rename onto a folder would move into it, hence the look before; that of a file returns false or throws. */
  private def rename(fs: FileSystem, from: Path, to: Path): Boolean =
    if (fs.exists(to)) false
    else
      try
        fs.rename(from, to) || {
          if (!fs.exists(to)) throw refused(from, to)
          false
        }
      catch { case _: FileAlreadyExistsException => false }
}

/** Object stores: a file appears when its stream is closed. The store checks that there is none when the file is created;
  *  not all check again on closing, so of two who create it in the same moment both may believe they were first: who publishes
  *  claims the name before.
  */
private[hudiidx] object ByCreation extends FileCreation {

  /** Known to hadoop-aws from 3.3.5 on, an option that may be ignored. */
  private val S3CreatePerformance = "fs.s3a.create.performance"

  override def create(fs: FileSystem, target: Path)(content: OutputStream => Unit): Boolean =
    own(fs, target, fs.create(target, false))(content)

  /** Spares the looks whether a file or a folder is there, as far as the client lets it. */
  override def createOnce(fs: FileSystem, target: Path)(content: OutputStream => Unit): Boolean =
    own(fs, target, openOnce(fs, target))(content)

  def openOnce(fs: FileSystem, target: Path): FSDataOutputStream =
    fs.createFile(target).overwrite(true).recursive().opt(S3CreatePerformance, true).build()

  private def own(fs: FileSystem, target: Path, open: => FSDataOutputStream)(content: OutputStream => Unit): Boolean =
    made(fs, target, open)(content)(closeOwn(fs, target, _))

  /** Ends a file under a name that is this writer's alone: what a close that fails leaves there goes. */
  def closeOwn(fs: FileSystem, target: Path, out: FSDataOutputStream): Unit =
    try out.close()
    catch {
      case e: IOException if !isTaken(e) =>
        try fs.delete(target, false): Unit
        catch { case NonFatal(why) => e.addSuppressed(why) }
        throw e
    }

  /** As `create`, for a name that others may take in the same moment: where closing fails, what is there stays. */
  def put(fs: FileSystem, target: Path, content: Array[Byte]): Boolean =
    made(fs, target, fs.create(target, false))(_.write(content))(_.close())

  private def made(fs: FileSystem, target: Path, open: => FSDataOutputStream)(
      content: OutputStream => Unit
  )(close: FSDataOutputStream => Unit): Boolean =
    try {
      val out = open
      try content(out)
      catch {
        case NonFatal(e) =>
          abandon(fs, target, out)
          throw e
      }
      close(out)
      true
    } catch { case e: IOException if isTaken(e) => false }

  def isTaken(e: IOException): Boolean = e match {
    case _: FileAlreadyExistsException | _: java.nio.file.FileAlreadyExistsException => true
    case _                                                                           => false
  }

  override def publish(fs: FileSystem, target: Path, content: Array[Byte]): Boolean = {
    Claims.warn(fs, "hudiidx knows no conditional put of this store")
    Claims.Default.publish(fs, target, content)
  }

  /** These stores know no such call, and put a small file anew at once. */
  override def touch(fs: FileSystem, target: Path): Unit = replace(fs, target, readAll(fs, target))

  /** All of a small file. */
  def readAll(fs: FileSystem, target: Path): Array[Byte] = {
    val bytes = new Array[Byte](Storage.requireWhole(target.toString, fs.getFileStatus(target).getLen))
    val in = fs.open(target)
    try in.readFully(0L, bytes)
    finally in.close()
    bytes
  }

  override def replace(fs: FileSystem, target: Path, content: Array[Byte]): Unit = {
    val out = fs.create(target, true)
    try out.write(content)
    finally out.close()
  }

  /** Closing would make the part written so far visible. Stores that cannot abort must remove it. */
  def abandon(fs: FileSystem, target: Path, out: FSDataOutputStream): Unit =
    try out.abort(): Unit
    catch {
      case _: UnsupportedOperationException =>
        try out.close()
        catch { case _: IOException => () }
        fs.delete(target, false): Unit
    }
}
