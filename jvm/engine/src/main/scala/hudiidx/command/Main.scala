package hudiidx.command

import com.fasterxml.jackson.core.JsonGenerator
import com.fasterxml.jackson.databind.ObjectMapper
import hudiidx._
import hudiidx.fs.CommandSettings
import hudiidx.engine.Tables
import hudiidx.engine.record.RecordLookups
import hudiidx.record.PackedKeys
import hudiidx.report.TableReport
import hudiidx.symlink.SymlinkExport
import hudiidx.sync._
import hudiidx.sync.build.Indexer
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
      case "info"     => InfoJson.write(IndexInfo.of(access, call.table, call.options), json)
      case "perf"     => new Perf(access, call.table, call.options).report(call.sweep, json)
      case "lookup"   => lookup(access, call, PackedKeys.decode(in.readAllBytes()), json)
      case "log-show" => new LogCommands(access, call.table, call.options).show(json)
      case "log-find" =>
        new LogCommands(access, call.table, call.options).find(PackedKeys.decode(in.readAllBytes()), json)
      case "expire" => expire(access, call, json)
      case "doctor" =>
        Doctor.write(new Doctor(access, call.table, call.options, () => System.currentTimeMillis()).findings(), json)
      case "report" =>
        val now = System.currentTimeMillis()
        ReportJson.write(TableReport.of(access, call.table, call.options), now, json)
      case "export-symlinks" => exportSymlinks(access, settings, call, json)
      case listing           =>
        val snapshot = TableSnapshot.open(access, call.table, call.options)
        try new ListingJson(snapshot, call, json).write(listing)
        finally snapshot.close()
    }
  }

  /** Other engines resolve names in their own way, so manifests name files by whole URIs. */
  private def exportSymlinks(
      access: TableAccess,
      settings: CommandSettings,
      call: CommandLine,
      json: JsonGenerator
  ): Unit = {
    val symlinks = new SymlinkExport(access, Tables.qualified(call.table, settings), call.options)
    val folder = call.output.map(Tables.qualified(_, settings))
    SymlinkJson.write(symlinks.now(folder, call.readOptimized, call.keep), json)
  }

  private def expire(access: TableAccess, call: CommandLine, json: JsonGenerator): Unit = {
    json.writeStartObject()
    json.writeArrayFieldStart("removed")
    new Indexer(access, call.table, call.options).expire().foreach(name => json.writeString(name))
    json.writeEndArray()
    json.writeEndObject()
  }

  private def lookup(access: TableAccess, call: CommandLine, keys: PackedKeys, json: JsonGenerator): Unit = {
    val lookups = new RecordLookups(access, call.table, call.options, new LocalEngine(access))
    try {
      LookupJson.write(keys, lookups.locate(keys, call.partition, call.asOf), json)
    } finally lookups.close()
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
    val node = new ObjectMapper().createObjectNode()
    node.put("error", e.getClass.getName).put("message", Option(e.getMessage).getOrElse(e.toString))
    err.println(node.toString)
    code
  }
}
