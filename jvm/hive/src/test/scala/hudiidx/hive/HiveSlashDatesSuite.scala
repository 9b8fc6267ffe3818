package hudiidx.hive

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import hudiidx.engine.{Tables, TimelineCut}
import hudiidx.engine.column.ColumnPart
import hudiidx.hfile.BlockCache
import hudiidx.storage.LocalStorage
import hudiidx.sync._
import hudiidx.sync.build.Indexer
import hudiidx.table.query.QuerySettings
import hudiidx.Fixtures
import org.apache.hadoop.hive.ql.plan.ExprNodeDesc
import org.apache.hadoop.hive.ql.udf.generic._
import org.apache.hadoop.mapred.JobConf
import org.scalatest.funsuite.AnyFunSuite

/** Tables whose folders of dates are 2026/01/05. Values of the one that was made by SQL have dashes, those of the other are the
  * folder's, as stock Hudi gives them.
  */
final class HiveSlashDatesSuite extends AnyFunSuite {
  import HivePredicates.{call, column, constant}

  private val columns = Vector("columns" -> "id,n,d", "columns.types" -> "string:bigint:string")

  /** Of stock Hudi's rows: id, n and date. */
  private def stock(name: String): Vector[Vector[String]] = {
    val mapper = new ObjectMapper
    val rows = Fixtures.json(name).get("snapshot").get("rows").elements.asScala.toVector
    rows.map(r => mapper.readTree(r.asText)).map(r => Vector("id", "n", "d").map(r.get(_).asText)).sortBy(_.head)
  }

  private def found(job: JobConf): Vector[Vector[String]] =
    HiveTables.rows(job).map(_.toVector.map(_.toString)).sortBy(_.head)

  private def indexer(table: String): Indexer = {
    val access = Tables.access(LocalStorage, new BlockCache(4 << 20))
    val part = new ColumnPart(new LocalEngine(access), ColumnOptions(range = Some("*")))
    new Indexer(access, table, IndexOptions(source = "listing"), LocalScanner, Vector(part))
  }

  /** With the index absent, stale and fresh, of which the last is told. */
  private def inStates(name: String)(check: (String, Seq[(String, String)], Boolean) => Unit): Unit = {
    val table = Fixtures.copy(name)
    withClue("no index: ")(check(table, Nil, false))
    val timeline = new TimelineCut(table)
    timeline.showFirst(timeline.size - 2)
    indexer(table).create()
    timeline.showAll()
    val strict = Seq(IndexOptions.Strict -> "true")
    withClue("stale: ")(check(table, strict, false))
    indexer(table).update()
    withClue("fresh: ")(check(table, strict, true))
  }

  /** Predicates of the date, and of which dates they are true. */
  private def predicates(dates: Vector[String]): Vector[(ExprNodeDesc, String => Boolean)] = {
    val date = column("d")
    val (first, middle, last) = (dates(0), dates(1), dates(2))
    dates.map(d => call(new GenericUDFOPEqual, "=", date, constant(d)) -> ((v: String) => v == d)) ++ Vector(
      call(new GenericUDFOPGreaterThan, ">", date, constant(first)) -> ((v: String) => v > first),
      call(new GenericUDFOPEqualOrLessThan, "<=", date, constant(middle)) -> ((v: String) => v <= middle),
      call(new GenericUDFIn, "in", date, constant(first), constant(last)) -> ((v: String) => v != middle),
      call(new GenericUDFOPEqual, "=", date, constant("2019-01-01")) -> ((_: String) => false)
    )
  }

  for ((name, dash) <- Vector("new-slash-str-cow" -> "/", "new-slash-sql-mor" -> "-")) {
    val rows = stock(name)
    val dates = rows.map(_(2)).distinct.sorted

    test(s"$name: predicates of the date, alone and beside others, leave out no row of stock Hudi's") {
      assert(dates.length === 3 && dates.forall(_.count(_.toString == dash) == 2))
      inStates(name) { (table, settings, isFresh) =>
        def job(predicate: ExprNodeDesc) =
          HiveTables.job(Seq(table), (columns ++ settings) :+ HivePredicates.pushed(predicate): _*)
        predicates(dates).foreach { case (predicate, isTrue) =>
          withClue(s"${predicate.getExprString}: ") {
            assert(found(job(predicate)).filter(r => isTrue(r(2))) === rows.filter(r => isTrue(r(2))))
            val none = call(new GenericUDFOPEqual, "=", column("n", "bigint"), constant(Long.box(-1L), "bigint"))
            val both = call(new GenericUDFOPAnd, "and", predicate, none)
            if (isFresh) assert(HiveTables.splits(job(both)).isEmpty, "the index is in use")
          }
        }
      }
    }

    test(s"$name: the folder of a partition is read alone") {
      inStates(name) { (table, settings, _) =>
        dates.foreach { date =>
          val folder = Seq(s"$table/${date.replace('-', '/')}")
          assert(found(HiveTables.job(folder, columns ++ settings: _*)) === rows.filter(_(2) == date))
        }
      }
    }

    test(s"$name: partitions are named by their folders, and those that are named are read alone") {
      val folders = dates.map(_.replace('-', '/'))
      inStates(name) { (table, settings, _) =>
        def of(named: String*) =
          found(
            HiveTables.job(
              Seq(table),
              (columns ++ settings) :+ (ReadSettings.Partitions -> ReadSettings.json(named)): _*
            )
          )
        folders.zip(dates).foreach { case (folder, date) => assert(of(folder) === rows.filter(_(2) == date)) }
        assert(of(folders :+ "2019/01/01": _*) === rows && of("2019/01/01").isEmpty)
      }
    }
  }

  test("base files alone have their rows in the partitions that a predicate asks for, as many as stock Hudi's in all") {
    val name = "new-slash-sql-mor"
    val date = stock(name).map(_(2)).min
    val whole = found(
      HiveTables.job(Seq(Fixtures.table(name)), columns :+ (QuerySettings.QueryType -> "read_optimized"): _*)
    )
    assert(whole.length === Fixtures.json(name).get("read_optimized").get("count").asInt && whole != stock(name))
    inStates(name) { (table, settings, _) =>
      val predicate = call(new GenericUDFOPEqual, "=", column("d"), constant(date))
      val asked = settings ++ Seq(QuerySettings.QueryType -> "read_optimized", HivePredicates.pushed(predicate))
      val read = found(HiveTables.job(Seq(table), columns ++ asked: _*))
      assert(read.filter(_(2) == date) === whole.filter(_(2) == date))
    }
  }
}
