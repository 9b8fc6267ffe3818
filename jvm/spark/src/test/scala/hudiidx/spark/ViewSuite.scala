package hudiidx.spark

import com.fasterxml.jackson.databind.JsonNode
import hudiidx.Fixtures
import hudiidx.spark.options.ViewCall
import hudiidx.spark.pinned.SharedTable
import hudiidx.sync.IndexOptions

/** Views as DataFrames, on both table types. */
final class ViewSuite extends SparkSuite {
  private val tables =
    Vector("v6-cow-replace", "v6-mor-part", "v8-mor-part", "v9-mor-part", "v9-mor-event", "v9-cow-complex")

  private def strings(node: JsonNode): Vector[String] = {
    val found = Vector.newBuilder[String]
    node.forEach(n => found += n.asText)
    found.result()
  }

  tables.foreach { name =>
    test(s"$name: partitions are stock Hudi's") {
      val stock = strings(Fixtures.json(name).get("listing").get("partitions"))
      val found = read(Fixtures.table(name), "view" -> "partitions").collect().map(_.getString(0)).toVector
      assert(found.sorted === stock.sorted)
    }

    test(s"$name: every view call on the table equals the same call on each partition") {
      val shared = SharedTable.open(spark, Fixtures.table(name), IndexOptions())
      ViewCall.All.foreach { call =>
        val expected = shared.view.partitions.flatMap(p => call.rows(shared.view, p, None)).size
        val found = read(Fixtures.table(name), "view" -> call.name)
        assert(found.schema === call.schema)
        withClue(call.name)(assert(found.collect().length === expected))
      }
    }

    test(s"$name: the timeline has an instant for each of stock Hudi's") {
      val found = read(Fixtures.table(name), "view" -> "timeline")
      assert(found.count() === Fixtures.json(name).get("active_timeline").size)
    }
  }
}
