package hudiidx.hadoop

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files

import hudiidx.hadoop.fs.HadoopStorage
import hudiidx.hadoop.parquet.CommitDay
import hudiidx.{Fixtures, NumberSites}
import hudiidx.command.CommandLine
import hudiidx.storage.LocalStorage
import org.scalatest.funsuite.AnyFunSuite

/** As `NumbersSuite`, of what reads tables and indexes without Spark. */
class HadoopNumbersSuite extends AnyFunSuite {

  private def manifests(text: String): Any = {
    val dir = Fixtures.newFolder("hudiidx-numbers").toString
    Files.write(java.nio.file.Path.of(dir, "_version_"), text.getBytes(UTF_8))
    if (text.nonEmpty && text.forall(c => c > ' ' && c != '/') && text.length < 200)
      Files.write(java.nio.file.Path.of(dir, s"manifest_$text"), "{}".getBytes(UTF_8))
    HistoryManifest.read(LocalStorage, dir)
  }

  private val sites: Map[String, String => Any] = Map(
    "hudiidx.hadoop.parquet.CommitDay" -> (t => CommitDay.of(t) + CommitDay.of(t.padTo(8, '9'))),
    "hudiidx.hadoop.HistoryManifest" -> (manifests(_)),
    "hudiidx.command.CommandLine" -> (t => CommandLine.parse(Array("expire", "/t", "--retain-last", t)))
  )

  test("every place that makes a number of a text has an entry here, and takes any text") {
    assert(NumberSites.in(classOf[HadoopStorage]) === sites.keySet)
    sites.foreach { case (name, site) => NumberSites.take(name, site) }
  }
}
