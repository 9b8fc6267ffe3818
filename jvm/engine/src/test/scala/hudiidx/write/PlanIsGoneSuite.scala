package hudiidx.write

import hudiidx.storage.{LocalStorage, PassingStorage}
import hudiidx.sync.{IndexerSuite, TableContext}
import hudiidx.{Fixtures, HudiIdxException, TableFormats, WriteConflict, WriteFailed}
import java.nio.file.attribute.FileTime
import java.nio.file.{Files, Path}
import org.scalatest.funsuite.AnyFunSuite

/** Compactions whose plan is rolled back while they begin. */
class PlanIsGoneSuite extends AnyFunSuite {
  import CompactionStepsSuite._
  import WriteStepsSuite.{keys => _, _}

  for (version <- TableFormats.written) {
    test(
      s"version $version: killed behind its inflight file, its plan gone meanwhile, a compaction leaves a table that is read and mended"
    ) {
      val path = written(version)
      val instant = plan(LocalStorage, path, slow).get
      val dir = TableContext.load(IndexerSuite.accessOf(LocalStorage), path).timeline.dir
      val inflight = Path.of(dir, s"$instant.compaction.inflight")
      Files.createFile(inflight)
      LocalStorage.deleteOne(s"$dir/$instant.compaction.requested")
      assert(keys(path) === Vector("a", "b"))
      write(LocalStorage, path, "c", slow)
      assert(Files.exists(inflight), "who began it may be about to see that its plan is gone")
      Files.setLastModifiedTime(inflight, FileTime.fromMillis(1))
      write(LocalStorage, path, "d", slow)
      assert(!Files.exists(inflight))
      compact(LocalStorage, path, slow)
      assert(keys(path) === Vector("a", "b", "c", "d"))
    }

    test(s"version $version: no write takes the time of a compaction whose plan is gone, which would stay then") {
      val path = written(version)
      val dir = TableContext.load(IndexerSuite.accessOf(LocalStorage), path).timeline.dir
      // The clock is behind the timeline, so that the next millisecond is the next instant.
      Files.createFile(Path.of(dir, "20990101000000000.clean.requested"))
      val inflight = Files.createFile(Path.of(dir, "20990101000000001.compaction.inflight"))
      write(LocalStorage, path, "c", slow)
      def there = TableContext.load(IndexerSuite.accessOf(LocalStorage), path).timeline.instants.map(_.requestedTime)
      assert(there.last === "20990101000000002")
      assert(plan(LocalStorage, path, slow).exists(_ > there(there.size - 2)))
      Files.setLastModifiedTime(inflight, FileTime.fromMillis(1))
      write(LocalStorage, path, "d", slow)
      assert(!Files.exists(inflight))
      assert(keys(path) === Vector("a", "b", "c", "d"))
    }

    test(
      s"version $version: a compaction that begins on a plan that is gone leaves no inflight file, answered or not"
    ) {
      val path = written(version)
      val instant = plan(LocalStorage, path, slow).get
      val dir = TableContext.load(IndexerSuite.accessOf(LocalStorage), path).timeline.dir
      for (isAnswered <- Seq(true, false)) {
        val content = Files.readAllBytes(Path.of(dir, s"$instant.compaction.requested"))
        val storage = new PassingStorage(LocalStorage) {
          override def publish(file: String, content: Array[Byte]): Boolean =
            if (!file.endsWith(".compaction.inflight")) super.publish(file, content)
            else {
              LocalStorage.deleteOne(s"$dir/$instant.compaction.requested")
              val isFirst = super.publish(file, content)
              if (isAnswered) isFirst else throw new java.io.IOException(s"$file: no answer, by the test")
            }
        }
        val said = intercept[HudiIdxException](runPlanned(storage, path, slow))
        assert(if (isAnswered) said.isInstanceOf[WriteConflict] else said.isInstanceOf[WriteFailed], said)
        assert(Fixtures.filesBelow(path).filter(_.contains(s"$instant.compaction.")) === Vector.empty)
        LocalStorage.publish(s"$dir/$instant.compaction.requested", content)
      }
      compact(LocalStorage, path, slow)
      assert(keys(path) === Vector("a", "b"))
    }
  }
}
