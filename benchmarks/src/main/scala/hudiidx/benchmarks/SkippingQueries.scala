package hudiidx.benchmarks

import hudiidx.column._
import hudiidx.column.segment.{ColumnIndex, ColumnSelection}
import hudiidx.hfile.BlockCache
import hudiidx.store.IndexStore
import hudiidx.store.IndexVersion

/** A selective condition on the table of RFC-27's shape, opened anew and warm. */
private final class SkippingQueries(data: SkippingData, report: Report, repeats: Int) {

  def run(store: IndexStore, version: IndexVersion): Unit = {
    def select(index: ColumnIndex): ColumnSelection = {
      val set = new ValueSet.Longs(Array(1772323200000000L), Array(1772323200000000L + 60000000L))
      index.select(ColumnCondition.In(data.column(1).path, nulls = false, _ => Some(set)))
    }
    report.median(
      "one condition",
      "table",
      "cold",
      Skipping.timed(repeats) {
        val index = ColumnIndex.open(store, version, new BlockCache(64L << 20))
        try select(index)
        finally index.close()
      }
    )
    val index = ColumnIndex.open(store, version, new BlockCache(64L << 20))
    try report.median("one condition", "table", "warm", Skipping.timed(repeats * 5)(select(index)))
    finally index.close()
  }
}
