package hudiidx.sync

import hudiidx.manifest.EncodedPartition
import hudiidx.storage.{Fault, FaultyStorage, LocalStorage}
import hudiidx.store.{IndexFile, IndexVersion}
import hudiidx.sync.build.Indexer
import hudiidx.table.listing.TableListing
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

  test("parts of an index take their share of the percentage, and one that is added the whole") {
    tableOf(2) { table =>
      var seen = Vector.empty[String]
      val part = new IndexPart {
        override def owns(file: IndexFile): Boolean = false
        override def owns(property: String): Boolean = false
        override def isIn(version: IndexVersion): Boolean = false
        override def update(state: IndexState, before: IndexVersion, unseen: Vector[UnseenInstant]): PartFiles =
          PartFiles.None
        override def build(state: IndexState, before: Option[IndexVersion]): PartFiles = {
          Vector(0.0, 0.3, 0.61, 0.1, 1.0).foreach { done =>
            state.show(done)
            seen :+= info(table).reason
          }
          PartFiles.None
        }
      }
      val indexer = new Indexer(accessOf(LocalStorage), table.path, IndexOptions(), LocalScanner, Vector(part))
      indexer.create()
      assert(seen === Vector("50 %", "60 %", "80 %", "80 %", "80 %"))
      seen = Vector.empty
      Thread.sleep(5) // markers count that are younger than the version in force
      indexer.addPart(part)
      assert(seen === Vector("0 %", "30 %", "60 %", "60 %", "60 %"))
      assert(info(table).state === IndexInfo.Ready)
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
