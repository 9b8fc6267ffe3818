package hudiidx.storage

import java.io.{ByteArrayOutputStream, IOException, OutputStream}
import java.nio.file.{FileAlreadyExistsException, NoSuchFileException}
import scala.collection.mutable

/** What a kind of store does in one step, and what it takes several for.
  *
  * @param touchesByPut a file's time is set by a read and a put, which takes the place of whatever is there by then
  * @param showsParts   a file is seen before all of it is there
  */
sealed abstract class StoreModel(val touchesByPut: Boolean, val showsParts: Boolean)
object StoreModel {

  /** S3: puts on condition that nothing is there, puts that take the place of what is, no rename. */
  case object Conditions extends StoreModel(touchesByPut = true, showsParts = false)

  /** HDFS: a rename that refuses a target, times that are set. */
  case object Renames extends StoreModel(touchesByPut = false, showsParts = true)

  /** A store without either: names are claimed before something is published, in steps that `ClaimedModelSuite` tries. */
  case object Plain extends StoreModel(touchesByPut = true, showsParts = true)

  val All: Vector[StoreModel] = Vector(Conditions, Renames, Plain)
}

/** What becomes of one call that changes something. */
sealed trait LostAnswer
object LostAnswer {

  /** Nothing is done. */
  case object Refused extends LostAnswer

  /** It is done. */
  case object Done extends LostAnswer

  /** It is done when all else is over, if the store's condition holds by then. */
  case object Late extends LostAnswer

  val All: Vector[LostAnswer] = Vector(Refused, Done, Late)
}

/** A store in memory, of which each step waits for its turn.
  *
  * @param turns     None: nobody waits
  * @param ageMillis so much older than they are files look: whoever looks takes their makers for silent, and locks for expired
  */
final class ModelStore(val model: StoreModel, turns: Option[Turns], ageMillis: Long = ModelStore.Old) {
  import ModelStore._
  private val files = mutable.TreeMap.empty[String, (Array[Byte], Long)]
  private val late = mutable.Buffer.empty[() => Unit]

  /** Paths that were deleted. */
  val deleted: mutable.Buffer[String] = mutable.Buffer.empty

  def snapshot: ModelStore = synchronized {
    val copy = new ModelStore(model, None)
    copy.files ++= files
    copy
  }

  def forTurns(turns: Turns, ageMillis: Long = ModelStore.Old): ModelStore = synchronized {
    val copy = new ModelStore(model, Some(turns), ageMillis)
    copy.files ++= files
    copy
  }

  def names: Vector[String] = synchronized(files.keys.toVector)

  /** What was sent and not done is done. */
  def settle(): Unit = {
    val all = synchronized {
      val found = late.toVector
      late.clear()
      found
    }
    all.foreach(work => work())
  }

  /** As one process reaches it.
    *
    * @param fault the number of a call that changes something, and what becomes of it
    */
  def of(process: Int, fault: Option[(Int, LostAnswer)] = None): Storage = new Storage {
    private var changes = 0

    private def step[A](path: String)(work: => A): A = {
      if (isShared(path)) turns.foreach(_.await(process))
      ModelStore.this.synchronized(work)
    }

    private def change[A](path: String)(work: => A): A = {
      if (isShared(path)) turns.foreach(_.await(process))
      changes += 1
      fault.filter(_._1 == changes).map(_._2) match {
        case None                     => ModelStore.this.synchronized(work)
        case Some(LostAnswer.Refused) => throw new IOException(s"$path: refused by the test")
        case Some(LostAnswer.Done)    =>
          ModelStore.this.synchronized(work)
          throw new IOException(s"$path: no answer, by the test")
        case Some(LostAnswer.Late) =>
          ModelStore.this.synchronized(late += (() => ModelStore.this.synchronized(work: Unit)))
          throw new IOException(s"$path: no answer yet, by the test")
      }
    }

    private def found(path: String): (Array[Byte], Long) = files.getOrElse(path, throw new NoSuchFileException(path))

    private def put(path: String, content: Array[Byte]): Unit = files(path) =
      (content, System.currentTimeMillis() - ageMillis)

    private def below(dir: String): Iterator[(String, (Array[Byte], Long))] =
      files.iteratorFrom(s"$dir/").takeWhile(_._1.startsWith(s"$dir/"))

    override def list(dir: String): Vector[FileInfo] = step(s"$dir/") {
      below(dir).toVector
        .groupBy(_._1.substring(dir.length + 1).takeWhile(_ != '/'))
        .toVector
        .map { case (name, all) =>
          val path = s"$dir/$name"
          files.get(path) match {
            case Some((content, time)) => FileInfo(path, content.length.toLong, time, isDirectory = false)
            case None                  => FileInfo(path, 0, all.map(_._2._2).max, isDirectory = true)
          }
        }
        .sortBy(_.name)
    }

    override def status(path: String): Option[FileInfo] = step(path) {
      files.get(path) match {
        case Some((content, time))       => Some(FileInfo(path, content.length.toLong, time, isDirectory = false))
        case None if below(path).isEmpty => None
        case None                        => Some(FileInfo(path, 0, 0, isDirectory = true))
      }
    }

    override def open(path: String): RandomReader = new BytesReader(path, step(path)(found(path)._1))

    override def readAll(path: String): Array[Byte] = step(path)(found(path)._1)

    override def write(path: String)(content: OutputStream => Unit): Unit = writeInPlace(path)(content)

    override def writeInPlace(path: String)(content: OutputStream => Unit): Unit = {
      val whole = new ByteArrayOutputStream
      if (model.showsParts) change(path) {
        if (files.contains(path)) throw new FileAlreadyExistsException(path)
        put(path, Array.emptyByteArray)
      }
      content(whole)
      change(path) {
        if (!model.showsParts && files.contains(path)) throw new FileAlreadyExistsException(path)
        put(path, whole.toByteArray)
      }
    }

    override def replace(path: String, content: Array[Byte]): Unit = change(path)(put(path, content))

    override def touch(path: String): Unit =
      if (model.touchesByPut) {
        val content = step(path)(found(path)._1)
        change(path)(put(path, content))
      } else change(path)(put(path, found(path)._1))

    override def publish(path: String, content: Array[Byte]): Boolean = change(path) {
      val isFirst = !files.contains(path)
      if (isFirst) put(path, content)
      isFirst
    }

    override def delete(path: String): Boolean = change(path) {
      val all = below(path).map(_._1).toVector ++ files.get(path).map(_ => path)
      files --= all
      deleted ++= all
      all.nonEmpty
    }
  }
}

object ModelStore {
  val Old = 600000L

  /** Calls about anything else meet nobody's. */
  private def isShared(path: String): Boolean =
    (path.contains("/.hoodie/") && !path.endsWith("hoodie.properties")) || path.endsWith("/lock")
}

/** Lets processes go on one at a time, in an order that is given: so many steps of a process, then so many of another; then all to
  * their ends, one after the other.
  */
final class Turns(order: Vector[(Int, Int)]) {
  private val waiting = mutable.Set.empty[Int]
  private val alive = mutable.LinkedHashSet.empty[Int]
  private var granted = Option.empty[Int]
  private val resting = mutable.Set.empty[Int]
  val taken: mutable.Map[Int, Int] = mutable.Map.empty.withDefaultValue(0)

  def await(process: Int): Unit = synchronized {
    if (alive(process)) {
      waiting += process
      notifyAll()
      while (!granted.contains(process)) wait()
      granted = None
      taken(process) += 1
    }
  }

  /** What becomes of each.
    *
    * @param work of each process
    */
  def run[A](work: Vector[() => A]): Vector[scala.util.Try[A]] = {
    val results = mutable.Map.empty[Int, scala.util.Try[A]]
    work.indices.foreach(alive += _)
    val threads = work.zipWithIndex.map { case (deed, process) =>
      val thread = new Thread(() => {
        Turns.own.set(() => synchronized { resting += process }: Unit)
        await(process)
        val result = scala.util.Try(deed())
        synchronized {
          results(process) = result
          alive -= process
          notifyAll()
        }
      })
      thread.setDaemon(true)
      thread.start()
      thread
    }
    var left = order
    var last = Option.empty[Int]
    synchronized {
      while (alive.nonEmpty) {
        while (granted.isDefined || !alive.forall(waiting)) wait()
        if (alive.nonEmpty) {
          val rests = last.filter(resting.remove)
          if (left.headOption.exists { case (p, _) => rests.contains(p) }) left = left.tail
          while (left.headOption.exists { case (p, n) => n <= 0 || !alive(p) }) left = left.tail
          val behind = rests.flatMap(p => alive.find(_ > p))
          val next = left.headOption.map(_._1).getOrElse(behind.getOrElse(alive.head))
          left = left.headOption.fold(left) { case (p, n) => (p, n - 1) +: left.tail }
          // Instants are told by milliseconds: who comes next has another.
          if (!last.contains(next)) Thread.sleep(1)
          last = Some(next)
          waiting -= next
          granted = Some(next)
          notifyAll()
          while (alive(next) && !waiting(next)) wait()
        }
      }
    }
    threads.foreach(_.join())
    work.indices.toVector.map(results)
  }
}

object Turns {
  private val own = new ThreadLocal[() => Unit]

  /** The process of this thread waits for another one: the turns that it had left go to the next. */
  def rest(): Unit = Option(own.get).foreach(_())
}
