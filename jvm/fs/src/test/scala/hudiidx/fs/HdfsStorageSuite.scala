package hudiidx.fs

import java.nio.file.Path
import java.util.concurrent.atomic.AtomicInteger

import hudiidx.Fixtures
import hudiidx.storage.{Access, Storage, StorageContract}
import hudiidx.store.IndexFolderContract
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.FileSystem
import org.apache.hadoop.fs.permission.{AclEntry, FsPermission}
import org.apache.hadoop.hdfs.MiniDFSCluster
import org.apache.hadoop.hdfs.server.namenode.EditLogFileOutputStream
import org.scalatest.BeforeAndAfterAll

/** On HDFS: a NameNode and two DataNodes. */
class HdfsStorageSuite extends StorageContract with IndexFolderContract with BeforeAndAfterAll {
  private lazy val cluster = HdfsCluster.start(Fixtures.newFolder("hdfs"))
  private val folders = new AtomicInteger
  override lazy val storage: Storage = new HadoopStorage(cluster.getConfiguration(0))

  override def newFolder(): String = {
    val folder = cluster.getFileSystem.makeQualified(new org.apache.hadoop.fs.Path(s"/f${folders.incrementAndGet()}"))
    cluster.getFileSystem.mkdirs(folder)
    folder.toString
  }

  override def afterAll(): Unit = cluster.shutdown()

  private def at(path: String) = new org.apache.hadoop.fs.Path(path)

  test(
    "a folder that is made like another has its mode, group and access control list, and none that the folder above gives"
  ) {
    val fs = cluster.getFileSystem
    val (table, other) = (newFolder(), newFolder())
    fs.setPermission(at(table), new FsPermission("750"))
    fs.setOwner(at(table), null, "team")
    fs.modifyAclEntries(at(other), AclEntry.parseAclSpec("default:user:eve:rwx", true))
    storage.makeFolder(s"$other/x/index", table, None)
    Seq("x", "x/index").foreach { f =>
      val found = storage.access(s"$other/$f").get
      assert(found === Access(Integer.parseInt("750", 8), "team"))
      assert(!found.isMoreOpenThan(storage.access(table).get))
    }
    fs.modifyAclEntries(at(table), AclEntry.parseAclSpec("user:ann:r-x,default:user:ann:r-x", true))
    storage.makeFolder(s"$other/y", table, Some(Access(Access.ofFolder(Integer.parseInt("640", 8)), "team")))
    val (like, found) = (storage.access(table).get, storage.access(s"$other/y").get)
    assert(
      found.named === like.named && found.named.exists(_.contains("ann")) && !found.named.exists(_.contains("eve"))
    )
    assert(!found.isMoreOpenThan(like))
    storage.write(s"$other/y/f")(_.write(1))
    assert(fs.getAclStatus(at(s"$other/y/f")).getEntries.toString.contains("ann"))
  }

  test("a folder that is there stays as it is, and is told to be more open by mode, group or list") {
    val fs = cluster.getFileSystem
    val (table, index) = (newFolder(), newFolder())
    fs.setPermission(at(table), new FsPermission("750"))
    storage.makeFolder(index, table, None)
    assert(storage.access(index).get.text === "755")
    def isMore: Boolean = storage.access(index).get.isMoreOpenThan(storage.access(table).get)
    assert(isMore)
    fs.setPermission(at(index), new FsPermission("750"))
    assert(!isMore)
    fs.setOwner(at(index), null, "strangers")
    assert(isMore)
    fs.setPermission(at(index), new FsPermission("700"))
    assert(!isMore)
    fs.modifyAclEntries(at(index), AclEntry.parseAclSpec("user:eve:r-x", true))
    assert(isMore)
  }
}

object HdfsCluster {

  /** For clients. One that closes a file before the DataNodes have told of its block asks again after this, by default after
    * 400 ms.
    */
  def quick(conf: Configuration): Unit = {
    conf.setInt("dfs.client.block.write.locateFollowingBlock.initial.delay.ms", 5)
    conf.setInt("dfs.replication", 2)
  }

  /** Calls of the NameNode by clients in this process while `deed` is done, by kind. */
  def callsOf(deed: => Unit): Map[String, Long] = {
    val before = counters()
    deed
    counters().map { case (name, n) => name -> (n - before.getOrElse(name, 0L)) }.filter(_._2 > 0)
  }

  private def counters(): Map[String, Long] = {
    val found = Map.newBuilder[String, Long]
    val it = FileSystem.getGlobalStorageStatistics.get("DFSOpsCountStatistics").getLongStatistics
    while (it.hasNext) {
      val counter = it.next()
      found += counter.getName -> counter.getValue
    }
    found.result()
  }

  /** Two DataNodes, each of which has every block. Their files are below `folder`. */
  def start(folder: Path): MiniDFSCluster = {
    // Three waits for the disk for each file would be most of the time.
    EditLogFileOutputStream.setShouldSkipFsyncForTesting(true)
    val conf = new Configuration
    quick(conf)
    conf.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, folder.toString)
    new MiniDFSCluster.Builder(conf).numDataNodes(2).build()
  }
}
