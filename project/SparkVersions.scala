/** One row per Spark line: what it is built with, and the folders of shims it takes. */
final case class SparkLine(spark: String, scala: String, hadoop: String, parquet: String, avro: String, jackson: String, zstd: String, shims: Seq[String]) {

  /** The short form used in jar names: `3.5`. */
  def short: String = spark.split('.').take(2).mkString(".")
}

object SparkVersions {
  val Spark35: SparkLine =
    SparkLine("3.5.9", "2.12.18", "3.3.4", "1.13.1", "1.11.4", "2.15.2", "1.5.5-4", Seq("scala-spark-3.5"))

  /** The line that `build/sbt` builds; `-Dhudiidx.spark=<short>` picks another. */
  def selected: SparkLine = sys.props.getOrElse("hudiidx.spark", "3.5") match {
    case "3.5" => Spark35
    case other => sys.error(s"hudiidx.spark=$other is not a known Spark line; known: 3.5")
  }
}
