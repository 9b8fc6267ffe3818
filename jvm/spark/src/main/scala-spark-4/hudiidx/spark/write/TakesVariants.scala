package hudiidx.spark.write

import org.apache.spark.sql.sources.CreatableRelationProvider
import org.apache.spark.sql.types.{DataType, VariantType}

/** A source whose writes take variants too: Spark asks before it hands over rows. */
trait TakesVariants extends CreatableRelationProvider {
  override def supportsDataType(dataType: DataType): Boolean =
    dataType.isInstanceOf[VariantType] || super.supportsDataType(dataType)
}
