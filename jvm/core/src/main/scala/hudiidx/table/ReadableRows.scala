package hudiidx.table

import hudiidx.UnsupportedTable

/** Tables whose rows can be read. */
object ReadableRows {

  /** UnsupportedTable if not all rows are in the table's own files, or these are not Parquet. A table of several formats is told
    * by its files.
    */
  def check(config: TableConfig): Unit = {
    config.bootstrapBasePath.foreach { source =>
      throw new UnsupportedTable(
        s"${config.file}: the table was bootstrapped from $source and its rows are partly there; read it with Hudi"
      )
    }
    if (config.baseFileFormat != "PARQUET")
      throw new UnsupportedTable(
        s"${config.file}: the table's base files are ${config.baseFileFormat}, only Parquet can be read; read it with Hudi " +
          "(option view=files, partitions or timeline works here)"
      )
  }
}
