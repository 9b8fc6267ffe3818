package hudiidx.command

import com.fasterxml.jackson.core.JsonGenerator
import com.fasterxml.jackson.databind.ObjectMapper
import hudiidx._
import hudiidx.answer._
import hudiidx.api.{LocalWorkers, TableIndex}
import hudiidx.fs.CommandSettings
import hudiidx.engine.Tables
import hudiidx.engine.record.RecordLookups
import hudiidx.record.PackedKeys
import hudiidx.report.TableReport
import hudiidx.symlink.SymlinkResult
import hudiidx.sync._
import java.io.{InputStream, OutputStream, PrintStream}

/** The commands that need no Spark: `hudiidx.command.Main COMMAND TABLE [options]`. One JSON document on standard output;
  *  an error is one JSON line on standard error. Exit codes: 0 done, 2 usage, 3 the table, 4 the index, 5 anything else.
  *  `log-show` and `log-find` take a log file for the table. `lookup` and `log-find` take their keys from standard input, packed ([[PackedKeys.decode]]): texts of arguments may hold anything.
  */
object Main {
  def main(args: Array[String]): Unit = System.exit(run(args, System.in, System.out, System.err))

  def run(args: Array[String], in: InputStream, out: OutputStream, err: PrintStream): Int =
    answer(out, err)(parse(args))((call, json) => NotAHudiTable.reading(call.table)(command(call, in, json)))

  private def parse(args: Array[String]): CommandLine = {
    val jackson = new BackgroundTask(new ObjectMapper())
    val call = CommandLine.parse(args)
    jackson.get
    call
  }

  /** Writes the document of what was prepared, or the error that came up; the exit code. */
  private[hudiidx] def answer[A](out: OutputStream, err: PrintStream)(prepare: => A)(
      write: (A, JsonGenerator) => Unit
  ): Int =
    try {
      val prepared = prepare
      val json = new ObjectMapper().getFactory.createGenerator(out)
      write(prepared, json)
      json.close()
      out.write('\n')
      out.flush()
      0
    } catch {
      case e: HudiIdxException => report(err, e, exitCode(e))
      case e: Exception        => report(err, e, 5)
    }

  private def command(call: CommandLine, in: InputStream, json: JsonGenerator): Unit = {
    val settings = new CommandSettings
    val access = Tables.access(settings)
    call.command match {
      case listing @ ("partitions" | "files" | "slices") =>
        val snapshot = TableSnapshot.open(access, call.table, call.options)
        try new ListingJson(snapshot, call, json).write(listing)
        finally snapshot.close()
      case _ => JsonEncoder.write(answerOf(call, access, settings, () => PackedKeys.decode(in.readAllBytes())), json)
    }
  }

  private def answerOf(call: CommandLine, access: TableAccess, settings: CommandSettings, keys: () => PackedKeys): Any =
    call.command match {
      case "info"     => IndexAnswer.of(IndexInfo.of(access, call.table, call.options))
      case "perf"     => new Perf(access, call.table, call.options).report(call.sweep)
      case "lookup"   => lookup(access, call, keys())
      case "log-show" => new LogCommands(access, call.table, call.options).show()
      case "log-find" => new LogCommands(access, call.table, call.options).find(keys())
      case "expire"   => ExpiredAnswer(index(call.table, access, settings, call).expire())
      case "doctor"   =>
        Findings(new Doctor(access, call.table, call.options, () => System.currentTimeMillis()).findings())
      case "report" =>
        val now = System.currentTimeMillis()
        ReportAnswer.of(TableReport.of(access, call.table, call.options), now)
      case "export-symlinks" => exportSymlinks(access, settings, call)
      case other             => throw new InvalidOption(s"$other: unknown command")
    }

  /** Other engines resolve names in their own way, so manifests name files by whole URIs. */
  private def exportSymlinks(access: TableAccess, settings: CommandSettings, call: CommandLine): SymlinkResult =
    index(Tables.qualified(call.table, settings), access, settings, call)
      .exportSymlinks(call.output, call.readOptimized, call.keep)

  private def index(path: String, access: TableAccess, settings: CommandSettings, call: CommandLine): TableIndex =
    new TableIndex(access, path, call.options, new LocalWorkers(access, settings))

  private def lookup(access: TableAccess, call: CommandLine, keys: PackedKeys): LocationsAnswer = {
    val lookups = new RecordLookups(access, call.table, call.options, new LocalEngine(access))
    try LocationsAnswer.of(keys, lookups.locate(keys, call.partition, call.asOf))
    finally lookups.close()
  }

  private def exitCode(e: HudiIdxException): Int = e match {
    case _: InvalidOption                                   => 2
    case _: NotAHudiTable | _: UnsupportedTable             => 3
    case _: DamagedTable | _: TableChanged                  => 3
    case _: WriteFailed | _: WriteUnknown                   => 3
    case _: DamagedIndex | _: IndexNotFound | _: StaleIndex => 4
    case _: WriteConflict | _: IndexNotWritable             => 4
  }

  private def report(err: PrintStream, e: Exception, code: Int): Int = {
    err.println(JsonEncoder.text(Failure(e.getClass.getName, Option(e.getMessage).getOrElse(e.toString))))
    code
  }
}

/** An error as its one line. */
private final case class Failure(error: String, message: String)
