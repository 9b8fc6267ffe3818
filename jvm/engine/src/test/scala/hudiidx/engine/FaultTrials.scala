package hudiidx.engine

import hudiidx.fs.StoreFaults
import hudiidx.fs.StoreFault
import hudiidx.fs.RenamingFiles
import hudiidx.fs.FaultyRenaming
import hudiidx.fs.FaultyObjects
import java.io.{IOException, UncheckedIOException}

import scala.util.Random
import scala.util.control.NonFatal

import hudiidx.TestSettings.{isLong, seed}
import hudiidx.sync.TableAccess
import hudiidx.{Figures, Fixtures, HudiIdxException}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{AbstractFileSystem, FileSystem}
import org.scalatest.exceptions.TestFailedException
import org.scalatest.funsuite.AnyFunSuite

/** Work whose calls of a store have a fault, one after the other: every one of them with `HUDIIDX_TEST_EVERY_BYTE`, else a
  * sample. `HUDIIDX_FAULTS_OF_CALL`: how many faults of each call then, drawn by the seed; all unless told.
  */
trait FaultTrials { this: AnyFunSuite =>
  private val mostOfCall = sys.env.get("HUDIIDX_FAULTS_OF_CALL").fold(Int.MaxValue)(_.toInt)

  /** @param faultsOfCall
    *   how many faults of a call are tried where every call is, drawn by the seed
    * @param tried
    *   true if the fault came up
    */
  protected def everyFault(
      calls: Int,
      faults: Seq[StoreFault] = StoreFault.All,
      sample: Int = 30,
      faultsOfCall: Int = Int.MaxValue
  )(tried: ((Int, StoreFault)) => Boolean): Unit = {
    info(s"HUDIIDX_TEST_SEED=$seed, $calls calls")
    assert(calls > 10)
    val random = new Random(seed)
    def all(ofCall: Int) = for (call <- 1 to calls; fault <- random.shuffle(faults).take(ofCall)) yield (call, fault)
    val (some, more) =
      if (isLong) (all(math.min(faultsOfCall, mostOfCall)), Nil) else random.shuffle(all(faults.size)).splitAt(sample)
    def comesUp(f: (Int, StoreFault)): Boolean =
      try Fixtures.removing("copied")(tried(f))
      catch {
        case e: TestFailedException => throw e.modifyMessage(_.map(m => s"seed $seed, $f, ${StoreFaults.last}: $m"))
        case NonFatal(e)            => fail(s"seed $seed, $f, ${StoreFaults.last}: $e", e)
      }
    // Not every fault fits every call: where none of the sample did, the next one that does is tried.
    val cameUp = some.count(comesUp) match {
      case 0 if more.exists(comesUp) => 1
      case n                         => n
    }
    assert(cameUp > 0)
    Figures.add("calls of a store with a fault", cameUp.toLong)
  }

  /** An error that says that the store failed is as good as an answer. */
  protected def tolerated(work: => Any): Unit =
    try work: Unit
    catch { case e: Exception if isOfStore(e) => () }

  protected def isOfStore(e: Throwable): Boolean =
    e.isInstanceOf[HudiIdxException] || e.isInstanceOf[IOException] || e.isInstanceOf[UncheckedIOException]
}

/** A kind of store, by a scheme of its own.
  *
  * @param contexts what renames with options go to
  */
final class FaultyStore(
    val name: String,
    scheme: String,
    files: Class[_ <: FileSystem],
    contexts: Option[Class[_ <: AbstractFileSystem]] = None
) {

  /** What makes Hadoop take it; other suites' files of this scheme may be there. */
  val settings: Map[String, String] =
    Map(s"fs.$scheme.impl" -> files.getName, s"fs.$scheme.impl.disable.cache" -> "true") ++
      contexts.map(c => s"fs.AbstractFileSystem.$scheme.impl" -> c.getName)

  def access: TableAccess = {
    val conf = new Configuration
    settings.foreach { case (k, v) => conf.set(k, v) }
    Tables.access(conf)
  }

  def on(path: String): String = s"$scheme://test$path"
}

object FaultyStore {
  val All: Vector[FaultyStore] = Vector(
    new FaultyStore("renames", "hdfs", classOf[FaultyRenaming], Some(classOf[RenamingFiles])),
    new FaultyStore("objects", "objects", classOf[FaultyObjects])
  )
}
