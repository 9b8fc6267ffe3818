package hudiidx.fs

import java.io.{ByteArrayOutputStream, IOException, OutputStream}
import java.nio.file.{Files, Paths}

import org.apache.hadoop.fs._
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.util.Progressable

/** What a store does in one of its calls. */
sealed trait StoreFault
object StoreFault {

  /** The call fails, and nothing is done. */
  case object Refused extends StoreFault

  /** It is done, and its answer does not come. */
  case object Unanswered extends StoreFault

  /** It is done twice, as by a client that sends it again; the second answer comes. */
  case object Twice extends StoreFault

  /** Of a file, or of what one read asks for, half is read; or half is written before the connection is gone. */
  case object Cut extends StoreFault

  /** It is done late: others have gone on meanwhile, and the same client has asked nothing else. */
  case object Delayed extends StoreFault

  /** A rename answers that it was done, and was not. */
  case object NotRenamed extends StoreFault

  /** A rename answers that it was not done, and was. */
  case object Renamed extends StoreFault

  /** A listing lacks its newest entry. */
  case object Stale extends StoreFault

  /** From this call on there is no room: nothing is written, and nothing else fails. */
  case object Full extends StoreFault

  val All: Vector[StoreFault] = Vector(Refused, Unanswered, Twice, Cut, Delayed, NotRenamed, Renamed, Stale)
}

/** The calls of all faulty file systems in this process, counted from 1, and the one that has a fault. */
object StoreFaults {
  private var calls = 0
  private var chosen = Option.empty[(Int, StoreFault)]

  /** Did the chosen call have its fault? One that has no use for it passes. */
  private var happened = Option.empty[String]

  /** How many calls `work` makes, whatever it comes to. */
  def count(work: => Any): Int = {
    during(None)(work)
    calls
  }

  /** What the fault was in, if it came up. */
  def last: Option[String] = synchronized(happened)

  /** True if the fault came up.
    *
    * @param others what others do while a call is delayed
    */
  def during(fault: Option[(Int, StoreFault)], others: () => Unit = () => ())(work: => Any): Boolean = {
    synchronized {
      calls = 0
      happened = None
      isFull = false
      chosen = fault
      meanwhile = others
    }
    try work: Unit
    finally
      synchronized {
        chosen = None
        isFull = false
      }
    last.isDefined
  }

  private var meanwhile: () => Unit = () => ()

  /** The thread whose call is delayed. */
  private var late = Option.empty[Thread]

  private[hudiidx] def delay(): Unit = {
    synchronized { late = Some(Thread.currentThread()) }
    try meanwhile()
    finally
      synchronized {
        late = None
        notifyAll()
      }
  }

  private var isFull = false

  private[hudiidx] def takeRoom(what: String): Unit = synchronized {
    if (isFull) {
      happened = happened.orElse(Some(what))
      throw new IOException("No space left on device")
    }
  }

  private[hudiidx] def next(what: String, useful: Set[StoreFault]): Option[StoreFault] = synchronized {
    while (late.exists(_ ne Thread.currentThread())) wait()
    calls += 1
    if (chosen.exists { case (at, fault) => fault == StoreFault.Full && calls >= at }) isFull = true
    val found = chosen.collect { case (at, fault) if at == calls && useful(fault) => fault }
    if (found.isDefined) happened = Some(what)
    found
  }
}

/** Counts calls, and gives the chosen one its fault. */
trait FaultyCalls extends RelabelledFileSystem {
  import StoreFault._

  private def call[A](what: String, useful: StoreFault*)(work: => A)(special: PartialFunction[StoreFault, A]): A =
    StoreFaults.next(what, useful.toSet ++ Seq(Refused, Unanswered, Delayed)) match {
      case None             => work
      case Some(Refused)    => throw new IOException(s"$what: refused by the test")
      case Some(Unanswered) =>
        work
        throw new IOException(s"$what: no answer, by the test")
      case Some(Twice) =>
        work
        work
      case Some(Delayed) =>
        StoreFaults.delay()
        work
      case Some(fault) => special(fault)
    }

  override def listStatus(path: Path): Array[FileStatus] =
    call(s"list $path", Stale)(super.listStatus(path)) { case Stale =>
      val found = super.listStatus(path)
      val newest = found.sortBy(s => (s.getModificationTime, s.getPath.getName)).lastOption.map(_.getPath)
      found.filterNot(s => newest.contains(s.getPath))
    }

  override def getFileStatus(path: Path): FileStatus =
    call(s"status $path")(super.getFileStatus(path))(PartialFunction.empty)

  override def setTimes(path: Path, modified: Long, accessed: Long): Unit =
    call(s"touch $path")(super.setTimes(path, modified, accessed))(PartialFunction.empty)

  override def delete(path: Path, recursive: Boolean): Boolean =
    call(s"delete $path", Twice)(super.delete(path, recursive))(PartialFunction.empty)

  override def rename(from: Path, to: Path): Boolean =
    call(s"rename $from", Twice, NotRenamed, Renamed)(super.rename(from, to)) {
      case NotRenamed => true
      case Renamed    =>
        super.rename(from, to)
        false
    }

  override def open(path: Path, bufferSize: Int): FSDataInputStream =
    new FSDataInputStream(new FaultyInput(path, opened(path, bufferSize)))

  private def opened(path: Path, bufferSize: Int): FSDataInputStream =
    call(s"open $path", Cut)(super.open(path, bufferSize)) { case Cut =>
      val whole = Files.readAllBytes(Paths.get(path.toUri.getPath))
      val half = Files.createTempFile("cut", "")
      Files.write(half, whole.take(whole.length / 2))
      super.open(new Path(getUri.toString + half), bufferSize)
    }

  private def made(path: Path)(work: => FSDataOutputStream): FSDataOutputStream =
    call(s"create $path", Cut)(new FSDataOutputStream(new FaultyOutput(path, work), null)) { case Cut =>
      new FSDataOutputStream(new CutOff(path, work), null)
    }

  override def create(
      path: Path,
      overwrite: Boolean,
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable
  ): FSDataOutputStream = made(path)(super.create(path, overwrite, bufferSize, replication, blockSize, progress))

  override def create(
      path: Path,
      permission: FsPermission,
      overwrite: Boolean,
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable
  ): FSDataOutputStream =
    made(path)(super.create(path, permission, overwrite, bufferSize, replication, blockSize, progress))

  /** Each read is a call, and so is the end of reading. */
  private final class FaultyInput(path: Path, in: FSDataInputStream) extends FSInputStream {
    private def reading(length: Int)(read: Int => Int): Int = call(s"read $path", Cut)(read(length)) { case Cut =>
      read(length / 2)
      throw new IOException(s"read $path: cut off by the test")
    }

    override def read(): Int = call(s"read $path")(in.read())(PartialFunction.empty)
    override def read(bytes: Array[Byte], from: Int, length: Int): Int = reading(length)(in.read(bytes, from, _))
    override def read(position: Long, bytes: Array[Byte], from: Int, length: Int): Int =
      reading(length)(in.read(position, bytes, from, _))
    override def seek(position: Long): Unit = in.seek(position)
    override def getPos: Long = in.getPos
    override def seekToNewSource(position: Long): Boolean = false
    override def close(): Unit = call(s"close $path")(in.close())(PartialFunction.empty)
  }

  private final class FaultyOutput(path: Path, out: FSDataOutputStream) extends OutputStream {
    private var isClosed = false
    override def write(b: Int): Unit = {
      StoreFaults.takeRoom(s"write $path")
      out.write(b)
    }
    override def write(b: Array[Byte], from: Int, length: Int): Unit = {
      StoreFaults.takeRoom(s"write $path")
      out.write(b, from, length)
    }
    override def close(): Unit = if (!isClosed) {
      isClosed = true
      call(s"close $path")(out.close())(PartialFunction.empty)
    }
  }

  private final class CutOff(path: Path, open: => FSDataOutputStream) extends OutputStream {
    private val out = open
    private val content = new ByteArrayOutputStream
    private var isClosed = false
    override def write(b: Int): Unit = content.write(b)
    override def write(b: Array[Byte], from: Int, length: Int): Unit = content.write(b, from, length)
    override def close(): Unit = if (!isClosed) {
      isClosed = true
      out.write(content.toByteArray, 0, content.size / 2)
      out.close()
      throw new IOException(s"create $path: cut off by the test")
    }
  }
}

/** With HDFS's rename. */
class FaultyRenaming extends RenamingFileSystem with FaultyCalls

/** With files that appear when they are closed. */
class FaultyObjects extends ObjectFileSystem with FaultyCalls
