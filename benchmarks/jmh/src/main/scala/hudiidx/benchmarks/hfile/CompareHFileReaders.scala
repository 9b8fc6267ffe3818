package hudiidx.benchmarks.hfile

import hudiidx.benchmarks.{Options, Report}
import java.nio.file.{Files, Path, Paths}
import org.openjdk.jmh.results.RunResult
import org.openjdk.jmh.runner.Runner
import org.openjdk.jmh.runner.options.{OptionsBuilder, TimeValue}
import scala.collection.JavaConverters._

/** `CompareHFileReaders --dir DIR --out OUT [--cells N] [--rounds N] [--only CODEC,...] [--calls REGEX]`: JMH over all
  * readers, one JVM for each reader and call and round, readers taking turns; prints one table and adds the figures to OUT.
  */
object CompareHFileReaders {
  private val Calls = Seq(
    "open" -> "open",
    "scan" -> "scan",
    "get" -> "get",
    "sorted1000" -> "1000 sorted gets",
    "sorted10000" -> "10000 sorted gets"
  )

  private def readers(codec: String): Seq[String] = {
    import ReaderUnderTest._
    if (codec == "zstd") Seq(Ours, HBase, HBaseUnchecked) else Seq(Ours, HBase, HBaseUnchecked, HudiIo)
  }

  def main(args: Array[String]): Unit = {
    val options = Options.parse(args, Set("dir", "out", "cells", "rounds", "only", "calls"), Set.empty)
    val dir = Paths.get(options("dir"))
    val cells = options.value("cells").map(_.toInt).getOrElse(1000000)
    val rounds = options.value("rounds").map(_.toInt).getOrElse(3)
    val codecs = options.value("only").map(_.split(',').toSeq).getOrElse(BenchFiles.Codecs)
    if (!codecs.forall(c => Files.exists(BenchFiles.file(dir, c)))) BenchFiles.make(dir, cells)
    val times = for {
      codec <- codecs
      call <- Calls.map(_._1).filter(_.matches(options.value("calls").getOrElse(".*")))
      _ <- 1 to rounds
      reader <- readers(codec)
    } yield (codec, call, reader) -> run(dir, cells, codec, call, reader)
    val grouped = times.groupBy(_._1).map { case (key, all) => key -> all.flatMap(_._2) }
    codecs.foreach(table(_, grouped))
    for (((codec, call, reader), millis) <- grouped.toSeq.sortBy(_._1))
      new Report(Paths.get(options("out")), s"HFile $codec", reader)
        .median(Calls.toMap.apply(call), "table", "warm", millis)
  }

  /** Milliseconds of a call, one figure an iteration. */
  private def run(dir: Path, cells: Int, codec: String, call: String, reader: String): Seq[Double] = {
    val jmh = new OptionsBuilder()
      .include(s"HFileReadersBench.$call$$")
      .param("dir", dir.toString)
      .param("cells", cells.toString)
      .param("codec", codec)
      .param("reader", reader)
      .forks(1)
      .warmupIterations(3)
      .warmupTime(TimeValue.seconds(1))
      .measurementIterations(4)
      .measurementTime(TimeValue.seconds(1))
      .jvmArgs("-Xmx2g", "-Xms2g")
      .verbosity(org.openjdk.jmh.runner.options.VerboseMode.SILENT)
      .build()
    val results: Seq[RunResult] = new Runner(jmh).run().asScala.toSeq
    for {
      run <- results
      fork <- run.getBenchmarkResults.asScala.toSeq
      iteration <- fork.getIterationResults.asScala
    } yield iteration.getPrimaryResult.getScore / 1000
  }

  /** Median of the iterations, in brackets the best, and how many times hudiidx is faster by the median. */
  private def table(codec: String, times: Map[(String, String, String), Seq[Double]]): Unit = {
    println(s"\n$codec, ms (best); times as fast as")
    for ((call, name) <- Calls; ours <- times.get((codec, call, ReaderUnderTest.Ours))) {
      val columns = readers(codec).map { reader =>
        val millis = times((codec, call, reader))
        val ratio =
          if (reader == ReaderUnderTest.Ours) "" else f"; ${Report.median(millis) / Report.median(ours)}%.2f x"
        f"$reader: ${Report.median(millis)}%.3f (${millis.min}%.3f)$ratio"
      }
      println(f"  $name%-18s ${columns.mkString("   ")}")
    }
  }
}
