package hudiidx.spark

import hudiidx.Fixtures
import hudiidx.spark.api.HudiIdxApi
import org.apache.logging.log4j.Level

import scala.collection.JavaConverters._

/** One index folder that two tables are given. */
final class SharedIndexFolderSuite extends SparkSuite {
  test("a creation in the folder of another table's index says whose index goes") {
    val index = Fixtures.newFolder("index").resolve("i").toString
    def api(fixture: String) = new HudiIdxApi(spark, Fixtures.copy(fixture), Map("hudiidx.index.path" -> index).asJava)
    def told(deed: => Any): Seq[String] = LogLines.of(Level.WARN)(deed).filter(_.contains(s"$index held an index of "))
    val one = api("v9-mor-part")
    val other = api("v6-cow-part")
    assert(told(one.create()).isEmpty && told(one.create()).isEmpty)
    assert(told(other.create()).map(_.contains("(MERGE_ON_READ), which goes")) === Seq(true))
    assert(told(one.update()).map(_.contains("(COPY_ON_WRITE), which goes")) === Seq(true))
  }
}
