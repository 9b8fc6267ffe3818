package hudiidx.engine

import hudiidx.hfile.BlockCache
import hudiidx.storage.LocalStorage
import hudiidx.sync._
import hudiidx.sync.build.Indexer
import hudiidx.table.{SlicesOfSizes, StockAnswers}
import hudiidx.{DamagedTable, Fixtures, StaleIndex}
import org.scalatest.funsuite.AnyFunSuite

/** Laws 1, 2 and 4 on every table that stock Hudi wrote: the index gives stock's listing whether it is fresh, made at any
  *  instant and then stale, or was led through the whole timeline step by step.
  */
class FixtureIndexSuite extends AnyFunSuite {
  private val strict = IndexOptions(strict = true, source = "listing")

  private val withoutMetadata = scala.collection.mutable.Set.empty[String]

  for (name <- Fixtures.sampled(this)) {
    test(
      s"$name: a fresh index gives stock's partitions, files and views, made from a listing or from the metadata table"
    ) {
      val table = Fixtures.copy(name)
      indexer(table).create()
      compareWithStock(name, table)
      val fromMetadata = strict.copy(source = "metadata")
      val metadata =
        try { new Indexer(access, table, fromMetadata).create(); true }
        catch { case _: StaleIndex => false }
      if (metadata) {
        compareWithStock(name, table)
        compareWithListing(table)
      } else withoutMetadata += name
    }

    test(
      s"$name: an index made at any instant and stale since then gives them too, and so does one updated in one go"
    ) {
      val table = Fixtures.copy(name)
      val timeline = new TimelineCut(table)
      (0 to timeline.size).foreach { n =>
        timeline.showFirst(n)
        // Where a later clean has removed files that this instant still needs, the table as of it is damaged.
        val made =
          try { indexer(table).create(); true }
          catch { case _: DamagedTable => false }
        timeline.showAll()
        if (made) {
          compareWithListing(table)
          if (n % 4 == 0) {
            compareWithStock(name, table)
            indexer(table).update()
            assert(IndexInfo.of(access, table, strict).state === IndexInfo.Ready)
            compareWithStock(name, table)
          }
        }
      }
    }

    test(s"$name: an index of the empty table, updated at every instant from metadata alone, ends as stock's listing") {
      val table = Fixtures.copy(name)
      val timeline = new TimelineCut(table)
      timeline.showFirst(0)
      indexer(table).create()
      (1 to timeline.size).foreach { n =>
        timeline.showFirst(n)
        indexer(table).update()
      }
      timeline.showAll()
      indexer(table).update()
      compareWithStock(name, table)
      compareWithListing(table)
    }
  }

  test("nearly all tables have a metadata table in step, so that the test above means something") {
    assert(withoutMetadata.size < Fixtures.good.size / 3, withoutMetadata.toVector.sorted)
  }

  private def access: TableAccess = Tables.access(LocalStorage, new BlockCache(4 << 20))

  private def indexer(table: String): Indexer = new Indexer(access, table, strict)

  private def compareWithListing(table: String): Unit = {
    val (indexed, listed) =
      (TableSnapshot.open(access, table, strict), TableSnapshot.open(access, table, strict.copy(enabled = false)))
    try {
      assert(Verifier.compare(indexed.source, listed.source).differences === Vector.empty)
      listed.view.partitions.foreach { p =>
        assert(indexed.view.latestMergedFileSlices(p) === listed.view.latestMergedFileSlices(p))
        SlicesOfSizes.check(indexed.view, p)
      }
    } finally { indexed.close(); listed.close() }
  }

  private def compareWithStock(name: String, table: String): Unit = {
    val snapshot = TableSnapshot.open(access, table, strict)
    try StockAnswers.compare(name, snapshot.source, snapshot.view)
    finally snapshot.close()
  }
}
