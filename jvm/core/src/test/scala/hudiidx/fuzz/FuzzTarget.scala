package hudiidx.fuzz

import hudiidx.{Allocated, Fixtures, HudiIdxException}
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

  /** Bytes of the heap that it may ask for, freed ones too. SECURITY.md has the numbers. */
  def most(length: Int): Long = FuzzTarget.Most + FuzzTarget.MostOfByte * length

  /** Jazzer's entry point. */
  final def fuzzerTestOneInput(bytes: Array[Byte]): Unit = {
    // The first time classes are loaded, which Jazzer changes meanwhile: that takes memory too.
    val allocated = if (measured(bytes) <= most(bytes.length)) 0L else measured(bytes)
    if (allocated > most(bytes.length))
      throw new AssertionError(
        s"$allocated bytes of memory for a file of ${bytes.length}, most is ${most(bytes.length)}"
      )
  }

  /** Reads, and tells the bytes that the heap was asked for. */
  final def measured(bytes: Array[Byte]): Long = {
    val before = Allocated.bytes()
    try read(bytes)
    catch { case _: HudiIdxException => () }
    Allocated.bytes() - before
  }
}

object FuzzTarget {
  private val Tables = Vector("v6-mor-part", "v9-mor-part", "v9-mor-log-only", "v8-mor-part", "v9-cow-part")
  private val MostBytes = 64 << 10

  /** Whatever the file: buffers of fixed sizes, pages of as many equal entries as a page may have. */
  val Most: Long = 16L << 20

  /** For each byte of the file. */
  val MostOfByte = 2048L

  /** All of them; Jazzer takes one by the name of its class. */
  lazy val all: Vector[FuzzTarget] = Vector(
    HFileTarget,
    LogTarget,
    ChangeTarget,
    InstantTarget,
    PropertiesTarget,
    MetafileTarget,
    VersionTarget,
    ManifestTarget,
    TableTarget,
    hudiidx.timeline.ArchiveTarget,
    hudiidx.table.MetadataRecordTarget,
    hudiidx.column.ColumnTarget,
    hudiidx.record.RecordTarget,
    hudiidx.logindex.TailTarget
  )

  /** Files of fixtures whose path is accepted, none of which is large. */
  def files(accepts: Path => Boolean, most: Int = 60): Vector[Array[Byte]] =
    filesOf(Tables.map(Fixtures.table) :+ Fixtures.part("keyed-index-1"), accepts, most)

  def filesOf(roots: Vector[String], accepts: Path => Boolean, most: Int): Vector[Array[Byte]] =
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

  /** The object of a class's name, wherever on the class path. */
  private def named(name: String): FuzzTarget =
    Class.forName(name + "$").getField("MODULE$").get(null).asInstanceOf[FuzzTarget]

  /** Writes the seeds of a target, each into a file of its own: `FuzzTarget CLASS FOLDER`. */
  def main(arguments: Array[String]): Unit = {
    val Array(name, folder) = arguments
    val target = named(name)
    Files.createDirectories(Paths.get(folder))
    target.seeds.zipWithIndex.foreach { case (bytes, i) => Files.write(Paths.get(folder, s"seed-$i"), bytes) }
  }
}
