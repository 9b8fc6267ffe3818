package hudiidx.spark.write

import org.apache.spark.sql.sources.CreatableRelationProvider

/** A source whose writes take variants, which Spark has from 4.0 on. */
trait TakesVariants extends CreatableRelationProvider
