package hudiidx.sync

import hudiidx.storage.{FarStorage, LocalStorage}
import hudiidx.sync.build.Indexer
import hudiidx.table.KnownProperties
import java.nio.file.Files
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.JavaConverters._

/** Tables and indexes that others write while calls of a store that is far are made at once. */
class FarIndexSuite extends AnyFunSuite {
  import FarIndexSuite._
  import IndexerSuite._

  private val strict = IndexOptions(strict = true)

  private def write(table: FakeTable): Unit =
    table.write(Seq(FakeWrite("a", -1, isLog = false, 10)), complete = true): Unit

  for ((process, begins) <- knowing) {
    test(
      s"$process an update that read the timeline before another writer published makes nothing anew, and takes nothing in twice"
    ) {
      withTable(9) { table =>
        indexed(table)
        write(table)
        begins(table.path)
        val store = storeOn { () =>
          write(table)
          new Indexer(accessOf(LocalStorage), table.path, strict).update(): Unit
        }
        val done = new Indexer(accessOf(store), table.path, strict).update()
        assert(!done.rebuilt && !done.published && done.version.number === 2)
        checkAgainstListing(accessOf(LocalStorage), table, strict)
      }
    }

    test(s"$process an update that read the timeline before a commit takes that in too") {
      withTable(9) { table =>
        indexed(table)
        write(table)
        begins(table.path)
        val done = new Indexer(accessOf(storeOn(() => write(table))), table.path, strict).update()
        assert(!done.rebuilt && done.instants.size === 2)
        checkAgainstListing(accessOf(LocalStorage), table, strict)
      }
    }
  }

  test(
    "a reader that found the index before the commits of a newer one reads these from their metadata, and the other way round"
  ) {
    withTable(9) { table =>
      indexed(table)
      def update() = new Indexer(accessOf(LocalStorage), table.path, strict).update(): Unit
      for (deed <- Seq(() => write(table), () => { write(table); update() })) {
        val snapshot = TableSnapshot.open(accessOf(storeOn(deed)), table.path, strict)
        try {
          assert(snapshot.use.fallback.isEmpty)
          val listing = TableSnapshot.listingOf(snapshot.table, snapshot.viewTimeline)
          assert(snapshot.source.files("a").map(_.fileName).toSet === listing.files("a").map(_.fileName).toSet)
        } finally snapshot.close()
      }
    }
  }

  test("a listing of the timeline that was made before it moved does not count") {
    withTable(9) { table =>
      write(table)
      val hoodie = table.dir.resolve(".hoodie")
      assert(TableContext.load(accessOf(new FarStorage(LocalStorage)), table.path).completed.size === 1)
      Thread.sleep(20) // disks keep times in steps
      val store = storeOn { () =>
        write(table)
        val moved = Files.createDirectory(hoodie.resolve("moved"))
        val files = Files.list(hoodie.resolve("timeline"))
        try files.iterator.asScala.toVector.foreach(f => Files.move(f, moved.resolve(f.getFileName)))
        finally files.close()
        val properties = hoodie.resolve("hoodie.properties")
        Files.writeString(properties, Files.readString(properties) + "hoodie.timeline.path=moved\n"): Unit
      }
      val context = TableContext.load(accessOf(store), table.path)
      assert(context.timeline.dir.endsWith("/moved") && context.completed.size === 2)
    }
  }
}

object FarIndexSuite {

  /** A store on which `deed` happens once, between two calls that are made at once; those are made from the last on. */
  def storeOn(deed: () => Unit): FarStorage = {
    var isDone = false
    new FarStorage(
      LocalStorage,
      backwards = true,
      between = () =>
        if (!isDone) {
          isDone = true
          deed()
        }
    )
  }

  /** Where the timeline lies only the properties tell: a process that knows them reads it at the same time as the index. */
  val knowing: Seq[(String, String => Unit)] = Seq(
    "in a process that has seen the table" ->
      (path => TableContext.load(IndexerSuite.accessOf(new FarStorage(LocalStorage)), path): Unit),
    "in a new process" -> (_ => KnownProperties.clear())
  )
}
