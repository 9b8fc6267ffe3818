import java.io.File
import java.util.Properties
import java.util.zip.ZipFile

import sbt._

import scala.collection.JavaConverters._

/** What the jar for Hive and MapReduce holds beside classes of ours: its own versions, of no Spark. `scripts/audit.py` holds them against
  * known holes.
  */
object Shaded {
  val aircompressor = "2.0.3"
  val avro = "1.11.5"
  val jackson = "2.21.8"
  val jacksonAnnotations = "2.21"
  // Parquet's types of shapes need it.
  val jts = "1.20.0"
  val parquet = "1.18.1"

  val modules: Seq[ModuleID] = Seq(
    "org.apache.avro" % "avro" % avro,
    "com.fasterxml.jackson.core" % "jackson-core" % jackson,
    "com.fasterxml.jackson.core" % "jackson-databind" % jackson,
    "com.fasterxml.jackson.core" % "jackson-annotations" % jacksonAnnotations,
    "io.airlift" % "aircompressor" % aircompressor,
    "org.locationtech.jts" % "jts-core" % jts,
    "org.apache.parquet" % "parquet-hadoop" % parquet,
    "org.apache.parquet" % "parquet-column" % parquet,
    "org.apache.parquet" % "parquet-common" % parquet,
    "org.apache.parquet" % "parquet-encoding" % parquet,
    "org.apache.parquet" % "parquet-format-structures" % parquet
  ).map(_.intransitive())

  /** Licences and notices that come with the jars of these, a folder each, and what Scala's library, which has no Maven file, says of
    * its version.
    *
    *  @param jars the class path
    */
  def papers(jars: Seq[File], target: File): Seq[File] = {
    val names = modules.map(_.name).toSet + "scala-library"
    val parts = jars.filter(j => names(j.getName.replaceFirst("-[0-9].*", "")))
    val missing = names -- parts.map(_.getName.replaceFirst("-[0-9].*", ""))
    if (missing.nonEmpty) sys.error(s"the class path lacks ${missing.mkString(", ")}")
    parts.flatMap(papersOf(_, target))
  }

  private def papersOf(jar: File, target: File): Seq[File] = {
    val zip = new ZipFile(jar)
    try {
      val part = jar.getName.stripSuffix(".jar")
      val found = zip.entries().asScala.filter(_.getName.matches("(META-INF/)?([\\w-]+-)?(LICENSE|NOTICE)(\\.(txt|md))?")).toVector
      val copied = found.map { e =>
        val to = target / "META-INF" / "licenses" / part / e.getName.stripPrefix("META-INF/")
        IO.transfer(zip.getInputStream(e), to)
        to
      }
      copied ++ Option(zip.getEntry("library.properties")).map { e =>
        val said = new Properties
        said.load(zip.getInputStream(e))
        val to = target / "META-INF" / "maven" / "org.scala-lang" / "scala-library" / "pom.properties"
        IO.write(to, s"groupId=org.scala-lang\nartifactId=scala-library\nversion=${said.getProperty("version.number")}\n")
        to
      }
    } finally zip.close()
  }
}
