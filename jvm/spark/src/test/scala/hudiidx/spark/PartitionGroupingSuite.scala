package hudiidx.spark

import hudiidx.Fixtures
import hudiidx.spark.api.HudiIdxApi
import hudiidx.spark.plan.PartitionGrouping
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.connector.read.HasPartitionKey
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.functions.{broadcast, expr}

/** Tables that are partitioned alike are joined, and grouped by their partitions, without a shuffle: where Spark is set so. */
final class PartitionGroupingSuite extends SparkSuite {
  private val Bucketing = "spark.sql.sources.v2.bucketing.enabled"

  private def within[A](settings: (String, String)*)(body: => A): A = {
    settings.foreach { case (k, v) => spark.conf.set(k, v) }
    try body
    finally settings.foreach { case (k, _) => spark.conf.unset(k) }
  }

  /** Several tasks read a table, and joins shuffle. */
  private val many = Vector(
    "spark.sql.autoBroadcastJoinThreshold" -> "-1",
    "spark.sql.adaptive.enabled" -> "false",
    "spark.sql.files.maxPartitionBytes" -> "20000",
    "spark.sql.files.openCostInBytes" -> "0",
    Bucketing -> "false" // as it is by default until Spark 4.1
  )

  private def rows(frame: DataFrame): Vector[String] = frame.collect().map(_.toString).toVector.sorted

  private def shuffles(frame: DataFrame): Int =
    frame.queryExecution.executedPlan.collect { case s: ShuffleExchangeExec => s }.length

  private def sums(table: String): DataFrame = read(table).groupBy("city").agg(expr("sum(qty)"), expr("avg(n)"))

  private def joined(a: String, b: String): DataFrame = {
    val (left, right) = (read(a).select("city", "n"), read(b).select("city", "qty"))
    left.join(right, "city").groupBy("city").agg(expr("count(*)"), expr("sum(n + qty)"))
  }

  for (name <- Vector("v9-cow-part", "v6-mor-part", "v9-mor-part"))
    test(s"$name: joins and groupings by partition columns need no shuffle, and give the same") {
      val table = Fixtures.copy(name)
      new HudiIdxApi(spark, table, java.util.Map.of()).create()
      val other = Fixtures.table("v9-cow-part")
      val (grouped, together) = (rows(sums(table)), rows(joined(table, other)))
      within(many: _*) {
        assert(shuffles(sums(table)) > 0 && shuffles(joined(table, other)) > 0)
        within(Bucketing -> "true") {
          assert(shuffles(sums(table)) === 0 && shuffles(joined(table, other)) === 0)
          assert(rows(sums(table)) === grouped && rows(joined(table, other)) === together)
          // Values that stand on one side alone.
          within("spark.sql.sources.v2.bucketing.pushPartValues.enabled" -> "true") {
            val some = joined(table, other).where("city <> 'sf'")
            assert(rows(some) === together.filterNot(_.startsWith("[sf,")))
            val left = read(table).where("city <> 'sf'").join(read(other).select("city", "ts"), "city")
            assert(rows(left.groupBy("city").count()) === rows(left.groupBy("city").count().repartition(3)))
          }
        }
      }
      assert(together.nonEmpty)
    }

  test("two levels of partitions, nulls and escaped values among them") {
    val table = Fixtures.table("v9-cow-complex")
    def grouped: DataFrame = read(table).groupBy("region", "kind").agg(expr("max(struct(*))").as("m")).select("m.*")
    val wanted = rows(grouped)
    within(many :+ (Bucketing -> "true"): _*) {
      assert(rows(grouped) === wanted)
      assert(shuffles(grouped) === 0)
    }
  }

  test("values that a join finds while it runs leave the other partitions' tasks empty") {
    val table = Fixtures.table("v9-cow-part")
    val names = read(table).where("city in ('sf', 'oslo') and qty >= 0").select(expr("city as name")).distinct()
    def found: DataFrame =
      read(table).join(broadcast(names), expr("city = name")).groupBy("city").agg(expr("sum(qty)"))
    val wanted = rows(found)
    within(Bucketing -> "true")(assert(rows(found) === wanted))
    assert(wanted.length === 2)
  }

  test(
    "nothing is grouped where it is off, without the columns, under a limit, or where one task would have most of the work"
  ) {
    val table = Fixtures.table("v9-cow-part")
    def isKeyed(frame: DataFrame): Boolean = {
      val scan = frame.queryExecution.sparkPlan.collectFirst { case b: BatchScanExec => b.scan }.get
      scan.toBatch.planInputPartitions().forall(_.isInstanceOf[HasPartitionKey])
    }
    within(Bucketing -> "false")(assert(!isKeyed(read(table))))
    within(Bucketing -> "true") {
      assert(isKeyed(read(table)))
      assert(!isKeyed(read(table).select("qty")) && !isKeyed(read(table).limit(3)))
      assert(
        !isKeyed(
          read(
            table,
            "hoodie.datasource.query.type" -> "incremental",
            "hoodie.datasource.read.begin.instanttime" -> "000"
          )
        )
      )
      within("spark.sql.files.maxPartitionBytes" -> "1000", "spark.sql.files.minPartitionNum" -> "100") {
        assert(!isKeyed(read(table)))
        within(
          "spark.sql.sources.v2.bucketing.pushPartValues.enabled" -> "true",
          "spark.sql.sources.v2.bucketing.partiallyClusteredDistribution.enabled" -> "true"
        )(assert(isKeyed(read(table))))
      }
    }
    assert(PartitionGrouping.isBalanced(Vector(50, 40, 60), cores = 2, usualBytes = 10))
    assert(!PartitionGrouping.isBalanced(Vector(50, 40, 600), cores = 8, usualBytes = 10))
    assert(PartitionGrouping.isBalanced(Vector(50, 40, 600), cores = 8, usualBytes = 1000))
    assert(PartitionGrouping.isBalanced(Vector.empty, cores = 8, usualBytes = 10))
  }
}
