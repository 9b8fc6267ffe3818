package hudiidx.spark.command

import java.io.{InputStream, OutputStream, PrintStream}
import java.nio.charset.StandardCharsets.UTF_8

import com.fasterxml.jackson.core.JsonGenerator
import hudiidx.answer.JsonEncoder
import hudiidx.command.{BackgroundTask, CommandLine, Main}
import hudiidx.fs.CommandSettings
import hudiidx.spark.api.PrunedFiles
import hudiidx.spark.plan.{FilePlan, ScanSpec}
import hudiidx.spark.pinned.{PinnedTable, SharedTable}
import hudiidx.spark.options.ReadOptions
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{IntegerType, StructField, StructType}

/** The files that a query reads, with Spark's classes but without a session, which takes seconds to start:
  * `hudiidx.spark.command.PruneMain TABLE [options]`, the filter on standard input. Output, errors and exit codes as those of
  * `hudiidx.command.Main`; for a filter or a table that only a session can judge the document is `{"needs_session": why}`.
  */
object PruneMain {
  def main(args: Array[String]): Unit = System.exit(run(args, System.in, System.out, System.err))

  def run(args: Array[String], in: InputStream, out: OutputStream, err: PrintStream): Int =
    Main.answer(out, err)(prepare(args)) { (table, json) =>
      write(table, new String(in.readAllBytes(), UTF_8), json)
    }

  private def prepare(args: Array[String]): PinnedTable = {
    val opened = new BackgroundTask(open(args))
    loadSpark()
    val (call, table) = opened.get
    val options = ReadOptions.of(call.asOf.map(ReadOptions.AsOfInstant -> _).toMap, Map.empty)
    PinnedTable.alone(table, options.copy(index = call.options))
  }

  /** The table with its index open. */
  private def open(args: Array[String]): (CommandLine, SharedTable) = {
    val call = CommandLine.of("prune", args.head, args.tail.toSeq)
    val table = SharedTable.alone(new CommandSettings, call.table, call.options)
    table.snapshot
    (call, table)
  }

  private def write(table: PinnedTable, filter: String, json: JsonGenerator): Unit = {
    val columns = table.schema.struct
    parsed(filter, columns) match {
      case _ if table.columns.exists(_.expressions.nonEmpty) =>
        needsSession("expressions of columns have an index", json)
      case None    => needsSession("the filter is more than comparisons of columns with constants", json)
      case Some(f) => PrunedFiles.write(FilePlan.of(table, ScanSpec(columns, Vector(f), Vector.empty, None)), json)
    }
  }

  private def parsed(filter: String, columns: StructType): Option[Expression] =
    new PlainFilter(columns, SQLConf.get.sessionLocalTimeZone).parse(filter)

  /** Most classes of Spark's that a filter takes. */
  private def loadSpark(): Unit = parsed("a = 1", StructType(Array(StructField("a", IntegerType)))): Unit

  private def needsSession(why: String, json: JsonGenerator): Unit = JsonEncoder.write(NeedsSession(why), json)
}

private final case class NeedsSession(needsSession: String)
