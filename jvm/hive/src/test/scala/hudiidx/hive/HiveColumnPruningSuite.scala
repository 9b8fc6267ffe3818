package hudiidx.hive

import java.nio.file.{Files, Paths}
import java.sql.{Date => SqlDate, Timestamp => SqlTimestamp}

import hudiidx.engine.column.ColumnPart
import hudiidx.engine.{Tables, TimelineCut}
import hudiidx.hfile.BlockCache
import hudiidx.rows.{AvroValues, ValueType}
import hudiidx.log.AvroFieldPlan
import hudiidx.storage.LocalStorage
import hudiidx.sync._
import hudiidx.sync.build.Indexer
import hudiidx.{Fixtures, HudiIdxException, TestSettings}
import org.apache.hadoop.hive.common.`type`.HiveDecimal
import org.apache.hadoop.hive.ql.plan.ExprNodeDesc
import org.apache.hadoop.hive.ql.udf.generic._
import org.apache.hadoop.io.Writable
import org.apache.hadoop.mapred.JobConf
import org.scalacheck.{Gen, Shrink}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Bounds of columns leave files out by predicates of Hive's, and no row of which Hive says that it satisfies them. */
final class HiveColumnPruningSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import HiveColumnPruningSuite._
  import HivePredicates.{call, column, constant}

  private implicit val predicatesStay: Shrink[ExprNodeDesc] = Shrink(_ => Stream.empty)

  private val sampled =
    Vector("v6-cow-types", "v9-mor-types", "v9-mor-event", "v9-moved-mor", "v9-partial-updates", "v9-mor-evolution")
  private val tables = if (TestSettings.allFixtures) withRows else TestSettings.some(2)(sampled)

  for (name <- tables)
    test(s"$name: of random predicates the rows are those without an index, one that is behind, and a fresh one") {
      val table = Fixtures.copy(name)
      val timeline = new TimelineCut(table)
      val hive = new HiveTable(table)
      timeline.showFirst(math.max(1, timeline.size * 2 / 3))
      val isBehind = TableContext.load(access, table).timeline.start.isDefined
      if (isBehind) indexer(table).create()
      timeline.showAll()
      if (isBehind) splitsLeftOut(hive)
      if (isBehind) indexer(table).update() else indexer(table).create()
      // Of some tables few predicates leave anything out.
      val leaveOut = Iterator.fill(12)(splitsLeftOut(hive)).exists(_ > 0)
      assert(HiveTables.splits(hive.job()).length <= 1 || leaveOut)
    }

  private def splitsLeftOut(hive: HiveTable): Int = {
    val whole = HiveTables.splits(hive.job()).length
    var leftOut = 0
    forAll(hive.predicates, minSuccessful(if (TestSettings.isLong) 200 else 15)) { predicate =>
      val job = hive.job(IndexOptions.Strict -> "true", HivePredicates.pushed(predicate))
      val splits = HiveTables.splits(job)
      leftOut += whole - splits.length
      val read = splits.flatMap(HiveTables.rowsOf(_, job))
      assert(hive.shown(read, predicate) === hive.shown(hive.all, predicate), predicate.getExprString)
    }
    leftOut
  }

  test("of a table with bounds only splits that may have a row are made") {
    val table = Fixtures.copy("v9-cow-part")
    indexer(table).create()
    val hive = new HiveTable(table)
    val fares = hive.all.map(r => hive.rows.value(r, "fare").asInstanceOf[Double]).sorted
    val fare = column("fare", "double")
    def more(than: Double) = call(new GenericUDFOPGreaterThan, ">", fare, constant(than, "double"))
    def splits(predicate: ExprNodeDesc) = HiveTables.splits(hive.job(HivePredicates.pushed(predicate))).length
    val whole = HiveTables.splits(hive.job()).length
    assert(splits(more(fares.head - 1)) === whole)
    assert(splits(more(fares.last - 0.001)) < whole)
    assert(splits(more(fares.last + 1)) === 0)
    assert(splits(call(new GenericUDFOPNull, "isnull", fare)) === 0)
    val between = call(
      new GenericUDFBetween,
      "between",
      constant(false, "boolean"),
      fare,
      constant(-2.0, "double"),
      constant(-1, "int")
    )
    assert(splits(between) === 0)
    assert(splits(call(new GenericUDFOPNot, "not", between)) === whole)
    assert(splits(call(new GenericUDFOPOr, "or", between, more(fares.last - 0.001))) < whole)
    assert(splits(call(new GenericUDFOPAnd, "and", more(fares.head - 1), between)) === 0)
    // Hive's own partition columns are its metastore's.
    val own = new org.apache.hadoop.hive.ql.plan.ExprNodeColumnDesc(fare.getTypeInfo, "fare", "t", true)
    assert(splits(call(new GenericUDFOPGreaterThan, ">", own, constant(fares.last + 1, "double"))) === whole)
  }

  test("a column file that cannot be read leaves nothing out, and is DamagedIndex in strict mode") {
    val table = Fixtures.copy("v9-cow-part")
    indexer(table).create()
    val folder = Paths.get(table, ".hoodie/hudiidx")
    Fixtures.filesBelow(folder.toString).filter(_.contains("column")).foreach { file =>
      val bytes = Files.readAllBytes(folder.resolve(file))
      Files.write(folder.resolve(file), bytes.map(b => (b ^ 0x5a).toByte))
    }
    val hive = new HiveTable(table)
    val none = HivePredicates.pushed(
      call(new GenericUDFOPLessThan, "<", column("fare", "double"), constant(-1.0, "double"))
    )
    assert(HiveTables.rows(hive.job(none)).length === hive.all.length)
    intercept[HudiIdxException](HiveTables.rows(hive.job(none, IndexOptions.Strict -> "true")))
  }
}

private object HiveColumnPruningSuite {
  import HivePredicates.{call, column, constant}

  /** Fixtures that can be read and have rows. */
  def withRows: Vector[String] =
    Fixtures.good.filterNot(n => Fixtures.mergedByHudi(n) || n.endsWith("-props-only") || n.endsWith("-zero-rows"))

  def access: TableAccess = Tables.access(LocalStorage, new BlockCache(4 << 20))

  def indexer(table: String): Indexer = {
    val a = access
    val part = new ColumnPart(new LocalEngine(a), ColumnOptions(range = Some("*")))
    new Indexer(a, table, IndexOptions(source = "listing"), LocalScanner, Vector(part))
  }

  /** A Hudi table as Hive would declare it, and predicates over its columns. */
  final class HiveTable(table: String) {
    private val fields: Vector[ValueType.Field] = {
      val snapshot = TableSnapshot.open(access, table, IndexOptions(enabled = false))
      try {
        val schema = snapshot.table.schema().get
        val read = new AvroValues(table, defaults = true).of(AvroFieldPlan.parse(schema.avroJson, table))
        read.valueType.asInstanceOf[ValueType.Struct].fields.filter(_.valueType != ValueType.Nothing)
      } finally snapshot.close()
    }
    private val types: Map[String, String] = fields.map(f => f.name -> ValueType.show(f.valueType)).toMap

    def job(settings: (String, String)*): JobConf = {
      val columns = Seq(
        "columns" -> fields.map(_.name).mkString(","),
        "columns.types" -> fields.map(f => types(f.name)).mkString(":")
      )
      HiveTables.job(Seq(table), columns ++ settings: _*)
    }

    val rows = new HiveRows(job())
    val all: Vector[Array[Writable]] = HiveTables.rows(job(IndexOptions.Enabled -> "false"))

    def shown(of: Seq[Array[Writable]], predicate: ExprNodeDesc): Vector[String] =
      rows.satisfying(of, predicate).map(_.mkString("|")).sorted.toVector

    private val plain = fields.filter(f => Constants.isPlain(f.valueType)).map(_.name)

    /** Of the column, or not far from it. */
    private def near(name: String): Gen[ExprNodeDesc] = for {
      row <- Gen.oneOf(all)
      value = rows.value(row, name)
      near <- if (value == null) Gen.const(null) else Constants.near(value)
    } yield constant(near, Constants.typeOf(near, types(name)))

    private def leaf: Gen[ExprNodeDesc] = for {
      name <- Gen.oneOf(plain)
      of = column(name, types(name))
      values <- Gen.listOfN(3, near(name))
      alike = values.filter(_.getTypeString == types(name))
      made <- Gen.oneOf(
        Gen.oneOf(Comparisons).flatMap { case (f, sign) =>
          Gen.oneOf(Seq(of, values.head), Seq(values.head, of)).map(call(f(), sign, _: _*))
        },
        Gen.oneOf(true, false).map { inverted =>
          call(new GenericUDFBetween, "between", Seq(constant(inverted, "boolean"), of) ++ values.take(2): _*)
        },
        Gen.const(
          if (alike.isEmpty) call(new GenericUDFOPNull, "isnull", of) else call(new GenericUDFIn, "in", of +: alike: _*)
        ),
        Gen.const(call(new GenericUDFOPNull, "isnull", of)),
        Gen.const(call(new GenericUDFOPNotNull, "isnotnull", of))
      )
    } yield made

    def predicates: Gen[ExprNodeDesc] = predicates(2)

    private def predicates(depth: Int): Gen[ExprNodeDesc] =
      if (depth == 0) leaf
      else {
        val inner = predicates(depth - 1)
        Gen.frequency(
          2 -> leaf,
          1 -> inner.map(call(new GenericUDFOPNot, "not", _)),
          2 -> Gen.zip(inner, inner).map { case (a, b) => call(new GenericUDFOPAnd, "and", a, b) },
          2 -> Gen.zip(inner, inner).map { case (a, b) => call(new GenericUDFOPOr, "or", a, b) }
        )
      }
  }

  private val Comparisons: Vector[(() => GenericUDF, String)] = Vector(
    (() => new GenericUDFOPEqual, "="),
    (() => new GenericUDFOPNotEqual, "<>"),
    (() => new GenericUDFOPLessThan, "<"),
    (() => new GenericUDFOPEqualOrLessThan, "<="),
    (() => new GenericUDFOPGreaterThan, ">"),
    (() => new GenericUDFOPEqualOrGreaterThan, ">="),
    (() => new GenericUDFOPEqualNS, "<=>")
  )

  private object Constants {
    def isPlain(of: ValueType): Boolean = of match {
      case _: ValueType.Struct | _: ValueType.Items | _: ValueType.Entries => false
      case _: ValueType.Numbers | ValueType.Binary                         => false
      case _                                                               => true
    }

    def typeOf(value: Any, column: String): String = value match {
      case null                => column
      case _: Integer          => "int"
      case _: java.lang.Long   => "bigint"
      case _: java.lang.Float  => "float"
      case _: java.lang.Double => "double"
      case d: HiveDecimal      =>
        if (column.startsWith("decimal")) column else s"decimal(${math.max(d.precision, d.scale)},${d.scale})"
      case _ => column
    }

    /** The value, or one beside it, numbers in other types too. */
    def near(value: Any): Gen[Any] = value match {
      case n: Number =>
        val wide = n.doubleValue
        val whole =
          if (math.abs(wide) < 1e9) Seq[Any](Int.box(wide.toInt), Long.box(wide.toLong + 1))
          else Seq[Any](Long.box(n.longValue))
        Gen.oneOf(Seq[Any](n, wide, wide + 0.5, Math.nextUp(wide)) ++ whole)
      case d: HiveDecimal  => Gen.oneOf(Seq[Any](d, Int.box(d.intValue), d.doubleValue))
      case text: String    => Gen.oneOf(text, text + "a", text.dropRight(1))
      case d: SqlDate      => Gen.oneOf(d, new SqlDate(d.getTime - 86400000L))
      case t: SqlTimestamp => Gen.oneOf(t, new SqlTimestamp(t.getTime + 1))
      case other           => Gen.const(other)
    }
  }
}
