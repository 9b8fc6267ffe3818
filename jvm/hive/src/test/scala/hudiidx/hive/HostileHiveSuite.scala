package hudiidx.hive

import java.nio.file.{Files, Path, Paths}
import java.util.{ArrayList => JArrayList}

import hudiidx.engine.Tables
import hudiidx.engine.column.ColumnPart
import hudiidx.engine.record.RecordPart
import hudiidx.hfile.BlockCache
import hudiidx.storage.LocalStorage
import hudiidx.store.{Current, IndexStore, IndexVersion}
import hudiidx.sync._
import hudiidx.sync.build.Indexer
import hudiidx.{Fixtures, NumberSites, TestSettings}
import org.apache.hadoop.hive.ql.exec.SerializationUtilities
import org.apache.hadoop.hive.ql.plan.{ExprNodeDesc, ExprNodeGenericFuncDesc}
import org.apache.hadoop.hive.ql.udf.generic._
import org.scalatest.funsuite.AnyFunSuite

/** What others wrote, be it the index or the text of a predicate, leaves no row out and ends no job by an error that is not ours. */
final class HostileHiveSuite extends AnyFunSuite {
  import HivePredicates.{call, column, constant}

  private def indexed(name: String): (String, Path) = {
    val table = Fixtures.copy(name)
    val access = Tables.access(LocalStorage, new BlockCache(4 << 20))
    val parts = Vector(
      new RecordPart(new LocalEngine(access), RecordOptions(mode = Some(IndexOptions.GlobalMode))),
      new ColumnPart(new LocalEngine(access), ColumnOptions(range = Some("n,fare"), bloom = Some("n")))
    )
    new Indexer(access, table, IndexOptions(source = "listing"), LocalScanner, parts).create()
    (table, Paths.get(IndexStore.defaultDir(table)))
  }

  private def shown(table: String, settings: (String, String)*): Vector[String] = {
    val columns = ReadSettings.Columns -> """["_hoodie_record_key", "n"]"""
    HiveTables.rows(HiveTables.job(Seq(table), settings :+ columns: _*)).map(_.mkString("|")).sorted
  }

  private val wide = call(
    new GenericUDFOPAnd,
    "and",
    call(new GenericUDFOPGreaterThan, ">", column("n", "bigint"), constant(-1000000L, "bigint")),
    call(new GenericUDFOPNotEqual, "!=", column("_hoodie_record_key"), constant("no such key"))
  )

  /** Nests a predicate; on a stack that takes it. */
  private def nested(levels: Int)(step: ExprNodeDesc => ExprNodeDesc): String = {
    var text = ""
    val work = new Thread(
      null,
      () => text = HivePredicates.pushed((1 to levels).foldLeft(wide)((e, _) => step(e)))._2,
      "deep",
      1L << 30
    )
    work.start()
    work.join()
    assert(text.nonEmpty)
    text
  }

  test("a predicate that is nested without end, cut, or none at all leaves nothing out") {
    val (table, _) = indexed("v9-cow-part")
    val all = shown(table)
    val right = HivePredicates.pushed(wide)._2
    def not(e: ExprNodeDesc) = call(new GenericUDFOPNot, "not", e)
    def or(e: ExprNodeDesc) = call(new GenericUDFOPOr, "or", e, wide)
    val bare = new ExprNodeGenericFuncDesc(wide.getTypeInfo, new GenericUDFOPAnd, "and", null)
    val nulls = new ExprNodeGenericFuncDesc(
      wide.getTypeInfo,
      new GenericUDFIn,
      "in",
      new JArrayList[ExprNodeDesc]() { add(null) }
    )
    val texts = Vector(
      "deep not" -> nested(40000)(not),
      "deep or" -> nested(40000)(or),
      "cut" -> right.take(right.length / 2),
      "no children" -> SerializationUtilities.serializeExpression(bare),
      "nulls" -> SerializationUtilities.serializeExpression(nulls)
    ) ++ Vector(250, 500, 1000, 2000, 4000).flatMap(n =>
      Vector(s"$n not" -> nested(n * 2)(not), s"$n or" -> nested(n)(or))
    ) ++ Vector("", "x", "AAAA", "/////w==", "AQEBAQEB" * 50).map(t => t -> t)
    texts.foreach { case (what, text) => assert(shown(table, "hive.io.filter.expr.serialized" -> text) === all, what) }
  }

  for (name <- Seq("v9-cow-part", "v9-mor-part"))
    test(s"$name: whatever an index version says, rows are right") {
      val (table, folder) = indexed(name)
      val all = shown(table, "hudiidx.index.enabled" -> "false")
      val store = new IndexStore(LocalStorage, folder.toString)
      val honest = store.current() match {
        case Current.Found(found, _) => found
        case other                   => fail(s"$other")
      }
      val file = folder.resolve("versions").resolve(f"${honest.number}%020d.json")
      val names = (IndexVersion.Numbers.keySet ++ IndexVersion.Words.keySet ++ honest.properties.keySet).toVector.sorted
      val texts = NumberSites.hostile ++ Vector(
        "n\n" * 1000,
        "`=" + "upper(" * 5000,
        "range(" * 5000,
        "\u0000../..",
        "n,fare;bloom(",
        "[" * 5000
      )
      val forged = for (property <- names; text <- texts) yield property -> text
      val every = if (TestSettings.isLong) 1 else 4
      for (((property, text), n) <- forged.zipWithIndex if n % every == 0) withClue(s"$property=${text.take(40)}: ") {
        Files.write(file, IndexVersion.encode(honest.copy(properties = honest.properties + (property -> text))))
        assert(shown(table, HivePredicates.pushed(wide)) === all)
      }
      for (property <- names) withClue(s"without $property: ") {
        Files.write(file, IndexVersion.encode(honest.copy(properties = honest.properties - property)))
        assert(shown(table, HivePredicates.pushed(wide)) === all)
      }
    }
}
