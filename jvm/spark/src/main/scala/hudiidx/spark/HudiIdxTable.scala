package hudiidx.spark

import java.util

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog.{SupportsRead, Table, TableCapability}
import org.apache.spark.sql.connector.read.ScanBuilder
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** Something that can be read as a whole, and no more. */
abstract class BatchTable(title: String, val struct: StructType) extends Table with SupportsRead {
  final override def name(): String = title

  final override def schema(): StructType = struct

  final override def capabilities(): util.Set[TableCapability] = util.EnumSet.of(TableCapability.BATCH_READ)
}

/** The rows of a table as of one moment; every scan of it reads the same files. */
final class HudiIdxTable(spark: SparkSession, table: PinnedTable)
    extends BatchTable(s"${HudiIdxSource.Name} ${table.path}", table.schema.struct) {

  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = new HudiIdxScanBuilder(spark, table)
}
