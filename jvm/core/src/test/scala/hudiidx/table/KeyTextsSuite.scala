package hudiidx.table

import hudiidx.TableFormats
import hudiidx.log.{KeyValueKind, RecordKeyForm}
import org.scalatest.funsuite.AnyFunSuite

/** Record keys follow from values for those key generators alone whose texts are known. */
class KeyTextsSuite extends AnyFunSuite {
  private val Class = "hoodie.table.keygenerator.class"
  private val Type = "hoodie.table.keygenerator.type"

  private def config(version: Int, fields: String, more: (String, String)*): TableConfig = TableConfig.of(
    "hoodie.properties",
    Map("hoodie.table.name" -> "t", "hoodie.table.version" -> version.toString) ++
      Some(fields).filter(_.nonEmpty).map("hoodie.table.recordkey.fields" -> _) ++ more
  )

  private def keys(version: Int, fields: String, more: (String, String)*): Either[String, Set[String]] =
    KeyTexts.of(config(version, fields, more: _*)).map(_.ofSingle(Set("5")))

  private val names = for {
    g <- KeyGenerator.All
    name <- g.classes.map(c => Class -> (KeyGenerator.Package + c)) ++
      Vector(Type -> g.kind, Type -> (g.kind + "_AVRO"), Type -> g.kind.toLowerCase)
  } yield (g, name)

  test("every generator on the list has its text, by class and by type, Avro's twin too") {
    for ((generator, name) <- names; version <- TableFormats.versions) {
      val expected = if (generator.mayName) Set("5", "id:5") else Set("5")
      assert(keys(version, "id", name) === Right(expected), name)
      val several = KeyTexts.of(config(version, "id,sub", name)).toOption.get
      assert(several.forms === Vector(RecordKeyForm(Vector("id", "sub"), named = true, timestamps = false)), name)
    }
  }

  test("other generators, and none, have no known keys, and the reason names them") {
    val others = Vector(
      Type -> "AUTO_RECORD",
      Type -> "AUTO_RECORD_AVRO",
      Type -> "HOODIE_TABLE_METADATA",
      Type -> "SPARK_SQL",
      Type -> "SPARK_SQL_UUID",
      Type -> "SPARK_SQL_MERGE_INTO",
      Type -> "USER_PROVIDED",
      Type -> "STREAMER_TEST",
      Class -> "org.apache.spark.sql.hudi.command.SqlKeyGenerator",
      Class -> "org.apache.spark.sql.hudi.command.UuidKeyGenerator",
      Class -> "org.apache.hudi.keygen.AutoRecordGenWrapperKeyGenerator",
      Class -> "org.apache.hudi.metadata.HoodieTableMetadataKeyGenerator",
      Class -> "com.example.SimpleKeyGenerator",
      Class -> "com.example.ComplexKeyGenerator",
      Class -> "org.apache.hudi.keygen.simplekeygenerator"
    )
    for (name <- others; fields <- Vector("id", "id,sub"); version <- TableFormats.versions) {
      val why = KeyTexts.of(config(version, fields, name)).left.toOption.get
      assert(why.contains(name._2), name)
      assert(config(version, fields, name).recordKeyForm === None, name)
    }
    assert(KeyTexts.of(config(9, "id")).left.toOption.get.contains("names no key generator"))
    assert(KeyTexts.of(config(9, "", Type -> "SIMPLE")).left.toOption.get.contains("names no key fields"))
  }

  test("a class wins over a type") {
    assert(keys(9, "id", Class -> "com.example.Own", Type -> "SIMPLE").isLeft)
    assert(
      keys(9, "id", Class -> (KeyGenerator.Package + "SimpleKeyGenerator"), Type -> "USER_PROVIDED") === Right(Set("5"))
    )
  }

  test("of two forms the first is that of the table's version and settings; virtual keys have one") {
    def named(version: Int, kind: String, more: (String, String)*): Vector[Boolean] =
      KeyTexts.of(config(version, "id", (Type -> kind) +: more: _*)).toOption.get.forms.map(_.named)
    assert(named(9, "COMPLEX") === Vector(true, false))
    assert(named(9, "COMPLEX", RecordKeyForm.PlainSingleField -> "true") === Vector(true, false))
    assert(named(8, "COMPLEX") === Vector(false, true) && named(6, "GLOBAL_DELETE") === Vector(false, true))
    assert(named(6, "COMPLEX", RecordKeyForm.PlainSingleField -> "false") === Vector(true, false))
    assert(named(9, "CUSTOM") === Vector(false))
    val virtual = "hoodie.populate.meta.fields" -> "false"
    assert(named(9, "COMPLEX", virtual) === Vector(true) && named(6, "COMPLEX", virtual) === Vector(false))
  }

  test("values whose text differs by writer, operation or setting make no key; dates have Flink's text too") {
    val texts = KeyTexts.of(config(9, "a,b", Type -> "COMPLEX")).toOption.get
    def forms(kind: KeyValueKind) = texts.of(Vector("a" -> KeyValueKind.Text, "b" -> kind))
    Vector(KeyValueKind.Text, KeyValueKind.Whole, KeyValueKind.Truth, KeyValueKind.Exact).foreach { kind =>
      assert(forms(kind) === Right(texts.forms))
    }
    assert(forms(KeyValueKind.Date).toOption.get.map(_.numberedDays) === Vector(false, true))
    Vector(KeyValueKind.Instant, KeyValueKind.Floating, KeyValueKind.Binary, KeyValueKind.Other).foreach { kind =>
      assert(forms(kind).left.toOption.get.startsWith("column b: the text of"))
    }
  }
}
