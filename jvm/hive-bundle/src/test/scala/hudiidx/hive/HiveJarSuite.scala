package hudiidx.hive

import java.io.File
import java.nio.file.{Files, Path, Paths}

import scala.collection.JavaConverters._

import examples.mapreduce.FareByCity
import hudiidx.{Fixtures, TestSettings}
import hudiidx.engine.Tables
import hudiidx.engine.record.RecordPart
import hudiidx.sync.{IndexOptions, LocalEngine, LocalScanner, RecordOptions}
import hudiidx.sync.build.Indexer
import org.apache.hadoop.conf.Configuration
import org.scalatest.funsuite.AnyFunSuite

/** The jar as a cluster has it: in a JVM of its own, beside Hadoop and without Scala, Parquet, Avro or zstd-jni. */
final class HiveJarSuite extends AnyFunSuite {
  private val jar = sys.props("hudiidx.hive.jar")
  private val cluster = sys.props("hudiidx.cluster")

  TestSettings.some(3)(Vector("v6-mor-part", "v9-cow-part", "v9-mor-types")).foreach { name =>
    test(s"$name: a MapReduce job reads all rows, and by an index in zstd those of a key") {
      val table = Fixtures.copy(name)
      val rows = Fixtures.json(name).get("snapshot").get("count").asInt
      assert(job(table) === rows)
      index(table)
      val strict = "-Dhudiidx.index.strict=true"
      assert(job(table, strict) === rows)
      assert(job(table, strict, s"""-Dhudiidx.read.keys=["${keyOf(name)}"]""") === 1)
    }
  }

  /** The key that stock Hudi was asked for: `id = 'k000030'`. */
  private def keyOf(name: String): String = {
    val filter = Fixtures.json(name).get("filters").get(0)
    assert(filter.get("count").asInt === 1)
    filter.get("where").asText.split('\'')(1)
  }

  private def index(table: String): Unit = {
    val access = Tables.access(new Configuration())
    val part = new RecordPart(new LocalEngine(access), RecordOptions(mode = Some(IndexOptions.GlobalMode)))
    new Indexer(access, table, IndexOptions(source = "listing"), LocalScanner, Vector(part)).create(): Unit
  }

  /** Rows that the job counts. */
  private def job(table: String, settings: String*): Int = {
    val out = Fixtures.newFolder("job").resolve("out")
    val own = new File(classOf[FareByCity].getProtectionDomain.getCodeSource.getLocation.toURI).getPath
    val classes = Seq(jar, cluster, own).mkString(File.pathSeparator)
    val java = Paths.get(sys.props("java.home"), "bin", "java").toString
    val main = Seq(java, "-cp", classes, classOf[FareByCity].getName, "-Dmapreduce.framework.name=local")
    run(main ++ settings ++ Seq(table, out.toString): _*)
    val parts = Files.list(out).iterator.asScala.filter(_.getFileName.toString.startsWith("part-"))
    parts.flatMap(lines).map(_.split('\t')(1).toInt).sum
  }

  private def lines(file: Path): Seq[String] = Files.readAllLines(file).asScala.toSeq

  private def run(command: String*): Unit = {
    val process = new ProcessBuilder(command: _*).redirectErrorStream(true).start()
    val output = new String(process.getInputStream.readAllBytes())
    assert(process.waitFor() === 0, output.takeRight(3000)): Unit
  }
}
