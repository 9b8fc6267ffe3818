import java.io.File
import java.util.zip.ZipFile

import scala.collection.JavaConverters._
import scala.sys.process.Process

/** The jar for users holds our classes and nothing that Spark brings: another copy of a library on the class path breaks
  * installations in ways that no test of ours would see.
  */
object JarCheck {
  private val Ours = Seq("hudiidx/")
  private val Needed = Seq(
    "hudiidx/spark/HudiIdxSource.class",
    "hudiidx/spark/api/HudiIdxApi.class",
    "META-INF/services/org.apache.spark.sql.sources.DataSourceRegister"
  )

  private val NeededForHive = Seq(
    "hudiidx/hive/HudiIdxInputFormat.class",
    "hudiidx/hive/mapreduce/HudiIdxInputFormat.class",
    "hudiidx/shaded/scala/Option.class",
    "hudiidx/shaded/parquet/hadoop/ParquetFileReader.class",
    "hudiidx/shaded/airlift/compress/zstd/ZstdDecompressor.class"
  )

  /** The jar itself; fails the build if it holds a foreign class or lacks what makes it work. */
  def onlyOurs(jar: File, project: File): File = onlyOurs(jar, Needed, project)

  /** The same of the jar for Hive, which brings what Hive does not, under names of ours. */
  def onlyOursForHive(jar: File, project: File): File = onlyOurs(jar, NeededForHive, project)

  private def onlyOurs(jar: File, needed: Seq[String], project: File): File = {
    val zip = new ZipFile(jar)
    try {
      val names = zip.entries().asScala.filterNot(_.isDirectory).map(_.getName).toVector
      val foreign = names.filterNot(n => Ours.exists(n.startsWith(_)) || n.startsWith("META-INF/"))
      if (foreign.nonEmpty) sys.error(s"$jar: holds ${foreign.size} foreign files, such as ${foreign.take(5).mkString(", ")}")
      val missing = needed.filterNot(names.contains)
      if (missing.nonEmpty) sys.error(s"$jar: lacks ${missing.mkString(", ")}")
      audited(jar, project)
    } finally zip.close()
  }

  /** Licence, notice, and no part with a known hole. */
  private def audited(jar: File, project: File): File = {
    val audit = Process(Seq("python3", s"$project/scripts/audit.py", jar.getPath), project)
    if (audit.! != 0) sys.error(s"$jar: see above")
    jar
  }
}
