package hudiidx.hadoop

import java.nio.file.Path
import java.util.concurrent.atomic.AtomicInteger

import hudiidx.Fixtures
import hudiidx.storage.{Storage, StorageContract}
import hudiidx.store.IndexFolderContract
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.FileSystem
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
