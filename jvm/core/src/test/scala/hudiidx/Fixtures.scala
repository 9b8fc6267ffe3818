package hudiidx

import java.io.IOException
import java.nio.file.attribute.{BasicFileAttributes, FileTime}
import java.nio.file.{FileVisitResult, Files, Path, Paths, SimpleFileVisitor, StandardCopyOption}
import java.util.zip.ZipFile

import scala.collection.concurrent.TrieMap

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import hudiidx.storage.LocalStorage

/** The fixture tables of tests/fixtures, unzipped once per JVM, and stock Hudi's answers. */
object Fixtures {

  /** The folder that holds build.sbt. */
  lazy val repoRoot: Path = {
    var dir = Paths.get(System.getProperty("user.dir")).toAbsolutePath
    while (dir != null && !Files.exists(dir.resolve("build.sbt"))) dir = dir.getParent
    require(dir != null, "no build.sbt above user.dir")
    dir
  }

  lazy val dir: Path = repoRoot.resolve("tests").resolve("fixtures")

  /** Names of the tables that are served, damaged ones (`v6-bad-…`) included, sorted: those of Hudi 1.2.0 behind the others, last the
    * `types/…`, and in short form only some of these.
    */
  lazy val names: Vector[String] = {
    val (earlier, newest) = zipped(dir).filterNot(Refused.contains).partition(isEarlier)
    val last = newest ++ zipped(dir.resolve("types")).map("types/" + _)
    earlier ++ (if (TestSettings.allFixtures) last else last.filter(ShortOfNewest.contains))
  }

  private def zipped(folder: Path): Vector[String] =
    LocalStorage.list(folder.toString).map(_.name).filter(_.endsWith(".zip")).map(_.stripSuffix(".zip")).sorted

  /** Of the tables of Hudi 1.2.0 those that differ most from others. */
  private val ShortOfNewest = Set(
    "new-consistent",
    "new-partial-payload",
    "new-reverse-payload",
    "new-slash-sql-mor",
    "new-slash-str-cow",
    "ty-vec-f-mor-spark",
    "types/ty-blob-sql-mor",
    "up-v6-cow-complex",
    "up-v6-mor-part",
    "v12-mor-part",
    "v12-savepoint-restore"
  )

  /** Tables with base files in a format that is refused, whatever is asked. */
  val Refused: Vector[String] = Vector("ty-lance-blob-cow", "ty-lance-cow")

  /** Names of the undamaged tables. */
  lazy val good: Vector[String] = names.filterNot(_.contains("-bad-"))

  /** Of these the ones of Hudi 1.2.0. */
  lazy val newest: Vector[String] = good.filterNot(n => isEarlier(n) && !n.startsWith("v9-vectors-"))

  private def isEarlier(name: String): Boolean = name.matches("v[689]-.*")

  /** A payload class of its own merges the table's rows, which only Hudi can run. */
  def mergedByHudi(name: String): Boolean =
    json(name).path("table_config").path("hoodie.record.merge.mode").asText == "CUSTOM"

  /** Names of the tables with one of these kinds of damage. */
  def damaged(kinds: String*): Vector[String] = names.filter(n => kinds.exists(kind => n.endsWith(s"-bad-$kind")))

  /** Of `among` one of so many, for a suite that takes long on each: another suite has others. All of them where
    * HUDIIDX_TEST_ALL_FIXTURES is set, as `make test-all` and `make test-lines` do.
    */
  def sampled(suite: AnyRef, among: Vector[String] = good, oneOf: Int = 4): Vector[String] =
    if (TestSettings.allFixtures) among
    else {
      val first = Math.floorMod(suite.getClass.getSimpleName.hashCode, oneOf)
      among.zipWithIndex.collect { case (name, n) if n % oneOf == first => name }
    }

  /** A folder that goes away when the JVM ends; `tables` and `newFolder` live below it. */
  private lazy val scratch: Path = {
    val made = Files.createTempDirectory("hudiidx-test-")
    sys.addShutdownHook { LocalStorage.delete(made.toString): Unit }
    made
  }

  /** A new, empty folder. */
  def newFolder(prefix: String): Path = Files.createTempDirectory(scratch, prefix + "-")

  /** Removes the new folders of this prefix that `work` leaves: some thousands of tables fill a disk. */
  def removing[A](prefix: String)(work: => A): A = {
    def made = LocalStorage.list(scratch.toString).map(_.path).filter(_.startsWith(s"$scratch/$prefix-")).toSet
    val before = made
    try work
    finally (made -- before).foreach(LocalStorage.delete(_): Unit)
  }

  private val unzipped = TrieMap.empty[String, String]

  /** Base path of a table, shared by all tests of this JVM: do not change it. */
  def table(name: String): String = unzipped.synchronized {
    unzipped.getOrElseUpdate(name, unzip(name, newFolder("tables")).toString)
  }

  /** Base path of a copy of a table that the caller may change. Modification times are kept. */
  def copy(name: String): String = unzip(name, newFolder("copy")).toString

  /** Puts the files of `parts/<part>.zip`, whose top folder has the table's name, over a table that `copy` made. */
  def overlay(copied: String, part: String): Unit =
    unzip(s"parts/$part", java.nio.file.Paths.get(copied).getParent): Unit

  /** Base path of a copy of a table that is kept in `parts/<name>.zip` with an index of ours. */
  def part(name: String): String = {
    val into = newFolder("part")
    unzip(s"parts/$name", into)
    into.resolve(name).toString
  }

  /** What stock Hudi says about the table. */
  def json(name: String): JsonNode = mapper.readTree(dir.resolve(name + ".json").toFile)

  private val mapper = new ObjectMapper

  private def unzip(name: String, into: Path): Path = {
    val zip = new ZipFile(dir.resolve(name + ".zip").toFile)
    try {
      val entries = zip.entries()
      while (entries.hasMoreElements) {
        val entry = entries.nextElement()
        val target = into.resolve(entry.getName).normalize()
        require(target.startsWith(into), s"$name.zip: entry ${entry.getName} leaves the folder")
        if (entry.isDirectory) Files.createDirectories(target)
        else {
          Files.createDirectories(target.getParent)
          val in = zip.getInputStream(entry)
          try Files.copy(in, target, StandardCopyOption.REPLACE_EXISTING)
          finally in.close()
          Files.setLastModifiedTime(target, FileTime.fromMillis(entry.getTime))
        }
      }
    } finally zip.close()
    into.resolve(Paths.get(name).getFileName)
  }

  /** All files below a folder, as paths relative to it. */
  def filesBelow(root: String): Vector[String] = {
    val found = Vector.newBuilder[String]
    val base = Paths.get(root)
    Files.walkFileTree(
      base,
      new SimpleFileVisitor[Path] {
        override def visitFile(file: Path, attributes: BasicFileAttributes): FileVisitResult = {
          found += base.relativize(file).toString
          FileVisitResult.CONTINUE
        }
        override def visitFileFailed(file: Path, e: IOException): FileVisitResult = throw e
      }
    )
    found.result().sorted
  }
}
