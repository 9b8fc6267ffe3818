package hudiidx.spark.command

import hudiidx.NumberSites
import hudiidx.column.expression.ExpressionTree
import hudiidx.spark.HudiIdxSource
import hudiidx.spark.prune.ExpressionTypes
import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

/** As `NumbersSuite`, of what Spark's sessions read. */
class SparkNumbersSuite extends AnyFunSuite {

  private val types =
    Seq("boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal(5,2)", "decimal(38,0)") ++
      Seq(
        "date",
        "timestamp",
        "timestamp_ntz",
        "binary",
        "string",
        "interval",
        "interval year to month",
        "interval day to second"
      )

  private def constants(text: String): Any =
    (types.map(ExpressionTree.Constant(_, Some(text))) :+ ExpressionTree.Constant(s"decimal($text,$text)", Some("1")))
      .map(ExpressionTypes.literal)

  private def filters(text: String): Any = {
    val filter = new PlainFilter(StructType.fromDDL("a INT, b DOUBLE, c BIGINT, d TINYINT"), "UTC")
    for (column <- Seq("a", "b", "c", "d")) yield filter.parse(s"$column = $text")
  }

  private val sites: Map[String, String => Any] = Map(
    "hudiidx.spark.prune.ExpressionTypes" -> (constants(_)),
    "hudiidx.spark.command.PlainFilter" -> (filters(_)),
    "hudiidx.spark.command.PlainTokens" -> (filters(_))
  )

  /** Texts of numbers, which files hold as numbers; and one that is caught where it stands. */
  private val ofNumbers = Set(
    "hudiidx.spark.prune.TextFunctions",
    "hudiidx.spark.prune.TypeBridge"
  )

  test("every place that makes a number of a text has an entry here, and takes any text") {
    assert(NumberSites.in(classOf[HudiIdxSource]) === sites.keySet ++ ofNumbers)
    sites.foreach { case (name, site) => NumberSites.take(name, site) }
  }
}
