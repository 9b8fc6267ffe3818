package hudiidx.table

import hudiidx.UnsupportedTable

/** Tables whose rows can be read, and by whom. */
object ReadableRows {

  /** UnsupportedTable if not all rows are in the table's own files, or these are not Parquet. A table of several formats is told
    * by its files.
    */
  def check(config: TableConfig): Unit = {
    config.bootstrapBasePath.foreach { source =>
      throw UnsupportedTable.having(
        config.file,
        s"the table was bootstrapped from $source",
        "its rows are partly there",
        "use stock Hudi for this table"
      )
    }
    if (config.baseFileFormat != "PARQUET")
      throw UnsupportedTable.having(
        config.file,
        s"the table's base files are ${config.baseFileFormat}",
        "rows are read from Parquet alone",
        "use stock Hudi for its rows (option view=files, partitions or timeline works here)"
      )
  }

  /** For who knows columns by the names that files have for them. UnsupportedTable if those are not the table's.
    *
    * @param table   its base path
    * @param renamed columns as of [[SchemaHistory.renamed]]
    * @param instead what to do, behind "read the table with Spark"
    */
  def requireNamesOfFiles(table: String, renamed: Seq[String], instead: String = ""): Unit =
    if (renamed.nonEmpty)
      throw new UnsupportedTable(
        s"$table: columns were renamed, or dropped and added again (${renamed.mkString(", ")}), so that files are not to be read by " +
          s"the names in them; read the table with Spark$instead"
      )
}
