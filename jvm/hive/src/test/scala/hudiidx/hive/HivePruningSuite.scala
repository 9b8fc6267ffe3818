package hudiidx.hive

import java.nio.file.{Files, Paths}

import scala.collection.JavaConverters._

import hudiidx.engine.{Tables, TimelineCut}
import com.fasterxml.jackson.databind.ObjectMapper
import hudiidx.engine.column.ColumnPart
import hudiidx.engine.record.RecordPart
import hudiidx.hfile.BlockCache
import hudiidx.storage.LocalStorage
import hudiidx.sync._
import hudiidx.sync.build.Indexer
import hudiidx.{Fixtures, HudiIdxException, IndexNotFound, TestSettings}
import org.apache.hadoop.hive.ql.plan.ExprNodeDesc
import org.apache.hadoop.hive.ql.udf.generic.{
  GenericUDFIn,
  GenericUDFOPAnd,
  GenericUDFOPEqual,
  GenericUDFOPGreaterThan,
  GenericUDFOPOr
}
import org.apache.hadoop.mapred.JobConf
import org.scalatest.funsuite.AnyFunSuite

/** What leaves files out leaves no row out: the index in any state, partitions, keys, and predicates that Hive hands down. */
final class HivePruningSuite extends AnyFunSuite {
  import HivePredicates.{call, column, constant}

  private val tables = Vector("v6-cow-part", "v9-mor-part", "v9-mor-event", "v9-moved-mor", "v9-dup-keys") ++
    (if (TestSettings.allFixtures) newest else Vector("v12-mor-part"))

  /** Those whose rows have the columns that are asked for. */
  private def newest: Vector[String] = Fixtures.newest.filter { n =>
    val answers = Fixtures.json(n)
    val columns = answers.path("schema").path("fields").asScala.map(_.get("name").asText).toSet
    answers.path("key_location").path("rows").size > 0 && columns("n") && !Fixtures.mergedByHudi(n)
  }

  private def access: TableAccess = Tables.access(LocalStorage, new BlockCache(4 << 20))

  private def indexer(table: String): Indexer = {
    val a = access
    val part = new RecordPart(new LocalEngine(a), RecordOptions(mode = Some(IndexOptions.GlobalMode)))
    new Indexer(a, table, IndexOptions(source = "listing"), LocalScanner, Vector(part))
  }

  private def indexed(name: String): String = {
    val table = Fixtures.copy(name)
    indexer(table).create()
    table
  }

  private def texts(job: JobConf): Vector[String] = HiveTables.rows(job).map(_.mkString("|")).sorted

  private val Key = ReadSettings.Columns -> """["_hoodie_record_key", "_hoodie_partition_path", "n"]"""

  tables.foreach { name =>
    test(s"$name: an index that is fresh, stale, damaged or not there gives the same rows") {
      val expected = texts(HiveTables.job(Seq(Fixtures.table(name)), IndexOptions.Enabled -> "false"))
      assert(expected.nonEmpty)
      val table = Fixtures.copy(name)
      assert(texts(HiveTables.job(Seq(table))) === expected, "no index")
      val timeline = new TimelineCut(table)
      timeline.showFirst(timeline.size - 1)
      indexer(table).create()
      timeline.showAll()
      assert(texts(HiveTables.job(Seq(table), IndexOptions.Strict -> "true")) === expected, "stale")
      indexer(table).update()
      assert(texts(HiveTables.job(Seq(table), IndexOptions.Strict -> "true")) === expected, "fresh")
      damage(table)
      assert(texts(HiveTables.job(Seq(table))) === expected, "damaged")
      intercept[HudiIdxException](texts(HiveTables.job(Seq(table), IndexOptions.Strict -> "true")))
    }
  }

  private def damage(table: String): Unit = {
    val folder = Paths.get(table, ".hoodie/hudiidx")
    Fixtures.filesBelow(folder.toString).filter(_.contains("master_manifest")).foreach { file =>
      val bytes = Files.readAllBytes(folder.resolve(file))
      bytes.indices.foreach(i => bytes(i) = (bytes(i) ^ 0x5a).toByte)
      Files.write(folder.resolve(file), bytes)
    }
  }

  test("in strict mode a table without an index is IndexNotFound, and an index elsewhere is found there") {
    val table = Fixtures.table("v9-cow-part")
    intercept[IndexNotFound](texts(HiveTables.job(Seq(table), IndexOptions.Strict -> "true")))
    val folder = Fixtures.newFolder("index").toString
    new Indexer(access, table, IndexOptions(indexPath = Some(folder), source = "listing")).create()
    val job = HiveTables.job(Seq(table), IndexOptions.Strict -> "true", IndexOptions.Path -> folder)
    assert(texts(job) === texts(HiveTables.job(Seq(table))))
  }

  tables.foreach { name =>
    test(s"$name: rows of some keys, with an index and without, are those of a filter; an index leaves splits out") {
      val table = indexed(name)
      val all = HiveTables.rows(HiveTables.job(Seq(table), Key)).map(_.mkString("|")).sorted
      val keys = all.map(_.takeWhile(_ != '|')).distinct
      Vector(Vector(keys.head), keys.grouped(keys.length / 5).map(_.head).toVector, Vector("no such key")).foreach {
        some =>
          val expected = all.filter(r => some.contains(r.takeWhile(_ != '|')))
          val asked = ReadSettings.Keys -> ReadSettings.json(some)
          assert(texts(HiveTables.job(Seq(table), Key, asked)) === expected)
          assert(texts(HiveTables.job(Seq(table), Key, asked, IndexOptions.Enabled -> "false")) === expected)
      }
      val one = HiveTables.job(Seq(table), ReadSettings.Keys -> ReadSettings.json(Seq(keys.head)))
      val groups = HiveTables.splits(HiveTables.job(Seq(table))).length
      if (groups > 2) assert(HiveTables.splits(one).length < groups)
    }
  }

  test("partitions that are named are read alone") {
    val table = Fixtures.table("v9-mor-part")
    val some = HiveTables.job(Seq(table), ReadSettings.Partitions -> """["sf", "nyc", "nowhere"]""", Key)
    val expected = texts(HiveTables.job(Seq(table), Key)).filter(r => Set("sf", "nyc")(r.split('|')(1)))
    assert(expected.nonEmpty && texts(some) === expected)
  }

  private val HiveColumns = Vector(
    "columns" -> "_hoodie_record_key,_hoodie_partition_path,id,n",
    "columns.types" -> "string:string:string:bigint"
  )

  private def equal(name: String, value: String): ExprNodeDesc =
    call(new GenericUDFOPEqual, "=", column(name), constant(value))

  private def pushed(table: String, predicate: ExprNodeDesc): JobConf =
    HiveTables.job(Seq(table), HiveColumns :+ HivePredicates.pushed(predicate): _*)

  test("a predicate of Hive's that asks for keys leaves splits out, and none of the rows that satisfy it") {
    val table = indexed("v9-mor-part")
    val all = HiveTables.splits(HiveTables.job(Seq(table), HiveColumns: _*)).length
    val keys = HiveTables.rows(HiveTables.job(Seq(table), HiveColumns: _*)).map(_(0).toString)
    val (a, b) = (keys.head, keys.last)
    val more = call(new GenericUDFOPGreaterThan, ">", column("n", "bigint"), constant(Long.box(-1L), "bigint"))
    val in = call(new GenericUDFIn, "in", column("_hoodie_record_key"), constant(a), constant(b))
    val found = Vector[(ExprNodeDesc, Set[String])](
      equal("_hoodie_record_key", a) -> Set(a),
      equal("id", b) -> Set(b),
      in -> Set(a, b),
      call(new GenericUDFOPAnd, "and", more, equal("id", a)) -> Set(a)
    )
    found.foreach { case (predicate, wanted) =>
      val job = pushed(table, predicate)
      val left = HiveTables.rows(job).map(_(0).toString)
      assert(HiveTables.splits(job).length < all, predicate.getExprString)
      assert(wanted.forall(left.contains), predicate.getExprString)
    }
    // Neither of these tells the keys of all rows that satisfy it.
    Vector(more, call(new GenericUDFOPOr, "or", more, equal("id", a))).foreach { predicate =>
      assert(HiveTables.splits(pushed(table, predicate)).length === all, predicate.getExprString)
    }
  }

  test("a predicate that cannot be read leaves nothing out") {
    val table = indexed("v9-cow-part")
    val job = HiveTables.job(Seq(table), HiveColumns :+ ("hive.io.filter.expr.serialized" -> "bm9uc2Vuc2U="): _*)
    assert(HiveTables.rows(job).length === HiveTables.rows(HiveTables.job(Seq(table))).length)
  }

  TestSettings.some(2)(Vector("v9-path-values-cow", "v9-path-values-mor", "v6-path-values-cow")).foreach { name =>
    test(
      s"$name: predicates on a partition column that changed in rows leave out none of stock Hudi's, index on and off"
    ) {
      val mapper = new ObjectMapper
      val texts = Vector.newBuilder[String]
      Fixtures.json(name).get("snapshot").get("rows").forEach(r => texts += r.asText)
      val stock = texts.result().map(mapper.readTree).map(r => Vector(r.get("id").asText, r.get("city").asText))
      val table = Fixtures.copy(name)
      val columns = Vector("columns" -> "id,city", "columns.types" -> "string:string")
      def check(): Unit = stock.map(_(1)).distinct.foreach { city =>
        val job = HiveTables.job(Seq(table), columns :+ HivePredicates.pushed(equal("city", city)): _*)
        val found = HiveTables.rows(job).map(_.toVector.map(_.toString)).filter(_(1) == city)
        assert(found.sortBy(_.head) === stock.filter(_(1) == city).sortBy(_.head), city)
      }
      check()
      val a = access
      val part = new ColumnPart(new LocalEngine(a), ColumnOptions(range = Some("*"), bloom = Some("city")))
      new Indexer(a, table, IndexOptions(source = "listing"), LocalScanner, Vector(part)).create()
      check()
      val none = HiveTables.job(Seq(table), columns :+ HivePredicates.pushed(equal("id", "zzz")): _*)
      assert(HiveTables.splits(none).isEmpty, "the index is in use")
    }
  }
}
