package hudiidx.spark.command

import java.io.{InputStream, OutputStream, PrintStream}
import java.nio.charset.StandardCharsets.UTF_8

import com.fasterxml.jackson.core.JsonGenerator
import hudiidx.command.{CommandLine, Main}
import hudiidx.spark.api.PrunedFiles
import hudiidx.spark.{FilePlan, PinnedTable, ReadOptions, ScanSpec}
import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.internal.SQLConf

/** The files that a query reads, with Spark's classes but without a session, which takes seconds to start:
  * `hudiidx.spark.command.PruneMain TABLE [options]`, the filter on standard input. Output, errors and exit codes as those of
  * `hudiidx.command.Main`; for a filter or a table that only a session can judge the document is `{"needs_session": why}`.
  */
object PruneMain {
  def main(args: Array[String]): Unit = System.exit(run(args, System.in, System.out, System.err))

  def run(args: Array[String], in: InputStream, out: OutputStream, err: PrintStream): Int =
    Main.answer(out, err) { json =>
      val call = CommandLine.of("prune", args.head, args.tail.toSeq)
      write(call, new String(in.readAllBytes(), UTF_8), json)
    }

  private def write(call: CommandLine, filter: String, json: JsonGenerator): Unit = {
    val options = ReadOptions.of(call.asOf.map(ReadOptions.AsOfInstant -> _).toMap, Map.empty)
    val table = PinnedTable.alone(new Configuration(), call.table, options.copy(index = call.options))
    val columns = table.schema.struct
    new PlainFilter(columns, SQLConf.get.sessionLocalTimeZone).parse(filter) match {
      case _ if table.columns.exists(_.expressions.nonEmpty) =>
        needsSession("expressions of columns have an index", json)
      case None    => needsSession("the filter is more than comparisons of columns with constants", json)
      case Some(f) => PrunedFiles.write(FilePlan.of(table, ScanSpec(columns, Vector(f), Vector.empty, None)), json)
    }
  }

  private def needsSession(why: String, json: JsonGenerator): Unit = {
    json.writeStartObject()
    json.writeStringField("needs_session", why)
    json.writeEndObject()
  }
}
