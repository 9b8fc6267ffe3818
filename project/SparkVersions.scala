/** One row per Spark line: what it is built with, and the folders of shims it takes. */
final case class SparkLine(spark: String, scala: String, hadoop: String, parquet: String, avro: String, jackson: String, zstd: String, shims: Seq[String]) {

  /** The short form used in jar names: `3.5`. */
  def short: String = spark.split('.').take(2).mkString(".")
}

object SparkVersions {
  val Spark35: SparkLine =
    SparkLine("3.5.9", "2.12.18", "3.3.4", "1.13.1", "1.11.4", "2.15.2", "1.5.5-4", Seq("spark-3.5", "spark-until-4.0", "spark-until-4.1"))
  val Spark40: SparkLine =
    SparkLine("4.0.1", "2.13.16", "3.4.1", "1.15.2", "1.12.0", "2.18.2", "1.5.6-9", Seq("spark-4", "spark-until-4.0", "spark-until-4.1"))
  val Spark41: SparkLine =
    SparkLine("4.1.1", "2.13.17", "3.4.2", "1.16.0", "1.12.1", "2.20.0", "1.5.7-6", Seq("spark-4", "spark-from-4.1", "spark-until-4.1"))
  val Spark42: SparkLine =
    SparkLine("4.2.0", "2.13.18", "3.5.0", "1.17.0", "1.12.1", "2.21.2", "1.5.7-7", Seq("spark-4", "spark-from-4.1", "spark-from-4.2"))

  val Lines: Seq[SparkLine] = Seq(Spark35, Spark40, Spark41, Spark42)

  /** The line that `build/sbt` builds; `-Dhudiidx.spark=<short>` picks another. */
  def selected: SparkLine = {
    val short = sys.props.getOrElse("hudiidx.spark", Spark35.short)
    Lines.find(_.short == short).getOrElse {
      sys.error(s"hudiidx.spark=$short is not a known Spark line; known: ${Lines.map(_.short).mkString(", ")}")
    }
  }
}
