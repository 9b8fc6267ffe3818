package hudiidx.engine

import java.io.{ByteArrayOutputStream, FileNotFoundException}
import java.net.URI
import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID

import hudiidx.TestSettings.{seed, upTo}
import hudiidx.fs.Claims
import hudiidx.storage._
import hudiidx.write.LeaseModelSuite.{Path => Table, _}
import hudiidx.write.{CompactionStepsSuite, LateWriteSuite, WriteStepsSuite}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs._
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.util.Progressable
import org.scalatest.funsuite.AnyFunSuite

/** Writers, compactions and locks on a model of a store that refuses nothing: of two puts the later one takes the place of the
  * earlier. They claim names, and stop before any call of that too, though never for as long as a claim stands.
  */
final class ClaimedModelSuite extends AnyFunSuite {
  import ClaimedModelSuite._
  import LateWriteSuite.silentAtOnce

  private val model = StoreModel.Plain

  // Of the pairs of stops, which are many more than without claims, one of so many.
  private val oneOf = upTo(40, 5000)

  private def write(s: Storage, key: String): Unit = WriteStepsSuite.write(claiming(s), Table, key, silentAtOnce)

  test("of two writers, each of which takes the other back, those are told so whose rows are there") {
    info(s"HUDIIDX_TEST_SEED=$seed")
    pairs(table(model)(_ => ()), oneOf, more = upTo(200, 2))(write(_, "one"), write(_, "two")) { done =>
      requireTold(done, Set.empty, Vector("one", "two"))
    }
  }

  test("of two that run a compaction one does, and no row is lost or there twice") {
    info(s"HUDIIDX_TEST_SEED=$seed")
    val start = table(model) { s =>
      Seq("a", "b").foreach(WriteStepsSuite.write(s, Table, _, silentAtOnce))
      CompactionStepsSuite.plan(s, Table, silentAtOnce)
    }
    def run(s: Storage): Unit = CompactionStepsSuite.runPlanned(claiming(s), Table, silentAtOnce)
    pairs(start, oneOf, more = upTo(200, 2))(run, run)(requireCompacted(_, Set("a", "b")))
  }

  test("of those who wait for a lock one has it at a time, also where a dead one's claim of its name stands") {
    info(s"HUDIIDX_TEST_SEED=$seed")
    val start = table(model)(_ => ())
    val name = UUID.nameUUIDFromBytes("lock".getBytes(UTF_8))
    start.of(9).replace(s"$Table/.hoodie/.$name.${UUID.randomUUID()}.claim", "lock".getBytes(UTF_8))
    locks(start, oneOf = upTo(8, 60))(claiming(_, new Claims(DeadMillis)))
  }

  test("any number of writers, compactions and beats in any order") {
    info(s"HUDIIDX_TEST_SEED=$seed")
    inAnyOrder(upTo(300, 3), Vector(model), areLost = false)(claiming(_))
  }
}

private object ClaimedModelSuite {

  /** Nobody is taken for dead while he waits for his turn. */
  private val patient = new Claims(600000L)

  /** So long a dead one's claim is waited for. */
  private val DeadMillis = 400L

  /** Publishes as on a store that knows no conditions. Claims are as young as they are: their makers go on. */
  def claiming(inner: Storage, claims: Claims = patient): Storage = new PassingStorage(inner) {
    private val files = new ModelFiles(inner)
    override def publish(path: String, content: Array[Byte]): Boolean = claims.publish(files, new Path(path), content)
    override def list(dir: String): Vector[FileInfo] = super.list(dir).map(young)
    override def status(path: String): Option[FileInfo] = super.status(path).map(young)

    private def young(f: FileInfo): FileInfo =
      if (f.name.endsWith(".claim")) f.copy(modifiedMillis = System.currentTimeMillis()) else f
  }

  /** A file is there when its stream is closed, whatever was there. Who lists twice waits for others. */
  private final class ModelFiles(storage: Storage) extends FileSystem {
    private var hasListed = false
    setConf(new Configuration(false))
    initialize(getUri, getConf)

    override def getUri: URI = URI.create("model:///")

    private def status(f: FileInfo): FileStatus =
      new FileStatus(f.sizeBytes, f.isDirectory, 1, 1, f.modifiedMillis, new Path(f.path))

    private def next[A](call: => A): A = {
      hasListed = false
      call
    }

    override def getFileStatus(path: Path): FileStatus = next {
      storage.status(path.toUri.getPath).map(status).getOrElse(throw new FileNotFoundException(path.toString))
    }

    override def listStatus(path: Path): Array[FileStatus] = {
      if (hasListed) Turns.rest()
      hasListed = true
      storage.list(path.toUri.getPath).map(status).toArray
    }

    override def create(
        path: Path,
        permission: FsPermission,
        overwrite: Boolean,
        bufferSize: Int,
        replication: Short,
        blockSize: Long,
        progress: Progressable
    ): FSDataOutputStream = {
      if (!overwrite && exists(path)) throw new FileAlreadyExistsException(path.toString)
      val content = new ByteArrayOutputStream {
        override def close(): Unit = storage.replace(path.toUri.getPath, toByteArray)
      }
      new FSDataOutputStream(content, null)
    }

    override def delete(path: Path, recursive: Boolean): Boolean = next(storage.delete(path.toUri.getPath))

    private def never: Nothing = throw new UnsupportedOperationException
    override def open(path: Path, bufferSize: Int): FSDataInputStream = never
    override def append(path: Path, bufferSize: Int, progress: Progressable): FSDataOutputStream = never
    override def rename(from: Path, to: Path): Boolean = never
    override def mkdirs(path: Path, permission: FsPermission): Boolean = never
    override def setWorkingDirectory(path: Path): Unit = never
    override def getWorkingDirectory: Path = new Path("/")
  }
}
