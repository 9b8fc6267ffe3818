package hudiidx

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{FileSystemException, Files, InvalidPathException, Path}
import java.time.ZoneOffset

import hudiidx.column._
import hudiidx.command.CommandLine
import hudiidx.column.expression.{ExpressionGrowth, ExpressionText, ExpressionTree}
import hudiidx.log.{EventSequence, OrderingValue}
import hudiidx.manifest.FilePage
import hudiidx.record.{HashRange, RecordFileName}
import hudiidx.storage.LocalStorage
import hudiidx.store.{Coverage, Current, IndexStore, IndexVersion, ScanRecord, TableIdentity}
import hudiidx.sync.{BuildProgress, OptionDoc, OptionKind, TableContext}
import hudiidx.table.{FileEntry, FileKind, FileName, HudiType, TableConfig}
import hudiidx.table.query.{IncrementalQuery, QueryInstant}
import hudiidx.timeline.InstantTime
import org.scalatest.funsuite.AnyFunSuite

/** Numbers in names and stored texts may be forged: an error of ours names them, or what they stand in counts for nothing. */
class NumbersSuite extends AnyFunSuite {
  import NumbersSuite._

  test("every place in core and engine that makes a number of a text has an entry here, and takes any text") {
    val found = NumberSites.in(classOf[IndexVersion]) ++ NumberSites.in(classOf[TableContext])
    assert(found === sites.keySet ++ ofOurOwn.keySet)
    sites.foreach { case (name, site) => NumberSites.take(name, site) }
  }

  test("whole numbers are plain decimal digits within their bounds") {
    def of(text: String, most: Long = Long.MaxValue) = WholeNumber.of(text, most)
    assert(Seq("0", "7", "007", "00000000000000000000", "999999999999999999").map(of(_)).forall(_.isDefined))
    assert(of("00000000000000000012").contains(12L))
    assert(of("8", 7).isEmpty && of("7", 7).contains(7L))
    Seq("", "-1", "+1", " 1", "1 ", "\u0663", "1000000000000000000", "9" * 30, "1e3").foreach(t =>
      assert(of(t).isEmpty, t)
    )
  }

  test("types of columns are those that engines have: no text of one is a number of a thousand digits") {
    assert(ColumnType.of("decimal(38,38)").contains(ColumnType.Decimal(38, 38)))
    val bad = Seq("(39,1)", "(5,6)", "(0,0)", "(-1,0)", "(99999999999,1)", "(5,999999999)", "(5)", "(,)", "(\u0663,1)")
    bad.foreach(t => assert(ColumnType.of("decimal" + t).isEmpty, t))
  }

  test("a version file with a number that no version has counts for nothing, and takes no other's place") {
    val store = new IndexStore(LocalStorage, Fixtures.newFolder("hudiidx-numbers").toString)
    assert(store.publish(version(1)))
    val folder = Path.of(store.dir, "versions")
    Seq("99999999999999999999", "09223372036854775807", "01000000000000000000").foreach { n =>
      Files.write(folder.resolve(n + ".json"), "{}".getBytes(UTF_8))
    }
    assert(store.versionNumbers() === Vector(1L))
    assert(store.publish(version(store.nextNumber())))
    store.current() match {
      case Current.Found(found, reasons) => assert(found.number === 2L && reasons.isEmpty)
      case other                         => fail(other.toString)
    }
  }

  test("behind the last number no version is published, where nobody would find it") {
    val store = new IndexStore(LocalStorage, Fixtures.newFolder("hudiidx-numbers").toString)
    assert(store.publish(version(1)))
    val last = Path.of(store.dir, "versions", "00999999999999999999.json")
    Files.write(last, "{}".getBytes(UTF_8))
    val e = intercept[DamagedIndex](store.publish(version(store.nextNumber())))
    assert(e.getMessage.contains(last.toString))
    Files.delete(last)
    assert(store.publish(version(store.nextNumber())))
  }

  test("behind an instant that none can follow there is none: a write would be lost") {
    def next(last: String) = InstantTime.next(last, 0L, ZoneOffset.UTC)
    Seq("99991231235959999", "99999999999999999", "9" * 40).foreach { last =>
      assert(intercept[DamagedTable](next(last)).getMessage.contains(last))
    }
    Seq("", "0", "99991231235959998", "00000000000001", "20261399000000000").foreach { last =>
      assert(next(last) > last && next(last).forall(Character.isDigit), last)
    }
  }

  test("a recorded scan with numbers that no scan has is none") {
    def record(at: String, metric: String) =
      ScanRecord.decode(
        s"""{"at_millis":$at,"reads":"","filters":[],"metrics":{"filesKept":$metric}}""".getBytes(UTF_8)
      )
    assert(record("5", "7").map(r => r.atMillis -> r.metrics("filesKept")).contains(5L -> 7L))
    val bad = Seq("-1", "1.5", "1e99", "9223372036854775807", "9" * 40, "\"7\"", "{}", "null")
    bad.foreach(n => assert(record(n, "7").isEmpty && record("5", n).isEmpty, n))
  }
}

object NumbersSuite {

  private def version(number: Long, properties: (String, String)*): IndexVersion =
    IndexVersion(
      number,
      TableIdentity("t", "COPY_ON_WRITE"),
      Coverage("", Vector.empty, Vector.empty),
      Vector.empty,
      properties.toMap,
      8L,
      "w"
    )

  /** An index folder with a file of this name, where a disk takes it. */
  private def folder(name: String): IndexStore = {
    val dir = Fixtures.newFolder("hudiidx-numbers")
    Files.createDirectories(dir.resolve("versions"))
    try Files.write(dir.resolve(name), Array.emptyByteArray): Unit
    catch { case _: InvalidPathException | _: FileSystemException => () }
    new IndexStore(LocalStorage, dir.toString)
  }

  private def constants(value: String): Unit =
    Seq("int", "bigint", "date", "timestamp", "timestamp_ntz", "interval", "interval day to second", "decimal(5,2)")
      .foreach { dataType =>
        val tree = ExpressionTree.Call("space", Vector(ExpressionTree.Constant(dataType, Some(value))))
        ExpressionGrowth.of(tree)
        ColumnExpression.shown(ColumnExpression(ExpressionText.of(tree), Vector(ColumnExpression.Form -> "2")).path)
      }

  private def page(text: String): Any = {
    val file = FileEntry("p", "f", text, text, FileKind.Parquet, 0, 1L)
    FilePage.encode(Array(file), 0, 1)
  }

  private def table(text: String): Seq[Any] =
    Seq("hoodie.table.version", "hoodie.table.initial.version", "hoodie.timeline.layout.version").map { name =>
      try TableConfig.of("/t/.hoodie/hoodie.properties", Map("hoodie.table.version" -> "8", name -> text))
      catch { case e: HudiIdxException => assert(e.getMessage.contains("/t/.hoodie/hoodie.properties")) }
    }

  private val option = OptionDoc("hudiidx.test", OptionKind.IntRange(0), "0", "for a test")

  private val sites: Map[String, String => Any] = Map(
    "hudiidx.DecimalText" -> (DecimalText.rounded(_, 10, 2)),
    "hudiidx.WholeNumber" -> (WholeNumber.of(_, Long.MaxValue)),
    "hudiidx.column.BloomKind" -> (t => BloomKind.falsePositives(Map(BloomKind.FalsePositives -> t))),
    "hudiidx.command.CommandLine" -> (t => CommandLine.parse(Array("expire", "/t", "--retain-last", t))),
    "hudiidx.column.ColumnType" -> (t => ColumnType.of(s"decimal($t,$t)")),
    "hudiidx.column.expression.ExpressionFunctions" -> (constants(_)),
    "hudiidx.column.expression.ExpressionSql" -> (constants(_)),
    "hudiidx.column.expression.ExpressionText" -> (t => ExpressionText.parse("[string]\"\\u" + t + "\"")),
    "hudiidx.column.ValuesKind" -> (t => ValuesKind.most(Map(ValuesKind.Most -> t))),
    "hudiidx.table.HudiType" -> (t => HudiType.schemaOf(s"VECTOR($t)", "v")),
    "hudiidx.log.EventSequence" -> { t =>
      def value(of: String) = OrderingValue.ofUtf8(of.getBytes(UTF_8))
      EventSequence.olderStays(value(s"$t.$t"), value("1.2"))
    },
    "hudiidx.manifest.FilePageEncoder" -> (page(_)),
    "hudiidx.record.HashRange" -> (t => HashRange.ofName(s"$t-$t")),
    "hudiidx.record.RecordFileName" -> (t => RecordFileName.firstOrdinal(s"$t.x")),
    "hudiidx.store.IndexStore" -> (t => folder(s"versions/$t.json").versionNumbers()),
    "hudiidx.sync.BuildProgress" -> (t => BuildProgress.running(folder(s"$t.0abc.$t.building").list(), None, 0L)),
    "hudiidx.sync.OptionDoc" -> (t => option.whole(Map(option.name -> t))),
    "hudiidx.table.FileName" -> (t => FileName.parse("p", s".f_1.log.${t}_$t-$t-$t", 1L)),
    "hudiidx.table.query.IncrementalQuery" -> (IncrementalQuery.dayBefore(_)),
    "hudiidx.TextCast" -> { t =>
      import PlainType._
      Seq(Bool, Int32, Int64, Float32, Float64, Date, Decimal(10, 2), Decimal(38, 38)).foreach(TextCast.of(t, _))
    },
    "hudiidx.table.query.QueryInstant" -> (QueryInstant.parse("option", _)),
    "hudiidx.table.TypedProperties" -> (table(_)),
    // Names of a timeline's files are digits.
    "hudiidx.timeline.InstantTime" -> { t =>
      InstantTime.toMillis(t, ZoneOffset.UTC)
      InstantTime.next(t.filter(c => c >= '0' && c <= '9'), 0L, ZoneOffset.UTC)
    }
  )

  /** No stored text reaches these. */
  private val ofOurOwn: Map[String, String] = Map(
    "hudiidx.write.Beating" -> "names that writers have from this process",
    "hudiidx.Widening" -> "texts of floats, which files hold as floats"
  )
}
