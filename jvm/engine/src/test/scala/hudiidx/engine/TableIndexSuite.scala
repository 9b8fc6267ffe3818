package hudiidx.engine

import java.nio.file.{Files, Paths}

import hudiidx.api.{LocalWorkers, TableIndex}
import hudiidx.sync.IndexOptions
import hudiidx.table.FileSlice
import hudiidx.{Fixtures, IndexNotFound, TestSettings}
import org.apache.hadoop.conf.Configuration
import org.scalatest.funsuite.AnyFunSuite

/** What callers without Spark do to an index. */
class TableIndexSuite extends AnyFunSuite {
  private val conf = new Configuration
  private val access = Tables.access(conf)

  private def indexOf(path: String, options: IndexOptions = IndexOptions()): TableIndex =
    new TableIndex(access, path, options, new LocalWorkers(access, conf))

  private def firstBase(slices: Iterator[FileSlice]): String =
    slices.flatMap(s => s.baseFile.map(b => s"${s.partitionPath}/${b.fileName}")).next()

  TestSettings.some(2)(Vector("v6-cow-part", "v9-mor-part")).foreach { name =>
    test(s"$name: an index is made, verified, brought up, expired and dropped in this process alone") {
      val path = Fixtures.copy(name)
      intercept[IndexNotFound](indexOf(path).update())
      val options = IndexOptions.of(Map(IndexOptions.RecordMode -> IndexOptions.GlobalMode))
      val index = indexOf(path, options)
      assert(index.create().result.published)
      val whole = index.verify(record = true)
      assert(whole.ok && whole.record.exists(r => r.ok && r.keys > 0), whole.files.differences)
      assert(!index.update().result.published && index.expire() === Vector.empty)
      val base = firstBase(snapshotSlices(path))
      Files.write(Paths.get(path, base), Files.readAllBytes(Paths.get(path, base)).dropRight(1))
      val cut = indexOf(path, options).verify().files.differences
      assert(cut.map(d => d.kind -> s"${d.partitionPath}/${d.file}") === Vector("SIZE_DIFFERS" -> base))
      assert(index.drop() && !index.drop())
    }
  }

  private def snapshotSlices(path: String): Iterator[FileSlice] = {
    val snapshot = hudiidx.sync.TableSnapshot.open(access, path, IndexOptions())
    try snapshot.view.partitions.iterator.flatMap(snapshot.view.latestFileSlices(_, None)).toVector.iterator
    finally snapshot.close()
  }
}
