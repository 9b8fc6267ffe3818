package hudiidx.sync

import hudiidx.storage._
import java.io.{ByteArrayOutputStream, OutputStream}
import java.nio.file.{FileAlreadyExistsException, NoSuchFileException}
import java.util.concurrent.Semaphore
import scala.collection.JavaConverters._
import scala.util.Random
import scala.util.control.ControlThrowable

/** The process of an actor ends: whatever it was about to do is not done. */
private final class Killed extends ControlThrowable

/** Actors of which one takes one step at a time, a call of the storage, in an order that a seed decides. Each is a thread, and
  * only the one whose turn it is runs, so that they share what they like without locks.
  *
  * @param switching how likely another actor's step comes next
  */
final class Simulation(random: Random, switching: Double) {
  private val scheduler = new Semaphore(0)
  private var actors = Vector.empty[Actor]
  private val files = new java.util.TreeMap[String, Array[Byte]]

  private val taken = Vector.newBuilder[String]

  /** Steps that all actors took: who, which call, where. */
  def steps: Vector[String] = taken.result()

  /** What nobody else sees the steps of. */
  val storage: Storage = new SteppedStorage(files, _ => ())

  /** @param killAt the step that it does not take any more */
  def actor(name: String, killAt: Int = Int.MaxValue)(work: Storage => Unit): Unit =
    actors :+= new Actor(name, killAt, work)

  /** Until all actors are done or dead. What one of them failed by is raised, with its name. */
  def run(): Unit = {
    actors.foreach(_.thread.start())
    var alive = actors
    var current = alive.head
    while (alive.nonEmpty) {
      if (current.isDone || random.nextDouble() < switching) current = alive(random.nextInt(alive.size))
      current.go()
      alive = alive.filterNot(_.isDone)
    }
    actors.foreach(a => a.failure.foreach(e => throw new AssertionError(s"${a.name}: $e", e)))
  }

  private final class Actor(val name: String, killAt: Int, work: Storage => Unit) {
    private val turn = new Semaphore(0)
    private var count = 0
    @volatile var isDone = false
    @volatile var failure: Option[Throwable] = None

    val thread = new Thread(() => {
      turn.acquire()
      try work(new SteppedStorage(files, step))
      catch {
        case _: Killed    => ()
        case e: Throwable => failure = Some(e)
      } finally {
        isDone = true
        scheduler.release()
      }
    })
    thread.setDaemon(true)

    private def step(call: String): Unit = {
      count += 1
      taken += s"$name: $call"
      if (count >= killAt) throw new Killed
      scheduler.release()
      turn.acquire()
    }

    def go(): Unit = {
      turn.release()
      scheduler.acquire()
    }
  }
}

/** Files in memory; before each call `step` is run. */
private final class SteppedStorage(files: java.util.TreeMap[String, Array[Byte]], step: String => Unit)
    extends Storage {

  // Of all files: what is old enough is not to hang on a millisecond.
  private val made = System.currentTimeMillis() - 1000

  override def list(dir: String): Vector[FileInfo] = {
    step(s"list $dir")
    val prefix = dir + "/"
    val below = files.tailMap(prefix).asScala.iterator.takeWhile(_._1.startsWith(prefix))
    val found = below.map { case (path, bytes) =>
      val end = path.indexOf('/', prefix.length)
      if (end < 0) info(path, bytes) else FileInfo(path.substring(0, end), 0, 0, isDirectory = true)
    }
    found.toVector.distinct.sortBy(_.name)
  }

  override def status(path: String): Option[FileInfo] = {
    step(s"status $path")
    if (files.containsKey(path)) Some(info(path, files.get(path)))
    else if (isFolder(path)) Some(FileInfo(path, 0, 0, isDirectory = true))
    else None
  }

  private def isFolder(path: String): Boolean = Option(files.ceilingKey(path + "/")).exists(_.startsWith(path + "/"))

  private def info(path: String, bytes: Array[Byte]): FileInfo =
    FileInfo(path, bytes.length.toLong, made, isDirectory = false)

  override def open(path: String): RandomReader = {
    val whole = readAll(path)
    val under = new BytesReader(path, whole)
    new RandomReader {
      override def path: String = under.path
      override def sizeBytes: Long = under.sizeBytes
      override def read(offset: Long, length: Int): java.nio.ByteBuffer = {
        step(s"read $path from $offset")
        under.read(offset, length)
      }
      override def close(): Unit = ()
    }
  }

  override def readAll(path: String): Array[Byte] = {
    step(s"read $path")
    Option(files.get(path)).getOrElse(throw new NoSuchFileException(path))
  }

  override def write(path: String)(content: OutputStream => Unit): Unit = {
    val out = new ByteArrayOutputStream
    content(out)
    if (!publish(path, out.toByteArray)) throw new FileAlreadyExistsException(path)
  }

  override def replace(path: String, content: Array[Byte]): Unit = {
    step(s"replace $path")
    files.put(path, content): Unit
  }

  override def touch(path: String): Unit = step(s"touch $path")

  override def publish(path: String, content: Array[Byte]): Boolean = {
    step(s"publish $path")
    files.putIfAbsent(path, content) == null
  }

  override def delete(path: String): Boolean = {
    step(s"delete $path")
    val below = files.tailMap(path + "/").keySet.asScala.takeWhile(_.startsWith(path + "/")).toVector
    below.foreach(files.remove)
    files.remove(path) != null || below.nonEmpty
  }
}
