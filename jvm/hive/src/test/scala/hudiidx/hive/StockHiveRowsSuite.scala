package hudiidx.hive

import java.nio.{ByteBuffer, ByteOrder}

import scala.collection.JavaConverters._

import hudiidx.spark.Answer
import hudiidx.table.query.QuerySettings
import hudiidx.{Fixtures, HudiIdxException, InvalidOption, UnsupportedTable}
import org.apache.hadoop.io._
import org.apache.spark.sql.types.{DataType, StructType}

/** Rows of every fixture through the input format are stock Hudi's: snapshot, base files alone, and as of instants. */
final class StockHiveRowsSuite extends HiveSuite {
  private val readOptimized = QuerySettings.QueryType -> "read_optimized"

  private val tables = Fixtures.good.filter { n =>
    Fixtures.json(n).has("schema") && !Fixtures.mergedByHudi(n)
  }

  private def answer(name: String, settings: (String, String)*): Answer = {
    val schema = DataType.fromJson(Fixtures.json(name).get("schema").toString).asInstanceOf[StructType]
    val columns = ReadSettings.Columns -> ReadSettings.json(schema.fieldNames.toSeq)
    val rows = HiveTables.rows(HiveTables.job(Seq(Fixtures.table(name)), settings :+ columns: _*))
    Answer.of(HiveTables.frame(spark, schema, rows))
  }

  test("there are tables of every version and type") {
    for (version <- Seq("v6-", "v8-", "v9-"); kind <- Seq("COPY_ON_WRITE", "MERGE_ON_READ"))
      assert(tables.exists(n => n.startsWith(version) && Fixtures.json(n).get("table_type").asText == kind))
  }

  private val always = Vector("new-slash-sql-mor", "new-slash-str-cow")

  (Fixtures.sampled(this, tables) ++ always).distinct.foreach { name =>
    test(s"$name: rows are stock Hudi's") {
      Answer.expect(Fixtures.json(name).get("snapshot"), answer(name))
      // Stock leaves times in the arrays of the other one as they are, see TimestampLabelsReadSuite.
      if (Fixtures.json(name).has("read_optimized") && name != "v9-relabelled-mor")
        withClue("read_optimized: ")(
          Answer.expect(Fixtures.json(name).get("read_optimized"), answer(name, readOptimized))
        )
    }
  }

  (Vector("v6-mor-part", "v8-savepoint-restore", "v9-mor-part", "v9-cow-replace") ++ always).foreach { name =>
    test(s"$name: rows as of each instant are stock Hudi's, and refused where stock refuses") {
      Fixtures.json(name).get("time_travel").forEach { point =>
        val asOf = point.get("as_of").asText
        def found = answer(name, QuerySettings.AsOfInstant -> asOf)
        if (point.has("error")) assert(intercept[HudiIdxException](found).getMessage.contains(asOf))
        else withClue(s"as of $asOf: ")(Answer.expect(point, found))
      }
    }
  }

  Vector("v9-vectors-cow", "v9-vectors-mor").foreach { name =>
    test(s"$name: vectors are arrays of their numbers, and their bytes where Hive's table has a binary") {
      Answer.expect(Fixtures.json(name).get("snapshot"), answer(name))
      def found(types: String): Vector[Array[Writable]] = HiveTables.rows(
        HiveTables.job(Seq(Fixtures.table(name)), "columns" -> "id,vf,vd,vi", "columns.types" -> types)
      )
      val declared = found("string:array<float>:array<double>:array<tinyint>")
      val bytes = found("string:binary:binary:binary")
      assert(declared.size === bytes.size && declared.exists(_(2) == null) && declared.exists(_(2) != null))
      declared.zip(bytes).foreach { case (numbers, kept) =>
        assert(numbers(0) === kept(0))
        (1 to 3).foreach { i =>
          if (numbers(i) == null) assert(kept(i) == null)
          else {
            val all = numbers(i).asInstanceOf[ArrayWritable].get
            val out = ByteBuffer.allocate(all.length * 8).order(ByteOrder.LITTLE_ENDIAN)
            all.foreach {
              case v: FloatWritable  => out.putFloat(v.get)
              case v: DoubleWritable => out.putDouble(v.get)
              case v: IntWritable    => out.put(v.get.toByte)
            }
            assert(kept(i).asInstanceOf[BytesWritable].copyBytes === out.array.take(out.position()))
          }
        }
      }
      val wrong = intercept[UnsupportedTable](found("string:array<date>:binary:binary"))
      assert(wrong.getMessage.contains("vf"))
    }
  }

  Vector("v6-operation-mor", "v9-operation-mor", "v9-operation-cow").foreach { name =>
    test(s"$name: the meta column of operations has stock Hudi's values") {
      val columns = ReadSettings.Columns -> ReadSettings.json(Seq("_hoodie_record_key", "_hoodie_operation"))
      val found = HiveTables.rows(HiveTables.job(Seq(Fixtures.table(name)), columns)).map { row =>
        row(0).toString -> Option(row(1)).map(_.toString)
      }
      val stock = Fixtures.json(name).get("operations").get("snapshot").elements.asScala.map { row =>
        row.get(0).asText -> Option(row.get(1).asText(null))
      }
      assert(found.sorted === stock.toVector.sorted)
    }
  }

  test("the other format gives the rows of base files alone") {
    val name = "v9-mor-part"
    val schema = DataType.fromJson(Fixtures.json(name).get("schema").toString).asInstanceOf[StructType]
    val rows = HiveTables.rows(HiveTables.job(Seq(Fixtures.table(name))), 1, new HudiIdxReadOptimizedInputFormat)
    Answer.expect(Fixtures.json(name).get("read_optimized"), Answer.of(HiveTables.frame(spark, schema, rows)))
  }

  test("rows that a payload class of its own merges are refused by its name; base files alone are stock Hudi's rows") {
    val name = "v9-mor-payload"
    val refused = intercept[UnsupportedTable](answer(name))
    assert(refused.getMessage.contains("org.apache.hudi.common.model.HoodieAvroPayload"))
    Answer.expect(Fixtures.json(name).get("read_optimized"), answer(name, readOptimized))
  }

  test("settings that are none are refused by their names") {
    val table = Seq(Fixtures.table("v9-cow-part"))
    Vector(
      QuerySettings.QueryType -> "incremental",
      ReadSettings.Columns -> """["id", "nothing"]""",
      ReadSettings.Keys -> "k1,k2",
      QuerySettings.MergeRelease -> "0.14",
      QuerySettings.AsOfInstant -> "yesterday"
    ).foreach { setting =>
      val refused = intercept[InvalidOption](HiveTables.rows(HiveTables.job(table, setting)))
      assert(refused.getMessage.contains(setting._1))
    }
    val virtual = HiveTables.job(Seq(Fixtures.table("v9-virtual-cow")), ReadSettings.Keys -> """["k"]""")
    assert(intercept[InvalidOption](HiveTables.rows(virtual)).getMessage.contains("hoodie.populate.meta.fields"))
  }
}
