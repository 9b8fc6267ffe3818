package hudiidx.fs

import java.io.{ByteArrayOutputStream, IOException, OutputStream}
import java.net.URI
import java.nio.file.{Files, Paths, StandardCopyOption}
import java.util.UUID

import hudiidx.Fixtures
import hudiidx.storage.{LocalStorage, Storage, StorageContract}
import hudiidx.store.IndexFolderContract
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.azurebfs.AzureBlobFileSystem
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.fs.{
  AbstractFileSystem,
  DelegateToFileSystem,
  FSDataOutputStream,
  FileAlreadyExistsException,
  FileStatus,
  FileSystem,
  Path,
  RawLocalFileSystem
}
import org.apache.hadoop.util.Progressable

/** A client that was put on the class path without what it needs. */
private final class HalvedClient extends RawLocalFileSystem {
  override def initialize(uri: java.net.URI, conf: Configuration): Unit = throw new NoClassDefFoundError("some/Library")
}

class HadoopStorageOnLocalSuite extends StorageContract with IndexFolderContract {
  override val storage: Storage = new HadoopStorage(new Configuration)
  override def newFolder(): String = "file:" + Fixtures.newFolder("hadoop-local")

  test("a store without a client is not far, and whoever asks it is told so") {
    assert(!storage.isFar("nosuch://a/b") && !storage.isFar(newFolder()))
    assert(intercept[IOException](storage.list("nosuch://a/b")).getMessage.contains("no client for nosuch"))
  }

  test("a store whose client lacks one of its libraries says so") {
    val conf = new Configuration
    conf.set("fs.halved.impl", classOf[HalvedClient].getName)
    val said = intercept[IOException](new HadoopStorage(conf).list("halved://a/b")).getMessage
    assert(said.contains("the client for halved:// lacks a class") && said.contains("some/Library"), said)
  }

  test("a store whose client neither lists nor writes says so") {
    for (call <- Seq[String => Any](storage.list, storage.write(_)(_.write(1)), storage.writeOnce(_)(_.write(1))))
      assert(intercept[IOException](call("http://localhost:1/f")).getMessage.contains("cannot do this"))
  }

  test("no checksum files are written, and those of others are not listed") {
    val dir = newFolder()
    storage.write(s"$dir/f")(_.write(1))
    assert(LocalStorage.list(dir).map(_.name) === Vector("f"))
    val fs = new Path(dir).getFileSystem(new Configuration)
    fs.create(new Path(dir, "g")).close()
    assert(fs.exists(new Path(dir, "f")))
    assert(storage.list(dir).map(_.name) === Vector("f", "g"))
  }
}

/** On a store with HDFS's rename. */
class HadoopStorageByRenameSuite extends StorageContract with IndexFolderContract {
  private val conf = new Configuration
  conf.setClass("fs.hdfs.impl", classOf[RenamingFileSystem], classOf[org.apache.hadoop.fs.FileSystem])
  conf.setClass("fs.AbstractFileSystem.hdfs.impl", classOf[RenamingFiles], classOf[AbstractFileSystem])
  // Others use the name with settings of theirs.
  conf.setBoolean("fs.hdfs.impl.disable.cache", true)
  override val storage: Storage = new HadoopStorage(conf)
  override def newFolder(): String = "hdfs://test" + Fixtures.newFolder("hadoop-rename")

  test("listing a file is an I/O error") {
    val dir = newFolder()
    storage.write(s"$dir/f")(_.write(1))
    intercept[IOException](storage.list(s"$dir/f"))
  }
}

/** On a store where a file appears when its stream is closed. */
class HadoopStorageByCreationSuite extends StorageContract with IndexFolderContract {
  private val conf = new Configuration
  conf.setClass("fs.objects.impl", classOf[ObjectFileSystem], classOf[org.apache.hadoop.fs.FileSystem])
  override val storage: Storage = new HadoopStorage(conf)
  override def newFolder(): String = "objects://test" + Fixtures.newFolder("hadoop-objects")

  test("a file whose bytes would take much of the memory is not read whole, and none is taken for it") {
    val dir = Fixtures.newFolder("hadoop-large")
    for (bytes <- Seq(3L << 30, Runtime.getRuntime.maxMemory / 4 + 1)) {
      val file = new java.io.RandomAccessFile(dir.resolve("large").toFile, "rw")
      try file.setLength(bytes)
      finally file.close()
      for (read <- Seq[String => Any](storage.readAll, storage.touch))
        assert(
          intercept[IOException](read(s"objects://test$dir/large")).getMessage.contains(s"$bytes bytes are too many")
        )
    }
  }
}

/** On one that does not look again when the stream is closed. */
class HadoopStorageByClaimSuite extends StorageContract {
  private val conf = new Configuration
  conf.setClass("fs.lastwins.impl", classOf[LastWinsFileSystem], classOf[org.apache.hadoop.fs.FileSystem])
  override val storage: Storage = new HadoopStorage(conf)
  override def newFolder(): String = "lastwins://test" + Fixtures.newFolder("hadoop-claims")
}

/** Through a view, on what is mounted there. */
class HadoopStorageByMountSuite extends StorageContract {
  import HadoopStorageByMountSuite._
  private val root = Fixtures.newFolder("hadoop-mounts")
  private val conf = mounted(Map("/renaming" -> s"hdfs://test$root/r", "/objects" -> s"lastwins://test$root/o"))
  Seq("r", "o").foreach(f => Files.createDirectories(root.resolve(f)))
  override val storage: Storage = new HadoopStorage(conf)
  override def newFolder(): String = {
    val made = Files.createTempDirectory(root.resolve("o"), "folder")
    s"viewfs://views/objects/${made.getFileName}"
  }

  private def how(path: String): FileCreation = {
    val p = new Path(path)
    FileCreation.of(p.getFileSystem(conf), p).how
  }

  test("of a view each mount is what is mounted there, also where folders on the way are not there yet") {
    assert(how("viewfs://views/renaming/a/b/file") === ByRename)
    assert(how("viewfs://views/objects/a/b/file") === ByCreation)
    assert(how("viewfs://views/nothing-is-mounted-here") === ByCreation)
  }

  test("the name of a scheme promises nothing: what is loaded for it is asked") {
    val other = new Configuration
    other.setClass("fs.hdfs.impl", classOf[NoHdfs], classOf[org.apache.hadoop.fs.FileSystem])
    other.setBoolean("fs.hdfs.impl.disable.cache", true)
    val p = new Path(s"hdfs://test$root/file")
    assert(FileCreation.of(p.getFileSystem(other), p).how === ByCreation)
    assert(how(s"hdfs://test$root/file") === ByRename)
  }

  test("of Azure's client only an account with a hierarchical namespace renames, which its permissions tell") {
    for (isHierarchical <- Seq(true, false)) {
      val azure = mounted(Map("/azure" -> s"abfs://test$root/r"))
      azure.setClass("fs.abfs.impl", classOf[AzureBlobFileSystem], classOf[org.apache.hadoop.fs.FileSystem])
      azure.setBoolean("fs.abfs.impl.disable.cache", true)
      azure.setBoolean("fs.viewfs.impl.disable.cache", true)
      azure.setBoolean(AzureBlobFileSystem.Hierarchical, isHierarchical)
      val wanted = if (isHierarchical) ByRename else ByCreation
      for (path <- Seq(s"abfs://test$root/r/file", "viewfs://views/azure/b/file")) {
        val p = new Path(path)
        assert(FileCreation.of(p.getFileSystem(azure), p).how === wanted, path)
      }
    }
  }

  test("of two who publish under a mount without conditions at once one wins") {
    val pool = java.util.concurrent.Executors.newFixedThreadPool(2)
    val folder = newFolder()
    try {
      (1 to 5).foreach { round =>
        val told = (1 to 2).map { w =>
          pool.submit(new java.util.concurrent.Callable[Boolean] {
            override def call(): Boolean = storage.publish(s"$folder/$round", s"of $w".getBytes)
          })
        }
        val won = told.map(_.get())
        assert(won.count(identity) === 1)
        assert(new String(storage.readAll(s"$folder/$round")) === s"of ${won.indexOf(true) + 1}")
      }
    } finally pool.shutdown()
    assert(storage.list(folder).map(_.name) === (1 to 5).map(_.toString).toVector)
  }
}

/** Another store's client, set for HDFS's scheme. */
class NoHdfs extends RelabelledFileSystem("hdfs")

private object HadoopStorageByMountSuite {
  def mounted(links: Map[String, String]): Configuration = {
    val conf = new Configuration
    conf.setClass("fs.hdfs.impl", classOf[RenamingFileSystem], classOf[org.apache.hadoop.fs.FileSystem])
    conf.setClass("fs.lastwins.impl", classOf[LastWinsFileSystem], classOf[org.apache.hadoop.fs.FileSystem])
    conf.setClass("fs.objects.impl", classOf[ObjectFileSystem], classOf[org.apache.hadoop.fs.FileSystem])
    links.filter(_._1 != "/").foreach { case (at, to) => conf.set(s"fs.viewfs.mounttable.views.link.$at", to) }
    conf
  }
}

/** The local disk under another scheme. */
abstract class RelabelledFileSystem(scheme: String) extends RawLocalFileSystem {
  override def getUri: URI = URI.create(s"$scheme://test")
  override def getScheme: String = scheme
  override def pathToFile(path: Path): java.io.File = new java.io.File(path.toUri.getPath)
  override def listStatus(path: Path): Array[FileStatus] = super.listStatus(path).map(relabelled)
  override def getFileStatus(path: Path): FileStatus = relabelled(super.getFileStatus(path))

  private def relabelled(s: FileStatus): FileStatus = {
    val path = new Path(s"$scheme://test" + s.getPath.toUri.getPath)
    new FileStatus(s.getLen, s.isDirectory, 1, s.getBlockSize, s.getModificationTime, path)
  }
}

class RenamingFileSystem extends RelabelledFileSystem("hdfs") {
  override def hasPathCapability(path: Path, capability: String): Boolean =
    capability == FileCreation.RenameCapability || super.hasPathCapability(path, capability)

  override def rename(from: Path, to: Path): Boolean = RenamingFileSystem.synchronized {
    !exists(to) && super.rename(from, to)
  }
}

object RenamingFileSystem

/** Another name for what is on the local disk, of which paths do not tell. */
class OtherName extends RelabelledFileSystem("other") {
  override def hasPathCapability(path: Path, capability: String): Boolean =
    capability == FileCreation.RenameCapability || super.hasPathCapability(path, capability)
}

/** The same as renames with options reach it. */
class RenamingFiles(uri: URI, conf: Configuration)
    extends DelegateToFileSystem(uri, RenamingFiles.initialised(uri, conf), conf, "hdfs", false)

object RenamingFiles {
  private def initialised(uri: URI, conf: Configuration): FileSystem = {
    val fs = new RenamingFileSystem
    fs.initialize(uri, conf)
    fs
  }
}

/** A file appears when its stream is closed. */
abstract class ObjectFiles(scheme: String) extends RelabelledFileSystem(scheme) {

  /** A file that came since its creation was asked for stays. */
  protected def refusesOnClose: Boolean = true

  override def create(
      path: Path,
      permission: FsPermission,
      overwrite: Boolean,
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable
  ): FSDataOutputStream = create(path, overwrite, bufferSize, replication, blockSize, progress)

  override def create(
      path: Path,
      overwrite: Boolean,
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable
  ): FSDataOutputStream = {
    if (!overwrite && exists(path)) throw new FileAlreadyExistsException(path.toString)
    new FSDataOutputStream(new PutOnClose(path.toUri.getPath, overwrite || !refusesOnClose), null)
  }

  private final class PutOnClose(path: String, overwrite: Boolean) extends OutputStream {
    private val content = new ByteArrayOutputStream
    private var isClosed = false
    override def write(b: Int): Unit = content.write(b)
    override def write(b: Array[Byte], from: Int, length: Int): Unit = content.write(b, from, length)
    override def close(): Unit = if (!isClosed) {
      isClosed = true
      if (overwrite) {
        val folder = Files.createDirectories(Paths.get(path).getParent)
        val whole = Files.write(folder.resolve(s".${UUID.randomUUID()}.crc"), content.toByteArray)
        Files.move(whole, Paths.get(path), StandardCopyOption.REPLACE_EXISTING): Unit
      } else if (!LocalStorage.publish(path, content.toByteArray)) throw new FileAlreadyExistsException(path)
    }
  }
}

class ObjectFileSystem extends ObjectFiles("objects")

/** Of two who create a file at once the one who closes it last has it, and both are told that they made it. */
class LastWinsFileSystem extends ObjectFiles("lastwins") {
  override protected def refusesOnClose: Boolean = false
}
