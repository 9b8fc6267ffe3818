package hudiidx.spark.procedure

import hudiidx.InvalidOption
import hudiidx.spark.{EveryStatement, SparkSuite}
import org.apache.spark.sql.AnalysisException

/** Table functions of stock Hudi's sessions; `test_reader_names.py` has the names of its releases. */
final class StockFunctionsSuite extends SparkSuite {
  private def sql(text: String) = EveryStatement.session.sql(text)

  test("a call of one is refused with what to use here, wherever it stands") {
    assert(StockFunctions.Instead.size === 7)
    for ((name, instead) <- StockFunctions.Instead; called <- Seq(name, name.toUpperCase)) {
      Seq(
        s"SELECT * FROM $called('t', 'x') AS f",
        s"SELECT id FROM given_rows WHERE id IN (SELECT id FROM $called('t'))",
        s"WITH c AS (SELECT * FROM $called('t')) SELECT * FROM c"
      ).foreach { statement =>
        val said = intercept[InvalidOption](sql(statement)).getMessage
        assert(said.startsWith(s"$name: ") && said.endsWith(instead), statement)
      }
    }
  }

  test("other names are Spark's") {
    assert(intercept[AnalysisException](sql("SELECT * FROM hudi_queries('t')")).getMessage.contains("hudi_queries"))
  }
}
