package hudiidx.spark.catalog

/** Spark 3.5's catalogs have no procedures: `CALL` goes through the parser of our extension. */
trait CatalogProcedures
