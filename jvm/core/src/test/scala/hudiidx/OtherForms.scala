package hudiidx

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, Paths}

import scala.collection.JavaConverters._

import org.apache.avro.generic.GenericRecord

/** Files of forms that tables up to version 9 do not have: named by a commit, or lying about in partitions. */
object OtherForms {

  /** What comes after the instant in a name. */
  val All: Vector[String] =
    Vector(".lance", ".orc", ".hfile", ".vortex") ++
      (for (kind <- Vector("log", "deletes", "cdc"); form <- Vector("parquet", "hfile")) yield s"_1.$kind.$form")

  /** Later than all instants of the fixtures. */
  val Instant = "20270301000000000"

  /** Completes one more write: the last one again, whose files have names of another form. */
  def write(table: String, form: String): Unit = {
    val (dir, last) = lastWrite(table)
    val name = last.getFileName.toString
    val action = name.substring(name.indexOf('.') + 1)
    val content = renamed(Files.readAllBytes(last), path => another(path, Instant, form))
    val pending = if (action == "commit") "" else s".$action"
    Files.write(dir.resolve(s"$Instant.$action.requested"), Array.emptyByteArray)
    Files.write(dir.resolve(s"$Instant$pending.inflight"), Array.emptyByteArray)
    val completed = if (name.contains('_')) s"${Instant}_${Instant.dropRight(1)}9.$action" else s"$Instant.$action"
    Files.write(dir.resolve(completed), content)
    renamed(Files.readAllBytes(last), { path => add(table, another(path, Instant, form)); path }): Unit
  }

  /** Puts a file of each form beside those of the last write, of its instant; no commit names them. */
  def leave(table: String): Vector[String] = {
    val (_, last) = lastWrite(table)
    val instant = last.getFileName.toString.takeWhile(_.isDigit)
    val found = Vector.newBuilder[String]
    renamed(Files.readAllBytes(last), { path => found += path; path }): Unit
    val left = for (path <- found.result(); form <- All) yield another(path, instant, form)
    left.foreach(add(table, _))
    left.distinct
  }

  private def lastWrite(table: String): (Path, Path) = {
    val hoodie = Paths.get(table, ".hoodie")
    val dir = if (Files.exists(hoodie.resolve("timeline"))) hoodie.resolve("timeline") else hoodie
    val files = Files.list(dir)
    try dir -> files.iterator.asScala.filter(_.getFileName.toString.matches("[0-9_]+\\.(delta)?commit")).toVector.max
    finally files.close()
  }

  private def another(path: String, instant: String, form: String): String = {
    val folder = path.substring(0, path.lastIndexOf('/') + 1)
    val fileId = path.substring(folder.length).stripPrefix(".").takeWhile(_ != '_')
    s"$folder${fileId}_1-0-1_$instant$form"
  }

  private def add(table: String, path: String): Unit =
    Files.write(Paths.get(table, path), "no rows".getBytes(UTF_8)): Unit

  /** The content of a commit, in Avro or JSON, with other paths. */
  private def renamed(content: Array[Byte], change: String => String): Array[Byte] =
    if (AvroCommits.is(content)) AvroCommits.changed(content) { commit =>
      for {
        stats <- commit
          .get("partitionToWriteStats")
          .asInstanceOf[java.util.Map[_, java.util.List[GenericRecord]]]
          .values
          .asScala
        stat <- stats.asScala
      } stat.put("path", change(stat.get("path").toString))
    }
    else {
      val found = """("path" : ")([^"]+)(")""".r
      val text = found.replaceAllIn(new String(content, UTF_8), m => m.group(1) + change(m.group(2)) + m.group(3))
      text.getBytes(UTF_8)
    }
}
