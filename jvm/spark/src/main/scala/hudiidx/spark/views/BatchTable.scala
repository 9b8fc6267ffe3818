package hudiidx.spark.views

import java.util

import hudiidx.Texts
import org.apache.spark.sql.connector.catalog.{SupportsRead, Table, TableCapability}
import org.apache.spark.sql.types.StructType

/** Something that can be read as a whole, and no more.
  *
  * @param streams it can be read as a stream too
  */
abstract class BatchTable(title: String, val struct: StructType, streams: Boolean = false)
    extends Table
    with SupportsRead {
  final override def name(): String = Texts.shown(title)

  final override def schema(): StructType = struct

  final override def capabilities(): util.Set[TableCapability] =
    if (streams) util.EnumSet.of(TableCapability.BATCH_READ, TableCapability.MICRO_BATCH_READ)
    else util.EnumSet.of(TableCapability.BATCH_READ)
}
