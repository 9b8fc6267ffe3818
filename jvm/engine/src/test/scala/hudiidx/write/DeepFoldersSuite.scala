package hudiidx.write

import hudiidx.TableFormats
import hudiidx.storage.LocalStorage
import hudiidx.sync.IndexerSuite
import java.nio.file.{Files, Path}
import org.scalatest.funsuite.AnyFunSuite

/** Who can make folders in a table's can make very many in one another: no writer needs more stack for them. */
class DeepFoldersSuite extends AnyFunSuite {
  import WriteStepsSuite._

  private val deep = Vector.fill(400)("a").mkString("/")

  /** With a stack that holds a few calls for each of so many folders in one another, and not all that a walk by calls takes. */
  private def onSmallStack(work: => Unit): Unit = {
    var failed = Option.empty[Throwable]
    val body: Runnable = () =>
      try work
      catch { case e: Throwable => failed = Some(e) }
    val thread = new Thread(null, body, "small-stack", 192L << 10)
    thread.start()
    thread.join()
    failed.foreach(e => fail(e.toString, e))
  }

  test("a table with very deep folders is made anew") {
    val table = newTable(9)
    write(LocalStorage, table, "a")
    Files.createDirectories(Path.of(table, deep))
    onSmallStack(remake(LocalStorage, table, "b", slow))
    assert(keys(table) === Set("b"))
  }

  for (version <- TableFormats.written)
    test(s"version $version: a write with very deep folders of markers is rolled back") {
      val table = newTable(version)
      val open = OpenWrite.begin(IndexerSuite.accessOf(LocalStorage), table, slow)
      Files.createDirectories(Path.of(table, s".hoodie/.temp/${open.instant}", deep))
      onSmallStack(open.abandon())
      onSmallStack(write(LocalStorage, table, "b", slow))
      assert(keys(table) === Set("b"))
    }

  test("a table with very deep folders that its maker could not fill goes") {
    val table = newTable(9)
    Files.createDirectories(Path.of(table, deep))
    onSmallStack(
      assert(OpenWrite.takeBack(IndexerSuite.accessOf(LocalStorage), table, slow, None, table))
    )
    assert(!Files.exists(Path.of(table)))
  }
}
