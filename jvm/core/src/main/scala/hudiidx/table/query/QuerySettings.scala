package hudiidx.table.query

/** Names of what a query may be asked with, in Spark and Hive alike; those of stock Hudi are its own. */
object QuerySettings {
  val QueryType = "hoodie.datasource.query.type"
  val Snapshot = "snapshot"
  val ReadOptimized = "read_optimized"

  val SchemaOnRead = "hoodie.schema.on.read.enable"
  val AsOfInstant = "as.of.instant"
  val MergeRelease = "hudiidx.read.merge.release"
}
