package hudiidx.engine

import hudiidx.Fixtures
import hudiidx.hfile.BlockCache
import hudiidx.storage.{CountingStorage, LocalStorage}
import hudiidx.sync.TableContext
import org.scalatest.funsuite.AnyFunSuite

/** A table at one moment. */
final class TableContextSuite extends AnyFunSuite {

  for (name <- Seq("v6-operation-cow", "v9-operation-mor", "v9-cow-part"))
    test(s"$name: the schema of a moment is read once, that of another instant by itself") {
      val storage = new CountingStorage(LocalStorage)
      val table = TableContext.load(Tables.access(storage, new BlockCache(0)), Fixtures.table(name))
      def calls(asOf: Option[String]): Long = {
        storage.reset()
        assert(table.schema(asOf).get.hasOperation === name.contains("operation"))
        storage.counts.open
      }
      assert(calls(None) > 0)
      assert(calls(None) === 0)
      val last = Some(table.newestInstant)
      assert(calls(last) > 0)
      assert(calls(last) === 0)
      assert(table.schema(last) === table.schema())
    }
}
