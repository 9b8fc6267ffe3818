package hudiidx.hive

import java.util.Properties

import scala.collection.JavaConverters._

import hudiidx.Fixtures
import org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe
import org.apache.hadoop.hive.serde2.objectinspector.{ObjectInspector, ObjectInspectorUtils, StructObjectInspector}
import org.apache.hadoop.io.{ArrayWritable, Writable}
import org.apache.hadoop.mapred.JobConf
import org.scalatest.funsuite.AnyFunSuite

/** Rows as Hive's own object inspectors see them, with the columns and fields that Hive asks for. */
final class HiveSerDeSuite extends AnyFunSuite {
  private val names = "id,qty,c_struct,c_map,c_dec38,c_date,c_bin_raw"
  private val types =
    "string:int:struct<x:int,y:struct<z:string,d:decimal(10,2)>>:map<string,double>:decimal(38,10):date:binary"

  private def job(table: String, settings: (String, String)*): JobConf =
    HiveTables.job(Seq(Fixtures.table(table)), Seq("columns" -> names, "columns.types" -> types) ++ settings: _*)

  /** Each row's columns as Java objects, by name. */
  private def read(job: JobConf): Vector[Map[String, Any]] = {
    val properties = new Properties
    Seq("columns", "columns.types").foreach(n => properties.setProperty(n, job.get(n)))
    Vector(new ParquetHiveSerDe, new HudiIdxSerDe)
      .map { serde =>
        serde.initialize(job, properties)
        val inspector = serde.getObjectInspector.asInstanceOf[StructObjectInspector]
        HiveTables.rows(job).map { row =>
          val value = serde.deserialize(new ArrayWritable(classOf[Writable], row))
          inspector.getAllStructFieldRefs.asScala
            .map { f =>
              val field = f.getFieldObjectInspector
              val found =
                ObjectInspectorUtils.copyToStandardJavaObject(inspector.getStructFieldData(value, f), field) match {
                  case bytes: Array[Byte] => bytes.toSeq
                  case other              => other
                }
              f.getFieldName -> found
            }
            .toMap[String, Any]
        }
      }
      .reduce { (hives, ours) =>
        assert(hives.map(_.toString) === ours.map(_.toString))
        ours
      }
  }

  test("all columns, and some, the others null") {
    val all = read(job("v9-mor-types"))
    assert(all.length === 117)
    assert(all.exists(_("c_struct") != null) && all.exists(_("c_bin_raw") != null) && all.exists(_("c_dec38") != null))
    val some = read(
      job("v9-mor-types", "hive.io.file.read.all.columns" -> "false", "hive.io.file.readcolumn.ids" -> "0,3")
    )
    assert(some.map(r => (r("id"), r("c_map").toString)) === all.map(r => (r("id"), r("c_map").toString)))
    assert(some.forall(r => Seq("qty", "c_struct", "c_dec38", "c_date", "c_bin_raw").forall(r(_) == null)))
  }

  test("no columns at all still gives a row for each") {
    val none = HiveTables.rows(
      job("v9-mor-part", "hive.io.file.read.all.columns" -> "false", "hive.io.file.readcolumn.ids" -> "")
    )
    assert(none.length === 387 && none.forall(_.forall(_ == null)))
  }

  /** One field, as Hive evaluates `c_struct.y.d`: the others may not be looked at. */
  private def picked(job: JobConf, path: String*): Vector[Option[String]] = {
    val properties = new Properties
    Seq("columns", "columns.types").foreach(n => properties.setProperty(n, job.get(n)))
    val serde = new ParquetHiveSerDe
    serde.initialize(job, properties)
    HiveTables.rows(job).map { row =>
      val start = (serde.getObjectInspector, serde.deserialize(new ArrayWritable(classOf[Writable], row)))
      Option(
        path
          .foldLeft[(ObjectInspector, Any)](start) { case ((inspector: StructObjectInspector, value), name) =>
            val field = inspector.getStructFieldRef(name)
            (field.getFieldObjectInspector, inspector.getStructFieldData(value, field))
          }
          ._2
      ).map(_.toString)
    }
  }

  test("fields of structs that Hive's optimizer picks are those that the inspector finds") {
    val whole = job("v9-mor-types")
    def some(paths: String): JobConf = job("v9-mor-types", "hive.io.file.readNestedColumn.paths" -> paths)
    val field = Seq("c_struct", "y", "d")
    assert(picked(whole, field: _*).flatten.nonEmpty)
    assert(picked(some("id,c_struct.y.d"), field: _*) === picked(whole, field: _*))
    assert(picked(some("c_struct.y"), field: _*) === picked(whole, field: _*))
    assert(picked(some("c_struct"), field: _*) === picked(whole, field: _*))
    assert(picked(some("c_struct.y.d,c_struct.x"), "c_struct", "x") === picked(whole, "c_struct", "x"))
    assert(picked(some("id"), "c_map") === picked(whole, "c_map"))
  }
}
