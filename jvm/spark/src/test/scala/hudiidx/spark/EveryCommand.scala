package hudiidx.spark

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, PrintStream}

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import hudiidx.UnsupportedTable
import hudiidx.command.Main
import hudiidx.record.PackedKeys
import hudiidx.spark.command.PruneMain

/** The commands that need no session, each asked of a table. Those that a script would see as failed throw what they say. */
object EveryCommand {
  private val mapper = new ObjectMapper

  /** By name, what stands behind it where the table is meant; `prune` has a class of its own. */
  private val more: Map[String, String => Seq[String]] = Map(
    "files" -> (Seq(_, "--partition", "sf")),
    "log-show" -> (table => Seq(logIn(table))),
    "log-find" -> (table => Seq(logIn(table)))
  )

  private val Plain =
    Seq("partitions", "slices", "lookup", "info", "perf", "export-symlinks", "expire", "doctor", "report", "prune")

  val Names: Set[String] = Plain.toSet ++ more.keySet

  def of(table: String, key: String): Vector[(String, () => Any)] =
    Names.toVector.sorted.map(name => s"command $name" -> (() => run(name, table, key)))

  /** No such file need be there: whose table it is comes first. */
  private def logIn(table: String): String = s"$table/sf/.f_20260101000000000.log.1_0-0-0"

  private def run(name: String, table: String, key: String): Unit = {
    val (out, err) = (new ByteArrayOutputStream, new ByteArrayOutputStream)
    val in = if (name == "prune") "true".getBytes else PackedKeys.encode(Seq(key))
    val behind = more.get(name).fold(Seq(table))(_(table)).toArray
    val stream = new ByteArrayInputStream(in)
    val code =
      if (name == "prune") PruneMain.run(behind, stream, out, new PrintStream(err, true))
      else Main.run(name +: behind, stream, out, new PrintStream(err, true))
    val said = if (code == 0) mapper.readTree(out.toByteArray) else mapper.readTree(err.toByteArray)
    failure(name, code, said).foreach(text => throw new UnsupportedTable(text))
  }

  private def failure(name: String, code: Int, said: JsonNode): Option[String] =
    if (name == "doctor")
      said.get("findings").asScala.find(_.get("status").asText == "failed").map(_.get("found").asText)
    else if (code == 0) None
    else if (code == 3 && said.get("error").asText == classOf[UnsupportedTable].getName)
      Some(said.get("message").asText)
    else throw new AssertionError(s"$code: $said")
}
