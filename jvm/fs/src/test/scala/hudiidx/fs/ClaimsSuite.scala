package hudiidx.fs

import java.io.{ByteArrayOutputStream, IOException}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{Callable, CyclicBarrier, Executors, TimeUnit}

import scala.util.{Random, Try}

import hudiidx.TestSettings.{isLong, seed}
import hudiidx.{Figures, Fixtures, WriteConflict}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs._
import org.apache.hadoop.util.Progressable
import org.scalatest.funsuite.AnyFunSuite

/** Publishing on stores that put an object in the place of another silently. */
class ClaimsSuite extends AnyFunSuite {
  import ClaimsSuite._

  private val lease = 400L
  private val claims = new Claims(lease)

  private def started[A <: FileSystem](fs: A): A = {
    fs.initialize(fs.getUri, new Configuration)
    fs
  }

  private def newTarget(): Path = new Path(
    "lastwins://test" + Fixtures.newFolder("claims") + "/00000000000000000001.json"
  )

  private def content(of: Path): String = new String(Files.readAllBytes(Paths.get(of.toUri.getPath)), UTF_8)

  private def left(target: Path): Seq[String] =
    Fixtures.filesBelow(target.getParent.toUri.getPath)

  /** What each of so many is told who publish its number at once. */
  private def atOnce(writers: Int)(publish: (Int, Array[Byte]) => Boolean): Vector[Boolean] = {
    val pool = Executors.newFixedThreadPool(writers)
    val start = new CyclicBarrier(writers)
    try
      Vector
        .tabulate(writers) { w =>
          pool.submit(new Callable[Boolean] {
            override def call(): Boolean = {
              start.await()
              publish(w, s"of $w".getBytes(UTF_8))
            }
          })
        }
        .map(_.get())
    finally pool.shutdown()
  }

  test("two who have both looked before either puts: without claims both believe they won, with them one does") {
    val store = started(new WaitingStore)
    val without = newTarget()
    assert(atOnce(2)((_, c) => ByCreation.create(store, without)(_.write(c))) === Vector(true, true))
    val target = newTarget()
    val told = atOnce(2)((_, c) => claims.publish(store, target, c))
    assert(told.count(identity) === 1 && content(target) === s"of ${told.indexOf(true)}")
    assert(left(target) === Seq(target.getName))
  }

  test("of six who publish at once one wins, whatever the calls of the store take, round after round") {
    info(s"HUDIIDX_TEST_SEED=$seed")
    val rounds = if (isLong) 1000 else 40
    val store = started(new SlowStore(new Random(seed)))
    // A lease that no pause of the machine comes near.
    val patient = new Claims(60000L)
    (1 to rounds).foreach { round =>
      val target = newTarget()
      val told = atOnce(6)((_, c) => patient.publish(store, target, c))
      assert(told.count(identity) === 1 && content(target) === s"of ${told.indexOf(true)}", s"seed $seed, round $round")
      assert(left(target) === Seq(target.getName))
    }
    Figures.add("rounds of six who publish at once on a store without conditions", rounds.toLong)
  }

  test("a claim whose owner is dead keeps others from the name for a lease, and goes") {
    val dying = started(new DyingStore)
    val target = newTarget()
    assert(Try(claims.publish(dying, target, "of the dead".getBytes(UTF_8))).isFailure)
    assert(left(target).count(_.endsWith(".claim")) === 1 && !left(target).contains(target.getName))
    val from = System.nanoTime()
    assert(claims.publish(started(new LastWinsFileSystem), target, "of the next".getBytes(UTF_8)))
    assert((System.nanoTime() - from) / 1000000 >= lease)
    assert(content(target) === "of the next" && left(target) === Seq(target.getName))
  }

  test("a put of which a part is there goes, for the next one; all of it, or another's, stays") {
    Seq(3 -> "of the next", 0 -> "of the next", 6 -> "of one").foreach { case (bytes, stays) =>
      val target = newTarget()
      intercept[IOException](claims.publish(started(new CuttingStore(_.take(bytes))), target, "of one".getBytes(UTF_8)))
      assert(left(target).contains(target.getName) === (stays == "of one"), bytes)
      val isNext = claims.publish(started(new LastWinsFileSystem), target, "of the next".getBytes(UTF_8))
      assert(isNext === (stays != "of one") && content(target) === stays, bytes)
    }
    val target = newTarget()
    intercept[IOException](claims.publish(started(new CuttingStore(_ => "of")), target, "it".getBytes(UTF_8)))
    assert(content(target) === "of")
  }

  test("of a file that nobody else makes nothing stays where closing fails, whatever part of it is there") {
    Seq(0, 3, 6).foreach { bytes =>
      val target = newTarget()
      val cutting = started(new CuttingStore(_.take(bytes)))
      intercept[IOException](ByCreation.create(cutting, target)(_.write("of one".getBytes(UTF_8))))
      assert(left(target).isEmpty, bytes)
      assert(ByCreation.create(started(new LastWinsFileSystem), target)(_.write("of one".getBytes(UTF_8))))
      assert(content(target) === "of one")
    }
  }

  test("a claim that cannot be removed is no failure of what was published") {
    val target = newTarget()
    assert(claims.publish(started(new KeepingStore), target, "it".getBytes(UTF_8)))
    assert(content(target) === "it" && left(target).count(_.endsWith(".claim")) === 1)
    assert(!claims.publish(started(new LastWinsFileSystem), target, "more".getBytes(UTF_8)))
  }

  test("a name that others claim again and again is a conflict that says what to do") {
    val target = newTarget()
    val conflict = intercept[WriteConflict](claims.publish(started(new CrowdedStore), target, Array[Byte](1)))
    assert(conflict.getMessage.contains("let one process at a time write here") && left(target).isEmpty)
  }

  test("who does not find its own claim in the listing does not put, and tries again") {
    val store = started(new LaggingStore)
    val target = newTarget()
    assert(claims.publish(store, target, "it".getBytes(UTF_8)))
    assert(store.listings.get === 3 && content(target) === "it" && left(target) === Seq(target.getName))
  }
}

private object ClaimsSuite {

  private def isClaim(path: Path): Boolean = path.getName.endsWith(".claim")

  /** Puts what is no claim in a way of its own. */
  private abstract class OwnPuts extends LastWinsFileSystem {
    protected def put(opened: => FSDataOutputStream): FSDataOutputStream

    override def create(
        path: Path,
        overwrite: Boolean,
        bufferSize: Int,
        replication: Short,
        blockSize: Long,
        progress: Progressable
    ): FSDataOutputStream = {
      def opened = super.create(path, overwrite, bufferSize, replication, blockSize, progress)
      if (isClaim(path)) opened else put(opened)
    }
  }

  /** Opens a file only when another one has looked for it too, or nobody came for some time. */
  private final class WaitingStore extends OwnPuts {
    private val both = new CyclicBarrier(2)

    override protected def put(opened: => FSDataOutputStream): FSDataOutputStream = {
      val out = opened
      Try(both.await(150, TimeUnit.MILLISECONDS))
      if (both.isBroken) both.reset()
      out
    }
  }

  /** Each call takes its time. */
  private final class SlowStore(random: Random) extends LastWinsFileSystem {
    private def slowly[A](call: => A): A = {
      Thread.sleep(synchronized(random.nextInt(4)).toLong)
      val answer = call
      Thread.sleep(synchronized(random.nextInt(4)).toLong)
      answer
    }
    override def listStatus(path: Path): Array[FileStatus] = slowly(super.listStatus(path))
    override def getFileStatus(path: Path): FileStatus = slowly(super.getFileStatus(path))
    override def delete(path: Path, recursive: Boolean): Boolean = slowly(super.delete(path, recursive))
  }

  /** Nothing but claims is put, and nothing is removed. */
  private final class DyingStore extends OwnPuts {
    override def delete(path: Path, recursive: Boolean): Boolean = throw new IOException("dead")
    override protected def put(opened: => FSDataOutputStream): FSDataOutputStream = throw new IOException("dead")
  }

  /** Of what is put something is there, and an error is told. */
  private final class CuttingStore(part: String => String) extends OwnPuts {
    override protected def put(opened: => FSDataOutputStream): FSDataOutputStream = {
      val out = opened
      val content = new ByteArrayOutputStream {
        override def close(): Unit = {
          out.write(part(toString("UTF-8")).getBytes(UTF_8))
          out.close()
          throw new IOException("the connection is gone")
        }
      }
      new FSDataOutputStream(content, null)
    }
  }

  private final class KeepingStore extends LastWinsFileSystem {
    override def delete(path: Path, recursive: Boolean): Boolean = throw new IOException("may not remove")
  }

  /** Another claim, which is before all others, each time somebody looks. */
  private final class CrowdedStore extends LastWinsFileSystem {
    private val number = new AtomicInteger
    private var prefix = ""
    override def listStatus(path: Path): Array[FileStatus] = {
      val found = super.listStatus(path)
      found.map(_.getPath.getName).find(_.endsWith(".claim")).foreach(n => prefix = n.take(n.indexOf('.', 1) + 1))
      val one = new Path(path, s"$prefix!${number.incrementAndGet()}.claim")
      found :+ new FileStatus(1, false, 1, 1, 1, one)
    }
  }

  /** The first listings lack what was written last. */
  private final class LaggingStore extends LastWinsFileSystem {
    val listings = new AtomicInteger
    override def listStatus(path: Path): Array[FileStatus] = {
      val found = super.listStatus(path)
      if (listings.incrementAndGet() < 3) found.filterNot(s => isClaim(s.getPath)) else found
    }
  }
}
