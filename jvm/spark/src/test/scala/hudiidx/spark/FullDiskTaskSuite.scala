package hudiidx.spark

import java.io.{IOException, OutputStream}
import java.util.concurrent.atomic.AtomicLong

import hudiidx.engine.record.{RecordLookup, RecordPart}
import hudiidx.engine.Tables
import hudiidx.fs.RelabelledFileSystem
import hudiidx.record.{PackedKeys, RecordLocation}
import hudiidx.storage.LocalStorage
import hudiidx.sync._
import hudiidx.sync.build.Indexer
import hudiidx.{Fixtures, IndexNotWritable}
import org.apache.hadoop.fs.{FSDataOutputStream, FileSystem, Path}
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.util.Progressable

/** A disk that fills up under the tasks that make a record index. */
class FullDiskTaskSuite extends SparkSuite {
  private lazy val conf = {
    val hadoop = spark.sparkContext.hadoopConfiguration
    hadoop.setClass("fs.webhdfs.impl", classOf[FillingFileSystem], classOf[FileSystem])
    hadoop.setBoolean("fs.webhdfs.impl.disable.cache", true)
    hadoop
  }

  private def create(table: String, options: IndexOptions): Unit = {
    val access = Tables.access(conf) // before the engine, which takes the same settings
    val part = new RecordPart(SparkEngine.of(spark), options.record)
    new Indexer(access, table, options, LocalScanner, Vector(part)).create(): Unit
  }

  private def lookup(table: String, options: IndexOptions, keys: PackedKeys): Set[RecordLocation] = {
    val access = Tables.access(conf)
    val opened = RecordLookup.open(TableContext.load(access, table), options, None, new LocalEngine(access))
    try opened.locate(keys).records(keys).toSet
    finally opened.close()
  }

  test("a create whose tasks meet a full disk says so, the version before answers, and another try has all keys") {
    val table = Fixtures.copy("v9-moved-cow")
    val folder = "webhdfs://test" + Fixtures.newFolder("filling")
    val record = RecordOptions(mode = Some("global"), fileGroups = Some(3))
    val options = IndexOptions(indexPath = Some(folder), strict = true, record = record)
    val rows = Fixtures.json("v9-moved-cow").path("key_location").path("rows")
    val keys = PackedKeys.of((0 until rows.size).map(rows.get(_).get(0).asText) :+ "absent")
    FillingFileSystem.room.set(Long.MaxValue)
    create(table, options)
    val found = lookup(table, options, keys)
    assert(found.map(_.key).size === rows.size)
    val before = Long.MaxValue - FillingFileSystem.room.get
    var inTasks = 0
    (0 until 8).foreach { i =>
      FillingFileSystem.refusedInTask = false
      FillingFileSystem.room.set(before * i / 8)
      val said = intercept[IndexNotWritable](create(table, options))
      assert(said.getMessage.contains(folder) && said.getMessage.contains("No space left"), s"room for $i eighths")
      if (FillingFileSystem.refusedInTask) inTasks += 1
      FillingFileSystem.room.set(Long.MaxValue)
      assert(lookup(table, options, keys) === found)
      LocalStorage.delete(s"${new Path(folder).toUri.getPath}/record-build") // else the next one goes on from it
    }
    assert(inTasks > 0, "no task was refused")
    create(table, options)
    assert(lookup(table, options, keys) === found)
  }
}

/** The local disk with room for so many bytes. */
class FillingFileSystem extends RelabelledFileSystem("webhdfs") {
  override def rename(from: Path, to: Path): Boolean = FillingFileSystem.synchronized {
    !exists(to) && super.rename(from, to)
  }

  /** What a builder of streams asks. */
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
    val out = super.create(path, overwrite, bufferSize, replication, blockSize, progress)
    new FSDataOutputStream(new FillingFileSystem.Limited(out), null)
  }
}

object FillingFileSystem {
  val room = new AtomicLong(Long.MaxValue)
  @volatile var refusedInTask = false

  private final class Limited(out: OutputStream) extends OutputStream {
    override def write(b: Int): Unit = {
      take(1)
      out.write(b)
    }
    override def write(b: Array[Byte], from: Int, length: Int): Unit = {
      take(length)
      out.write(b, from, length)
    }
    override def close(): Unit = out.close()

    private def take(bytes: Int): Unit = if (room.addAndGet(-bytes.toLong) < 0) {
      if (org.apache.spark.TaskContext.get() != null) refusedInTask = true
      throw new IOException("No space left on device")
    }
  }
}
