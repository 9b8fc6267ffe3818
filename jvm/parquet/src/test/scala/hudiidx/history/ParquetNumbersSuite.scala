package hudiidx.history

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files

import hudiidx.parquet.CommitDay
import hudiidx.{Fixtures, NumberSites}
import hudiidx.storage.LocalStorage
import org.scalatest.funsuite.AnyFunSuite

/** As `NumbersSuite`, of what reads Parquet files without Spark. */
class ParquetNumbersSuite extends AnyFunSuite {

  private def manifests(text: String): Any = {
    val dir = Fixtures.newFolder("hudiidx-numbers").toString
    Files.write(java.nio.file.Path.of(dir, "_version_"), text.getBytes(UTF_8))
    if (text.nonEmpty && text.forall(c => c > ' ' && c != '/') && text.length < 200)
      Files.write(java.nio.file.Path.of(dir, s"manifest_$text"), "{}".getBytes(UTF_8))
    HistoryManifest.read(LocalStorage, dir)
  }

  private val sites: Map[String, String => Any] = Map(
    "hudiidx.parquet.CommitDay" -> (t => CommitDay.of(t) + CommitDay.of(t.padTo(8, '9'))),
    "hudiidx.history.HistoryManifest" -> (manifests(_))
  )

  test("every place that makes a number of a text has an entry here, and takes any text") {
    assert(NumberSites.in(classOf[HistoryTimeline]) === sites.keySet)
    sites.foreach { case (name, site) => NumberSites.take(name, site) }
  }
}
