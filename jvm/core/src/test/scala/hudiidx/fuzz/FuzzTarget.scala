package hudiidx.fuzz

import hudiidx.{Fixtures, HudiIdxException}
import java.nio.file.{Files, Path, Paths}
import scala.collection.JavaConverters._

/** A parser under any bytes: what it reads, or one of our own errors. `scripts/fuzz` lets Jazzer choose the bytes;
  * `ParserFuzzSuite` changes some bytes of the seeds.
  */
abstract class FuzzTarget {

  /** Files to begin with. */
  def seeds: Vector[Array[Byte]]

  /** Reads all that can be read of it. */
  protected def read(bytes: Array[Byte]): Unit

  /** Jazzer's entry point. */
  final def fuzzerTestOneInput(bytes: Array[Byte]): Unit =
    try read(bytes)
    catch { case _: HudiIdxException => () }
}

object FuzzTarget {
  private val Tables = Vector("v6-mor-part", "v9-mor-part", "v9-mor-log-only", "v8-mor-part", "v9-cow-part")
  private val MostBytes = 64 << 10

  /** All of them; Jazzer takes one by the name of its class. */
  val all: Vector[FuzzTarget] = Vector(
    HFileTarget,
    LogTarget,
    InstantTarget,
    PropertiesTarget,
    VersionTarget,
    ManifestTarget,
    hudiidx.column.ColumnTarget,
    hudiidx.record.RecordTarget,
    hudiidx.logindex.TailTarget
  )

  /** Files of fixtures whose path is accepted, none of which is large. */
  def files(accepts: Path => Boolean, most: Int = 60): Vector[Array[Byte]] = {
    val roots = Tables.map(Fixtures.table) :+ Fixtures.part("keyed-index-1")
    roots.flatMap { root =>
      val walk = Files.walk(Paths.get(root))
      try
        walk.iterator.asScala
          .filter(f => Files.isRegularFile(f) && Files.size(f) <= MostBytes && accepts(f))
          .take(most)
          .map(Files.readAllBytes)
          .toVector
      finally walk.close()
    }
  }

  /** Writes the seeds of a target, each into a file of its own: `FuzzTarget CLASS FOLDER`. */
  def main(arguments: Array[String]): Unit = {
    val Array(name, folder) = arguments
    val target = all.find(_.getClass.getName.stripSuffix("$") == name).getOrElse(sys.error(s"$name: no target"))
    Files.createDirectories(Paths.get(folder))
    target.seeds.zipWithIndex.foreach { case (bytes, i) => Files.write(Paths.get(folder, s"seed-$i"), bytes) }
  }
}
