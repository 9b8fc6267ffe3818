package hudiidx.hive

import hudiidx.NumberSites
import hudiidx.rows.ValueType._
import org.scalatest.funsuite.AnyFunSuite

/** As `NumbersSuite`, of the reader for Hive. */
class HiveNumbersSuite extends AnyFunSuite {

  private val sites: Map[String, String => Any] = Map(
    "hudiidx.hive.TableColumns" -> { t =>
      Seq(Int32, Int64, Float32, Float64, Bool, Date, Decimal(10, 2), Decimal(38, 38)).foreach(
        TableColumns.valueOf(t, _)
      )
    }
  )

  test("every place that makes a number of a text has an entry here, and takes any text") {
    assert(NumberSites.in(classOf[HudiIdxSplit]) === sites.keySet)
    sites.foreach { case (name, site) => NumberSites.take(name, site) }
    assert(TableColumns.valueOf(" 1.50 ", Decimal(10, 2)).contains(new java.math.BigDecimal("1.50")))
  }
}
