package hudiidx.spark.write

import hudiidx.spark.HudiIdxSource
import org.apache.spark.sql.sources.{BaseRelation, CreatableRelationProvider}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{DataFrame, SQLContext, SaveMode}

/** The data source `hudiidx`: what it reads, and `df.write.format("hudiidx").save(path)`. */
final class HudiIdxFormat extends HudiIdxSource with CreatableRelationProvider {

  override def createRelation(
      context: SQLContext,
      mode: SaveMode,
      options: Map[String, String],
      rows: DataFrame
  ): BaseRelation = {
    SaveTable.run(context.sparkSession, mode, options, rows)
    new WrittenRelation(context, rows.schema)
  }
}

/** What a write leaves to Spark. */
final private class WrittenRelation(val sqlContext: SQLContext, val schema: StructType) extends BaseRelation
