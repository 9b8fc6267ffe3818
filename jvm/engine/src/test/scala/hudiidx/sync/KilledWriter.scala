package hudiidx.sync

import hudiidx.storage.{Fault, FaultyStorage, FileInfo, LocalStorage, RandomReader, Storage}
import hudiidx.sync.build.Indexer
import java.io.{BufferedReader, InputStreamReader, OutputStream}
import java.nio.file.{Files, Paths}

/** Works on an index in a process of its own and stops for ever at a chosen step, after a line on standard output, so
  *  that it can be killed there. Arguments: table, `create` or `update` or `merge`, part of a file's name, `within` (half
  *  its bytes are written) or `behind` (it is in place); or instead of the last two a write step's number and a [[Fault]].
  */
object KilledWriter {

  /** What the process says when it has come to its step. */
  val Arrived = "arrived"

  def main(args: Array[String]): Unit = {
    val storage = Fault.All.find(_.toString == args(3)) match {
      case Some(fault) => new FaultyStorage(LocalStorage, args(2).toInt, fault, () => stop())
      case None        => new StoppingStorage(args(2), args(3) == "within")
    }
    work(storage, args(0), args(1))
    println("done without coming to the step")
  }

  /** `create`, `update` or `merge`: an update that merges. */
  def work(storage: Storage, table: String, what: String): Unit = {
    val options = if (what == "merge") IndexOptions(mergePercent = 1, mergeMinFiles = 0) else IndexOptions()
    val indexer = new Indexer(IndexerSuite.accessOf(storage), table, options)
    if (what == "create") indexer.create() else indexer.update(): Unit
  }

  /** Starts a main class that uses a StoppingStorage in a process of its own, waits until it has come to its step, and
    * kills it there.
    */
  def kill(mainClass: String, arguments: Seq[String]): Unit = {
    val java = Paths.get(System.getProperty("java.home"), "bin", "java").toString
    val log = Files.createTempFile("hudiidx-killed", ".log")
    val process = new ProcessBuilder(
      Seq(
        java,
        "-Xmx256m",
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-cp",
        System.getProperty("java.class.path"),
        mainClass
      ) ++ arguments: _*
    ).redirectError(log.toFile).start()
    try {
      val lines = new BufferedReader(new InputStreamReader(process.getInputStream))
      var line = lines.readLine()
      while (line != null && line != Arrived) line = lines.readLine() // a logger may speak first
      require(line == Arrived, Files.readString(log))
    } finally {
      process.destroyForcibly()
      process.waitFor()
      Files.delete(log)
    }
  }

  private def stop(): Unit = {
    println(Arrived)
    System.out.flush()
    while (System.in.read() >= 0) ()
    new java.util.concurrent.CountDownLatch(1).await()
  }

  /** Stops at the file whose path has `part`: with half its bytes written, or when it is in place. */
  final class StoppingStorage(part: String, within: Boolean) extends Storage {
    override def list(dir: String): Vector[FileInfo] = LocalStorage.list(dir)
    override def status(path: String): Option[FileInfo] = LocalStorage.status(path)
    override def open(path: String): RandomReader = LocalStorage.open(path)
    override def readAll(path: String): Array[Byte] = LocalStorage.readAll(path)
    override def delete(path: String): Boolean = LocalStorage.delete(path)

    override def write(path: String)(content: OutputStream => Unit): Unit = {
      LocalStorage.write(path) { out =>
        val whole = new java.io.ByteArrayOutputStream
        content(whole)
        if (path.contains(part) && within) {
          // More than the buffer, so that bytes are in the file when the process dies.
          (0 until 3).foreach(_ => out.write(new Array[Byte](1 << 16)))
          stop()
        }
        whole.writeTo(out)
      }
      if (path.contains(part) && !within) stop()
    }

    override def publish(path: String, content: Array[Byte]): Boolean = {
      if (path.contains(part) && within) LocalStorage.write(path) { out =>
        out.write(content, 0, content.length / 2)
        out.flush()
        stop()
      }
      val first = LocalStorage.publish(path, content)
      if (path.contains(part) && !within) stop()
      first
    }
  }
}
