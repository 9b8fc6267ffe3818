package hudiidx.storage

import java.io.{ByteArrayOutputStream, IOException, OutputStream}
import java.util.concurrent.atomic.AtomicInteger

import hudiidx.TestSettings.isLong

/** How the process dies in the chosen call. */
sealed trait Fault
object Fault {
  case object Before extends Fault
  case object After extends Fault

  /** `write` leaves half its content under the final name, as a killed process may on a store without rename;
    *  `publish` leaves half its content under a temporary name; `delete` removes nothing.
    */
  case object Partial extends Fault
  val All: Vector[Fault] = Vector(Before, After, Partial)
}

final class InjectedFault(message: String) extends IOException(message)

/** Dies at the `failAt`-th mutating call (write, publish, delete; counted from 1) and in every mutating call after it,
  *  so that no clean-up runs, as after a kill. With `failAt` beyond the last call it only counts them.
  *
  * @param end what becomes of the process: called when that call has done its part, and in every call after it
  */
final class FaultyStorage(inner: Storage, failAt: Int, fault: Fault, end: () => Unit = () => ()) extends Storage {
  private val calls = new AtomicInteger

  def mutatingCalls: Int = calls.get

  def hasFailed: Boolean = calls.get >= failAt

  override def list(dir: String): Vector[FileInfo] = inner.list(dir)
  override def status(path: String): Option[FileInfo] = inner.status(path)
  override def open(path: String): RandomReader = inner.open(path)
  override def readAll(path: String): Array[Byte] = inner.readAll(path)

  override def write(path: String)(content: OutputStream => Unit): Unit =
    mutate(s"write $path", inner.write(path)(content)) {
      val whole = new ByteArrayOutputStream
      content(whole)
      inner.write(path)(_.write(whole.toByteArray, 0, whole.size / 2))
    }

  override def publish(path: String, content: Array[Byte]): Boolean =
    mutate(s"publish $path", inner.publish(path, content)) {
      val cut = path.lastIndexOf('/') + 1
      inner
        .write(s"${path.substring(0, cut)}.${path.substring(cut)}.${FaultyStorage.KilledUuid}.tmp")(
          _.write(content, 0, content.length / 2)
        )
    }

  override def replace(path: String, content: Array[Byte]): Unit =
    mutate(s"replace $path", inner.replace(path, content))(())

  override def touch(path: String): Unit = mutate(s"touch $path", inner.touch(path))(())

  override def delete(path: String): Boolean = mutate(s"delete $path", inner.delete(path))(())

  override def deleteOne(path: String): Boolean = mutate(s"delete $path", inner.deleteOne(path))(())

  override def isLink(path: String): Boolean = inner.isLink(path)

  override def resolved(path: String): String = inner.resolved(path)

  private def mutate[A](what: String, whole: => A)(partial: => Unit): A = {
    val call = calls.incrementAndGet()
    if (call < failAt) whole
    else {
      if (call == failAt) fault match {
        case Fault.Before  => ()
        case Fault.After   => whole
        case Fault.Partial => partial
      }
      end()
      throw new InjectedFault(s"$what: killed by the test in call $call")
    }
  }
}

object FaultyStorage {
  val KilledUuid = "00000000-0000-0000-0000-00000dead000"

  /** Of so many mutating calls about one of `oneOf`, by a seed, and the last; all of them with HUDIIDX_TEST_EVERY_BYTE. As many
    * come together as there are faults: a test that goes through the faults by the call's number meets each of them.
    */
  def someCalls(calls: Int, oneOf: Int, seed: Long): Vector[Int] = {
    val together = Fault.All.size
    val every = math.min(oneOf, (calls + together - 1) / together)
    val chosen = Math.floorMod(seed, every.toLong)
    (1 to calls).toVector.filter(call => isLong || (call - 1) / together % every == chosen || call == calls)
  }
}
