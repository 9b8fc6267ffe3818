package hudiidx

import java.nio.file.{Files, Path}
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.JavaConverters._

/** Packages know only those to their left, so none depends on itself by a detour. */
class PackageOrderSuite extends AnyFunSuite {
  private val modules = Vector("core", "fs", "parquet", "engine", "hive", "spark", "hudi")

  /** From left to right; packages of one step are siblings and do not know each other. */
  private val order: Vector[Set[String]] = Vector(
    Set("bytes", "storage", "column.expression"),
    Set("hfile", "log", "timeline", "fs"),
    Set("table", "store"),
    Set("table.listing", "table.query"),
    Set("manifest", "merge"),
    Set("record.page", "column"),
    Set("record", "column.segment"),
    Set("logindex", "parquet"),
    Set("slice", "history"),
    Set("rows", "sync"),
    Set("sync.build", "write.format"),
    Set("write", "symlink", "report"),
    Set("engine"),
    Set("engine.column", "engine.record", "engine.logindex"),
    Set("answer", "api"),
    Set("command"),
    Set("hive"),
    Set("hive.mapreduce"),
    Set("spark.rows", "spark.prune", "spark.shims"),
    Set("spark.options"),
    Set("spark.pinned"),
    Set("spark.read", "spark.views"),
    Set("spark.stream", "spark.catalog"),
    Set("spark.plan"),
    Set("spark"),
    Set("spark.build"),
    Set("spark.tag"),
    Set("spark.api"),
    Set("spark.write.options"),
    Set("spark.write.group"),
    Set("spark.write"),
    Set("spark.compact", "spark.command"),
    Set("spark.procedure"),
    Set("hudi")
  )
  private val steps: Map[String, Int] = order.zipWithIndex.flatMap { case (names, step) => names.map(_ -> step) }.toMap
  // The longest names first: a package inside another may have a place of its own.
  private val mention =
    ("""\bhudiidx\.(""" + steps.keys.toVector.sortBy(-_.length).mkString("|").replace(".", "\\.") + """)\b""").r

  private val className = (mention.regex + """\.[A-Z]\w*[a-z]""").r

  // Options and classes that errors name are no imports.
  private val texts = "\"[^\"\n]*\"".r

  test("a package imports only from packages to its left") {
    val wrong = for {
      file <- sources(modules: _*)
      from <- packageOf(file).toVector
      to <- mention.findAllMatchIn(texts.replaceAllIn(Files.readString(file), "")).map(_.group(1)).toVector.distinct
      if to != from && steps(to) >= steps(from)
    } yield s"${Fixtures.repoRoot.relativize(file)}: $from knows $to"
    assert(wrong === Vector.empty)
  }

  test("a text names a class of its own package or of one to its left, and none is put together from pieces") {
    val pieces = "\"hudiidx\"[^\n]*mkString\\(\"\\.\"\\)|\"hudiidx\\.?\"\\s*\\+|s\"hudiidx\\.\\$".r
    val wrong = for {
      file <- sources(modules: _*)
      from <- packageOf(file).toVector
      text = Files.readString(file)
      named = texts.findAllIn(text).flatMap(className.findAllMatchIn(_)).map(_.group(1)).toVector.distinct
      to <- named.filter(n => n != from && steps(n) >= steps(from)) ++ pieces.findAllIn(text)
    } yield s"${Fixtures.repoRoot.relativize(file)}: $from names $to"
    assert(wrong === Vector.empty)
  }

  test("every package has its place in the order") {
    val unknown =
      sources(modules: _*).flatMap(packageOf(_)).distinct.filterNot(steps.contains)
    assert(unknown === Vector.empty)
  }

  test("no package has more than 25 files") {
    val large = sources(modules: _*).groupBy(packageOf(_)).filter(_._2.size > 25)
    assert(large.map { case (name, files) => name -> files.size } === Map.empty)
  }

  test("a module names no library that is not its own") {
    val others = Map(
      "core" -> Vector("spark", "hadoop", "parquet", "hive"),
      "fs" -> Vector("spark", "parquet", "hive"),
      "parquet" -> Vector("spark", "hive"),
      "engine" -> Vector("spark", "hive"),
      "hive" -> Vector("spark")
    )
    val wrong = for {
      (module, libraries) <- others.toVector
      library <- libraries
      file <- sources(module)
      if s"""import org\\.apache\\.$library\\.""".r.findFirstIn(Files.readString(file)).isDefined
    } yield s"${Fixtures.repoRoot.relativize(file)}: $library"
    assert(wrong === Vector.empty)
  }

  test("nothing that is open waits for the garbage collector") {
    val collector = "java\\.lang\\.ref\\.|\\bfinalize\\(\\)|WeakHashMap".r
    val wrong = sources(modules: _*).filter(f => collector.findFirstIn(Files.readString(f)).nonEmpty)
    assert(wrong.map(Fixtures.repoRoot.relativize(_).toString) === Vector.empty)
  }

  test("each file of services bears the name of a class that is there, and names such classes") {
    val defined = (for {
      file <- sources(modules: _*)
      text = Files.readString(file)
      in <- """(?m)^package (hudiidx[\w.]*)""".r.findFirstMatchIn(text).map(_.group(1)).toVector
      name <- """(?m)^(?:[a-z\[\]]+ )*(?:class|trait|object) (\w+)""".r.findAllMatchIn(text).map(_.group(1))
    } yield s"$in.$name").toSet
    val services = modules.flatMap(m => files(m, _.getParent.endsWith(Path.of("META-INF", "services"))))
    val named = services.flatMap(f => f.getFileName.toString +: Files.readString(f).split("\\s+").toVector)
    assert(named.size > 3 && named.filter(_.startsWith("hudiidx.")).filterNot(defined) === Vector.empty)
  }

  /** None for what stands directly in `hudiidx`: the errors, which everybody knows. */
  private def packageOf(file: Path): Option[String] =
    """(?m)^package (hudiidx\.[\w.]+)""".r.findFirstMatchIn(Files.readString(file)).map { found =>
      mention.findFirstMatchIn(found.group(1)).fold(found.group(1))(_.group(1))
    }

  private def sources(modules: String*): Vector[Path] = {
    val found =
      modules.toVector.flatMap(files(_, f => f.toString.endsWith(".scala") || f.toString.endsWith(".java")))
    assert(found.size > modules.size)
    found
  }

  private def files(module: String, wanted: Path => Boolean): Vector[Path] = {
    val walk = Files.walk(Fixtures.repoRoot.resolve("jvm").resolve(module).resolve("src").resolve("main"))
    try walk.iterator.asScala.filter(f => Files.isRegularFile(f) && wanted(f)).toVector
    finally walk.close()
  }
}
