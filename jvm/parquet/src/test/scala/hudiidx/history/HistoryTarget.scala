package hudiidx.history

import hudiidx.fuzz.{FuzzTarget, ParserFuzz}
import hudiidx.log.MemoryStorage
import hudiidx.{DamagedTable, Fixtures}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{NoSuchFileException, Path}

/** The archived timeline of layout 2; the first byte says whether its manifest, or a file of it. */
object HistoryTarget extends FuzzTarget {
  private val Dir = "/t/.hoodie/timeline/history"
  private val File = "20261121001331411_20261121001339720_1.parquet"

  override def seeds: Vector[Array[Byte]] = files("manifest_").map(0.toByte +: _) ++ files("2").map(1.toByte +: _)

  private def files(prefix: String): Vector[Array[Byte]] = {
    def isWanted(f: Path) = f.getParent.endsWith("history") && f.getFileName.toString.startsWith(prefix)
    FuzzTarget.filesOf(Vector("v9-archived-mor", "v9-archived-cow").map(Fixtures.table), isWanted, 4)
  }

  /** Parquet's readers take what pages and dictionaries ask for: SECURITY.md. */
  override def most(length: Int): Long = Long.MaxValue

  override protected def read(bytes: Array[Byte]): Unit = if (bytes.nonEmpty) {
    val rest = bytes.drop(1)
    val manifest = s"""{"files":[{"fileName":"$File","fileLen":${rest.length}}]}""".getBytes(UTF_8)
    val all =
      if (bytes(0) % 2 == 0) Map(s"$Dir/manifest_1" -> rest)
      else Map(s"$Dir/manifest_1" -> manifest, s"$Dir/$File" -> rest)
    // A file that a manifest names may have gone away: the caller reads the manifest again.
    try history(new HistoryTimeline(new MemoryStorage(all), Dir, namesAreBounds = true))
    catch { case _: NoSuchFileException => () }
  }

  private def history(timeline: HistoryTimeline): Unit = {
    timeline.completionTime("20261121001331411")
    timeline.instantsFrom("").foreach { instant =>
      Seq(() => instant.content.commit, () => instant.content.clean).foreach { read =>
        try read(): Unit
        catch { case _: DamagedTable => () }
      }
    }
  }
}

class HistoryFuzzSuite extends ParserFuzz(Vector(HistoryTarget))
