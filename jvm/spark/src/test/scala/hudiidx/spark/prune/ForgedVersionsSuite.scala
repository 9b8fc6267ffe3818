package hudiidx.spark.prune

import java.nio.file.{Files, Path, Paths}
import java.util.concurrent.ConcurrentLinkedQueue

import scala.collection.JavaConverters._
import scala.util.Random
import scala.util.hashing.MurmurHash3

import hudiidx.TestSettings.{isLong, seed}
import hudiidx.engine.TimelineCut
import hudiidx.engine.column.ColumnFaultSuite
import hudiidx.spark.api.HudiIdxApi
import hudiidx.spark.{ForgedIndex, SparkExpressions}
import hudiidx.sync.TableContext
import hudiidx.{Figures, Fixtures, HudiIdxException}
import org.apache.hadoop.fs.RawLocalFileSystem

/** Index versions with right checksums and made-up properties, expressions among them, under a process with secrets, functions, classes
  * and files of its own. HUDIIDX_FORGED_MINUTES is how long each of the two tests goes on, at least.
  */
final class ForgedVersionsSuite extends SkippingSuite {
  import ForgedVersionsSuite._

  private val rounds = if (isLong) 200 else 8
  private val minutes = sys.env.get("HUDIIDX_FORGED_MINUTES").fold(0.0)(_.toDouble)

  /** So many turns, and more until the time is over; how many there were. */
  private def turns(least: Int)(turn: Int => Unit): Int = {
    val until = System.nanoTime() + (minutes * 60e9).toLong
    var n = 0
    while (n < least || System.nanoTime() < until) {
      turn(n)
      n += 1
    }
    n
  }

  private def api(table: String): HudiIdxApi = new HudiIdxApi(spark, table, new java.util.HashMap[String, String]())

  private def filters(table: String): Vector[String] = Vector(
    s"n >= ${read(table, off).selectExpr("max(n)").head().get(0)}",
    "rider >= 'k' AND qty < 900",
    "upper(rider) = 'R7' OR n + qty > 50",
    "day IS NOT NULL AND fare > 2"
  )

  /** Java's first numbers of neighbouring seeds are alike. */
  private def drawing(n: Int): Random = new Random(MurmurHash3.orderedHash(Vector(seed, n.toLong)).toLong)

  /** As hudiidx would keep it; None for what it would refuse. */
  private def honest(table: String): String => Option[String] = {
    val context = TableContext.load(ColumnFaultSuite.access, table)
    val of = new SparkExpressions(spark).of(context.config, context.schema())
    sql =>
      try Some(of.resolved(sql, Vector.empty))
      catch { case _: HudiIdxException => None }
  }

  private def guarded[A](body: => A): A = {
    System.setProperty(SecretName, Secret)
    spark.conf.set("spark.hadoop.fs.s3a.secret.key", Secret)
    spark.sparkContext.hadoopConfiguration.set("fs.tripwire.impl", classOf[TripwireFileSystem].getName)
    spark.udf.register("decrypt", { (s: String) => touch(); Secret + s })
    Touched.clear()
    val before = settings
    try {
      val done = body
      assert(settings === before)
      done
    } finally {
      System.clearProperty(SecretName)
      spark.conf.unset("spark.hadoop.fs.s3a.secret.key")
    }
  }

  /** All that a hostile version could set. */
  private def settings: (Map[String, String], Map[String, String]) =
    (spark.conf.getAll, System.getProperties.asScala.toMap.filterNot(_._1.startsWith("sun.")))

  private def untouched(told: Seq[String]): Unit = {
    assert(System.getProperty(LoadedByName.Mark) === null, "a class was loaded")
    Touched.asScala.foreach(e =>
      throw new AssertionError("a function of the session was called, or a file elsewhere looked at", e)
    )
    // Bounds have 64 bytes of a text.
    val path = sys.env("PATH").take(24)
    told.foreach(t => assert(!t.contains(Secret) && !t.contains(path), "a secret is told"))
  }

  test("whatever a version says of its expressions: no secret, class, file or setting is touched, and rows are right") {
    val table = Fixtures.copy("v9-cow-part")
    val cut = new TimelineCut(table)
    // The last instant is a clean: without a file to take in an update evaluates nothing.
    cut.showFirst(cut.size - 2)
    api(table).create()
    api(table).addColumns("range(n,qty);upper(rider);bloom(rider)", wait = true)
    cut.showAll()
    val index = new ForgedIndex(table)
    val kept = Paths.get(table + "-index")
    copy(index.folder, kept)
    val asked = filters(table)
    val keep = honest(table)
    val right = asked.map(f => rows(read(table, off).where(f)))
    val outside = filesBesides(table)
    var helped = 0
    val done = guarded {
      turns(rounds)(round =>
        withClue(s"HUDIIDX_TEST_SEED=$seed, round $round: ") {
          val drawn = new ForgedText(drawing(round), keep)
          restore(kept, index.folder)
          var written = Map.empty[String, String]
          index.change { of =>
            written = drawn.properties(of)
            written
          }
          val link = if (round % 4 == 3) Some(linked(index.folder, drawing(~round))) else None
          withClue(s"$written, ${link.map(_.at)}: ") {
            val told = Vector.newBuilder[String]
            def looked(): Unit = asked.zip(right).foreach { case (f, expected) =>
              val found = read(table).where(f)
              assert(rows(found) === expected, f)
              helped += math.min(1, skipped(found))
            }
            def answered(work: => String): Unit = told += (
              try work
              catch { case e: HudiIdxException => e.toString }
            )
            looked()
            answered(api(table).info())
            answered(api(table).explain(read(table).where(asked(1))).toString)
            answered(api(table).recommend(java.util.List.of(), 5))
            answered(api(table).update())
            looked()
            answered(api(table).report())
            untouched(told.result() ++ index.bytes.map(_._2))
            assert(filesBesides(table) === outside)
            link.foreach { l =>
              assert(sizes(l.to) === l.before && Files.isSymbolicLink(l.at))
              Files.delete(l.at)
            }
          }
        }
      )
    }
    Figures.add("forged versions of an index read and updated", done.toLong)
    assert(helped > 0)
    info(s"HUDIIDX_TEST_SEED=$seed, $done versions; $helped reads were helped by what was left of the index")
  }

  test(
    "whatever is stored as an expression: it is refused, or evaluated without touching a secret, class, file or setting"
  ) {
    val table = Fixtures.table("v9-cow-part")
    val keep = honest(table)
    val context = TableContext.load(ColumnFaultSuite.access, table)
    val of = new SparkExpressions(spark).of(context.config, context.schema())
    val resolver = new ExpressionResolver(spark, read(table).schema)
    var made = 0
    val cases = guarded {
      turns(rounds * 40) { n =>
        val path = new ForgedText(drawing(n), keep).path
        withClue(s"HUDIIDX_TEST_SEED=$seed, $n, ${path.take(2000)}: ") {
          val refused = of.refusal(path)
          val evaluated = of.evaluated(path)
          if (evaluated.isRight) made += 1
          assert(refused.isEmpty || evaluated.isLeft)
          new IndexedExpressions(resolver, spark.sessionState.conf.clone(), Vector(path), mixes = false)
            .mayKnow("rider")
          untouched(refused.toVector ++ evaluated.left.toOption ++ evaluated.toOption.map(_.toString))
        }
      }
    }
    Figures.add("stored expressions judged", cases.toLong)
    info(s"$made of $cases could be evaluated")
    assert(made > cases / 200 && made < cases)
  }

  private def copy(from: Path, to: Path): Unit = Fixtures.filesBelow(from.toString).foreach { f =>
    Files.createDirectories(to.resolve(f).getParent)
    Files.copy(from.resolve(f), to.resolve(f)): Unit
  }

  private def restore(from: Path, to: Path): Unit = {
    Fixtures.filesBelow(to.toString).foreach(f => Files.delete(to.resolve(f)))
    copy(from, to)
  }

  /** A link in the place of some file or folder of the index, which leads out of the table to the same, and to more. */
  private def linked(folder: Path, random: Random): Link = {
    val files = Fixtures.filesBelow(folder.toString).toVector.map(folder.resolve(_))
    val all = (files ++ files.map(_.getParent).filterNot(_ == folder)).distinct.sorted
    val at = all(random.nextInt(all.size))
    val to = Files.createTempDirectory("elsewhere").resolve("linked")
    Files.move(at, to)
    if (Files.isDirectory(to)) Seq("manifest", "state").foreach(n => Files.write(to.resolve(n), Array[Byte](1)))
    Files.createSymbolicLink(at, to)
    Link(at, to, sizes(to))
  }

  private def sizes(path: Path): Vector[(String, Long)] =
    if (Files.isDirectory(path))
      Fixtures.filesBelow(path.toString).toVector.sorted.map(f => f -> Files.size(path.resolve(f)))
    else Vector("" -> Files.size(path))

  /** Names and sizes of what is beside the index: the table's files and those of the folder around it that are its. */
  private def filesBesides(table: String): Vector[(String, Long)] =
    Fixtures
      .filesBelow(table)
      .toVector
      .filterNot(_.startsWith(".hoodie/hudiidx/"))
      .map(f => f -> Files.size(Paths.get(table, f)))
}

object ForgedVersionsSuite {

  /** @param before what was there, by name and size */
  private case class Link(at: Path, to: Path, before: Vector[(String, Long)])

  val SecretName = "hudiidx.test.forged.secret"
  private val Secret = "hush-77aa-1f0e9b"

  /** Calls of functions of the session, and looks at files of the tripwire. */
  private val Touched = new ConcurrentLinkedQueue[Throwable]
  private[prune] def touch(): Unit = Touched.add(new Throwable("here")): Unit
}

/** A file system whose use is counted. */
final class TripwireFileSystem extends RawLocalFileSystem {
  ForgedVersionsSuite.touch()
  override def getScheme: String = "tripwire"
}
