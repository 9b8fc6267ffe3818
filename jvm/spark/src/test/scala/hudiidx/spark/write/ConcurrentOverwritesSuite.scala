package hudiidx.spark.write

import scala.util.{Failure, Random, Success, Try}

import hudiidx.TestSettings.{isLong, seed, some, versions}
import hudiidx.spark.compact.CompactionApi
import hudiidx.spark.{HudiIdxCatalog, SparkSuite}
import hudiidx.{Figures, Fixtures, WriteConflict}
import org.apache.spark.sql.DataFrame
import org.scalatest.BeforeAndAfterAll

/** Two writers of one table at the same time, one of which replaces what the other one changes: what both were told is what came of
  * it, as if one had come after the other.
  */
final class ConcurrentOverwritesSuite extends SparkSuite with WritersTogether with BeforeAndAfterAll {
  import ConcurrentOverwritesSuite._

  private def run(deed: Deed, path: String, wrap: DataFrame => DataFrame = identity): Unit = {
    def frame = wrap(rows(deed.ids, deed.ts))
    def operation(name: String) = Map("hoodie.datasource.write.operation" -> name)
    val apart = Map("hoodie.parquet.small.file.limit" -> "0")
    deed.kind match {
      case Upsert       => save(frame, path, operation("upsert"))
      case Insert       => save(frame, path, operation("insert") ++ apart)
      case Delete       => save(frame, path, operation("delete"))
      case Overwrite    => save(frame, path, mode = "overwrite")
      case Partitions   => save(frame, path, Map("partitionOverwriteMode" -> "dynamic"), mode = "overwrite")
      case OnePartition =>
        frame.createOrReplaceTempView(s"rows_${deed.ts}")
        statement(
          s"INSERT OVERWRITE hudiidx.`$path` PARTITION (p = 'p${deed.ids.head % 6}') SELECT id, ts, v FROM rows_${deed.ts}"
        )
      case Compact => CompactionApi.compact(spark, path, together, "schedule_and_execute", None): Unit
    }
  }

  private def statement(sql: String): Unit = {
    // Another thread's statement has the same settings: they stay for the suite.
    (together + ("spark.sql.catalog.hudiidx" -> classOf[HudiIdxCatalog].getName)).foreach { case (k, v) =>
      spark.conf.set(k, v)
    }
    spark.sql(sql): Unit
  }

  override def afterAll(): Unit = {
    together.keys.foreach(spark.conf.unset)
    super.afterAll()
  }

  /** Without what a conflict says: any other error fails the test. */
  private def isDone(result: Try[Unit]): Boolean = result match {
    case Success(_) => true
    case Failure(e) if Iterator.iterate(e)(_.getCause).takeWhile(_ != null).exists(_.isInstanceOf[WriteConflict]) =>
      false
    case Failure(e) => throw e
  }

  /** What can be there after those that were told that they are done, one after the other. */
  private def orders(state: Map[String, Int], done: Seq[Deed]): Vector[Map[String, Int]] =
    done.permutations.map(_.foldLeft(state)((s, d) => d.of(s))).toVector

  private def requireTidy(path: String): Unit =
    assert(Fixtures.filesBelow(path).forall(f => !f.contains("/.temp/") && !f.endsWith("/lock"))): Unit

  // What replaces nothing stands beside its like in `ConcurrentWritesSuite`.
  for (version <- versions(9); outer <- Kinds.filterNot(_ == Compact))
    test(s"version $version: ${outer.name} in whose middle another write commits") {
      val path = newTable(version)
      var state = values(path)
      // Partition p0 is in both, p1 in one, and each inserts a record, too.
      val inners = if (isLong) Kinds else some(2)(if (Replacing.contains(outer)) Kinds else Replacing)
      for ((inner, n) <- inners.zipWithIndex) {
        val (first, second) = (10 * n + 2, 10 * n + 3)
        val outerIds = if (outer == OnePartition) Seq(0, 6, 600 + 6 * n) else Seq(0, 6, 1, 600 + 6 * n)
        val innerIds = if (inner == OnePartition) Seq(6, 12, 900 + 6 * n) else Seq(6, 12, 2, 900 + 6 * n)
        def given(kind: Kind, ids: Seq[Int]): Seq[Int] = if (kind == Insert) ids.filter(_ >= 600) else ids
        val late = Deed(outer, given(outer, outerIds), first)
        val early = Deed(inner, given(inner, innerIds), second)
        var isEarlyDone = false
        // A delete takes the keys alone.
        val done = isDone(
          Try(
            run(
              late,
              path,
              during(_, "id") {
                isEarlyDone = isDone(Try(run(early, path)))
              }
            )
          )
        )
        val told = (if (isEarlyDone) Seq(early) else Nil) ++ (if (done) Seq(late) else Nil)
        assert(isEarlyDone, s"$early in $late")
        val found = values(path)
        assert(orders(state, told).contains(found), s"$early in $late, done: $told, from $state")
        requireTidy(path)
        // For the next one, logs to compact among them.
        run(Deed(Overwrite, 0 until 60, 10 * n + 4), path)
        if (inner == Delete) run(Deed(Upsert, 0 until 30, 10 * n + 5), path)
        state = values(path)
      }
    }

  for (version <- versions(6))
    test(
      s"version $version: overwrites beside other writes, in random rounds: nothing is lost and nothing comes back"
    ) {
      val path = newTable(version)
      val random = new Random(seed + version)
      val rounds = if (isLong) 100 else 3
      info(s"HUDIIDX_TEST_SEED=$seed, $rounds rounds")
      var state = values(path)
      (1 to rounds).foreach { round =>
        val deeds = Vector(Deed.random(random, Replacing, 10 * round), Deed.random(random, Kinds, 10 * round + 1))
        val results = atOnce(deeds.map(d => () => run(d, path))).map(isDone)
        val told = deeds.zip(results).collect { case (d, true) => d }
        assert(told.nonEmpty, s"round $round: $deeds")
        val found = values(path)
        assert(orders(state, told).contains(found), s"round $round: $deeds, done: $told, from $state")
        state = found
      }
      requireTidy(path)
      Figures.add("rounds of two writers at once", rounds.toLong)
    }
}

private object ConcurrentOverwritesSuite {
  sealed abstract class Kind(val name: String) extends Product with Serializable
  case object Upsert extends Kind("an upsert")
  case object Insert extends Kind("an insert")
  case object Delete extends Kind("a delete")
  case object Overwrite extends Kind("an overwrite")
  case object Partitions extends Kind("a dynamic overwrite")
  case object OnePartition extends Kind("an overwrite of one partition")
  case object Compact extends Kind("a compaction")

  val Replacing: Vector[Kind] = Vector(Overwrite, Partitions, OnePartition)
  val Kinds: Vector[Kind] = Vector(Upsert, Insert, Delete, Compact) ++ Replacing

  /** A write of some records, which are in partition id % 6. */
  final case class Deed(kind: Kind, ids: Seq[Int], ts: Int) {
    def of(state: Map[String, Int]): Map[String, Int] = {
      val keys = ids.map(i => f"k$i%03d")
      lazy val partitions = ids.map(_ % 6).toSet
      def left = state.filterNot { case (k, _) => partitions(k.drop(1).toInt % 6) }
      kind match {
        case Upsert | Insert           => state ++ keys.map(k => k -> math.max(ts, state.getOrElse(k, 0)))
        case Delete                    => state -- keys
        case Overwrite                 => keys.map(_ -> ts).toMap
        case Partitions | OnePartition => left ++ keys.map(_ -> ts)
        case Compact                   => state
      }
    }
  }

  object Deed {
    def random(r: Random, kinds: Vector[Kind], ts: Int): Deed = {
      val kind = kinds(r.nextInt(kinds.size))
      val partitions = r.shuffle((0 until 6).toVector).take(if (kind == OnePartition) 1 else 1 + r.nextInt(3)).toSet
      val from = if (kind == Insert) 1000 + ts * 60 else r.nextInt(150)
      Deed(kind, (from until from + 6 + r.nextInt(40)).filter(i => partitions(i % 6)).toVector, ts)
    }
  }
}
