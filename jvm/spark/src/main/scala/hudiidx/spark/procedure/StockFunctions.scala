package hudiidx.spark.procedure

import hudiidx.InvalidOption

/** Stock Hudi's table functions, by name, with what gives the same here: a call says so, where Spark would say that there is no such
  * function.
  */
object StockFunctions {
  private val search =
    "there is none here: order the table's rows by a distance of the vectors, which are arrays, or ask in a session of stock Hudi"

  /** Those of all releases. */
  val Instead: Map[String, String] = Map(
    "hudi_query" -> ("select from the table by its name or path; for read_optimized and incremental set option " +
      "hoodie.datasource.query.type of spark.read, or call hudiidx_changes(table, begin, end)"),
    "hudi_table_changes" -> ("call hudiidx_changes(table, begin, end) for the rows that were written; for changes of records set option " +
      "hoodie.datasource.query.incremental.format=cdc of spark.read"),
    "hudi_query_timeline" -> "select from <table>.timeline, or set option view=timeline of spark.read",
    "hudi_filesystem_view" -> "select from <table>.files, or set option view=all_file_slices of spark.read",
    "hudi_metadata" -> ("select from <table>.files, <table>.partitions, <table>.record_index or <table>.column_stats, which show what the " +
      "index holds"),
    "hudi_vector_search" -> search,
    "hudi_vector_search_batch" -> search
  )

  /** By whom each is told. */
  private[procedure] def refused(name: String): Nothing = throw new InvalidOption(
    s"$name: a table function of stock Hudi's session, which is not loaded here; ${Instead(name)}"
  )

  /** Where stock's bundle is: its names are left to it, since of two functions of one name a session keeps the later. */
  private[procedure] def areStocks: Boolean =
    getClass.getClassLoader.getResource("org/apache/spark/sql/hudi/HoodieSparkSessionExtension.class") != null
}
