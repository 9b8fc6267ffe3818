package hudiidx.sync

import hudiidx.manifest.EncodedPartition
import hudiidx.storage.{Fault, FaultyStorage, LocalStorage}
import hudiidx.table.TableListing
import java.nio.file.Files
import java.nio.file.attribute.FileTime
import org.scalatest.funsuite.AnyFunSuite

class BuildProgressSuite extends AnyFunSuite {
  import IndexerSuite._

  private def info(table: FakeTable): IndexInfo = IndexInfo.of(accessOf(LocalStorage), table.path, IndexOptions())

  private def tableOf(partitions: Int)(use: FakeTable => Unit): Unit = withTable(9) { table =>
    table.write((0 until partitions).map(i => FakeWrite(f"p$i%02d", -1, isLog = false, 10)), complete = true)
    use(table)
  }

  /** Calls `look` before each partition. */
  private def looking(look: () => Unit): PartitionScanner = new PartitionScanner {
    override def scan(listing: TableListing, entriesPerPage: Int): Iterator[EncodedPartition] =
      LocalScanner.scan(listing, entriesPerPage).map { p =>
        look()
        p
      }
  }

  test("while a create runs info is BUILDING with a percentage, over an older index too, and READY behind it") {
    tableOf(20) { table =>
      (0 until 2).foreach { _ =>
        var seen = Vector.empty[(String, String)]
        val scanner = looking { () =>
          val i = info(table)
          seen :+= i.state -> i.reason
        }
        new Indexer(accessOf(LocalStorage), table.path, IndexOptions(), scanner).create()
        assert(seen === Vector.tabulate(20)(n => IndexInfo.Building -> s"${n / 2 * 10} %"))
        assert(info(table).state === IndexInfo.Ready)
        assert(!indexFiles(table).exists(_.endsWith(".building")))
      }
    }
  }

  test("readers pass markers over, and those of a killed create fade with time or with the next version") {
    tableOf(4) { table =>
      val dying = new FaultyStorage(LocalStorage, 6, Fault.Before)
      intercept[hudiidx.IndexNotWritable](new Indexer(accessOf(dying), table.path, IndexOptions()).create())
      assert(info(table).state === IndexInfo.Building && info(table).reason === "50 %")
      checkAgainstListing(accessOf(LocalStorage), table, IndexOptions())
      val markers =
        indexFiles(table).filter(_.endsWith(".building")).map(table.dir.resolve(".hoodie/hudiidx").resolve(_))
      val old = FileTime.fromMillis(System.currentTimeMillis() - BuildProgress.MaxSilenceMillis - 1000)
      val fresh = FileTime.fromMillis(System.currentTimeMillis())
      markers.foreach(Files.setLastModifiedTime(_, old))
      assert(info(table).state === IndexInfo.Absent)
      markers.foreach(Files.setLastModifiedTime(_, fresh))
      new Indexer(accessOf(LocalStorage), table.path, IndexOptions()).create()
      assert(markers.forall(Files.exists(_)) && info(table).state === IndexInfo.Ready)
      checkAgainstListing(accessOf(LocalStorage), table, IndexOptions(strict = true))
    }
  }

  test("a create that fails takes its markers with it") {
    tableOf(3) { table =>
      val failing = looking(() => throw new IllegalStateException("stop"))
      intercept[IllegalStateException](
        new Indexer(accessOf(LocalStorage), table.path, IndexOptions(), failing).create()
      )
      assert(indexFiles(table) === Set.empty && info(table).state === IndexInfo.Absent)
    }
  }
}
