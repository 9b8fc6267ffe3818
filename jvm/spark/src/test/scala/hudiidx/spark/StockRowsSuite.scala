package hudiidx.spark

import hudiidx.{Fixtures, HudiIdxException, UnsupportedTable}
import hudiidx.table.HudiType
import org.apache.spark.sql.types.{DataType, Metadata, MetadataBuilder, StructType}

/** Rows, columns and time travel of every copy-on-write fixture are stock Hudi's. */
final class StockRowsSuite extends StockRows("COPY_ON_WRITE")

/** And of every merge-on-read fixture, where a query of the base files alone is compared too. */
final class StockMergedRowsSuite extends StockRows("MERGE_ON_READ") {

  /** Stock leaves times in its arrays as they are: TimestampLabelsReadSuite, and `UNREPAIRED` of tests/compare.py. */
  private val unrepaired = "v9-relabelled-mor"

  Fixtures.sampled(this, tables.filterNot(_ == unrepaired), oneOf = 3).foreach { name =>
    test(s"$name: a read-optimized query has stock Hudi's rows") {
      val found = Answer.of(read(Fixtures.table(name), "hoodie.datasource.query.type" -> "read_optimized"))
      Answer.expect(Fixtures.json(name).get("read_optimized"), found)
    }
  }

  test("rows that a payload class of its own merges are refused by its name; base files alone are stock Hudi's rows") {
    // The second lets the lesser ordering value win.
    val payloads =
      Seq("v9-mor-payload" -> "HoodieAvroPayload", "new-reverse-payload" -> "ReverseOrderHoodieRecordPayload")
    for ((name, payload) <- payloads) {
      val refused = intercept[UnsupportedTable](read(Fixtures.table(name)).count())
      assert(refused.getMessage.contains(s"org.apache.hudi.common.model.$payload"))
      val found = Answer.of(read(Fixtures.table(name), "hoodie.datasource.query.type" -> "read_optimized"))
      Answer.expect(Fixtures.json(name).get("read_optimized"), found)
    }
  }
}

abstract class StockRows(tableType: String) extends SparkSuite {

  protected val tables: Vector[String] =
    Fixtures.good.filter { n =>
      val answers = Fixtures.json(n)
      answers.path("table_type").asText == tableType && answers.has("schema") && !Fixtures.mergedByHudi(n)
    }

  /** Of what stock's columns bear, that which makes columns of Hudi's own types of them. */
  private def mark(of: Metadata): Metadata =
    if (!of.contains(HudiType.MetadataKey)) Metadata.empty
    else new MetadataBuilder().putString(HudiType.MetadataKey, of.getString(HudiType.MetadataKey)).build()

  test("there are tables of every version") {
    assert(Seq("v6-", "v8-", "v9-").forall(v => tables.exists(_.startsWith(v))))
  }

  /** Of both types, folders of dates with slashes, whatever the sample is. */
  private val always = tables.filter(_.startsWith("new-slash-"))

  (Fixtures.sampled(this, tables, oneOf = 3) ++ always).distinct.foreach { name =>
    test(s"$name: columns are stock Hudi's in name, type, order and nullability") {
      val stock = DataType.fromJson(Fixtures.json(name).get("schema").toString).asInstanceOf[StructType]
      assert(read(Fixtures.table(name)).schema === StructType(stock.map(f => f.copy(metadata = mark(f.metadata)))))
    }

    test(s"$name: the snapshot's rows are stock Hudi's") {
      Answer.expect(Fixtures.json(name).get("snapshot"), Answer.of(read(Fixtures.table(name))))
    }

    test(s"$name: rows as of each instant are stock Hudi's, and refused where stock refuses") {
      Fixtures.json(name).get("time_travel").forEach { point =>
        val asOf = point.get("as_of").asText
        def answer = Answer.of(read(Fixtures.table(name), "as.of.instant" -> asOf))
        if (point.has("error")) assert(intercept[HudiIdxException](answer).getMessage.contains(asOf))
        else withClue(s"as of $asOf: ")(Answer.expect(point, answer))
      }
    }

    test(s"$name: filters give stock Hudi's counts") {
      Fixtures.json(name).get("filters").forEach { f =>
        val where = f.get("where").asText
        withClue(s"$where: ")(assert(read(Fixtures.table(name)).where(where).count() === f.get("count").asLong))
      }
    }
  }
}
