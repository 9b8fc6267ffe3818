package hudiidx.hive

import hudiidx.Fixtures
import hudiidx.spark.SparkSuite
import org.apache.spark.sql.SparkSession

/** Suites that share one small Spark session with Hive's classes. */
abstract class HiveSuite extends SparkSuite {
  override lazy val spark: SparkSession = HiveSuite.session
}

object HiveSuite {

  /** With a metastore in memory that goes away with the JVM. */
  private lazy val session: SparkSession = {
    val folder = Fixtures.newFolder("hive")
    System.setProperty("derby.stream.error.file", folder.resolve("derby.log").toString)
    val made = SparkSuite.builder
      .config("spark.sql.warehouse.dir", folder.resolve("warehouse").toString)
      .config("spark.hadoop.javax.jdo.option.ConnectionURL", "jdbc:derby:memory:hudiidx;create=true")
      .config("spark.hadoop.datanucleus.schema.autoCreateAll", "true")
      .config("spark.hadoop.hive.metastore.schema.verification", "false")
      .config("spark.hadoop.hive.exec.scratchdir", folder.resolve("scratch").toString)
      .enableHiveSupport()
    SparkSuite.quiet(made)
  }
}
