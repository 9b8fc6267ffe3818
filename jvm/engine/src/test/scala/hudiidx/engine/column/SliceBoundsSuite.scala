package hudiidx.engine.column

import hudiidx.Fixtures
import hudiidx.column.segment.{ColumnKind, SliceBounds}
import hudiidx.engine.Tables
import hudiidx.hfile.BlockCache
import hudiidx.report.TableReport
import hudiidx.storage.LocalStorage
import hudiidx.sync._
import hudiidx.table.FileSlice
import org.scalatest.funsuite.AnyFunSuite

/** Bounds of slices for reports: those that a read by file gives, put together. */
class SliceBoundsSuite extends AnyFunSuite {

  private def filesOf(slice: FileSlice): Vector[(String, Long)] =
    slice.baseFile.map(b => (b.fileName, b.sizeBytes)).toVector ++ slice.logFiles.map(l => (l.fileName, l.sizeBytes))

  for (name <- Seq("v9-cow-evolution", "v9-mor-part", "v6-mor-types"))
    test(s"$name: of each slice the bounds of its files together") {
      val path = Fixtures.copy(name)
      ColumnPartSuite.create(path, ColumnOptions(range = Some("*")))
      ColumnPartSuite.opened(path) { (index, state) =>
        val slices = state.view.iterate(state.view.latestMergedFileSlices(_)).toVector
        val bounds = new SliceBounds(index)
        slices.foreach(bounds.add)
        assert(bounds.slices === slices.size && bounds.paths.nonEmpty)
        val facts = new hudiidx.column.segment.FileFacts(index)
        val compared = for {
          column <- bounds.paths
          (columnType, found) <- bounds.of(column).toVector
          (slice, at) <- slices.zipWithIndex
          each = filesOf(slice).map { case (file, size) => facts.stats(slice.partitionPath, file, size, column) }
          // Where files have it in several types the other way tells nothing.
          if each.forall(_.exists(_._1 == columnType))
        } yield assert(found(at) === each.flatten.map(_._2.bounds).reduce(_ union _), s"$column of $slice")
        assert(compared.size >= slices.size)
      }
    }

  test("a damaged index on columns is told, and the rest of the report is there") {
    val path = Fixtures.copy("v9-cow-part")
    ColumnPartSuite.create(path, ColumnOptions(range = Some("*")))
    val access = Tables.access(LocalStorage, new BlockCache)
    val info = IndexInfo.of(access, path, IndexOptions())
    val file = info.indexFiles.find(_.kind == ColumnKind.Stats).get
    val bytes = LocalStorage.readAll(s"${info.indexDir}/${file.name}")
    java.util.Arrays.fill(bytes, 8, bytes.length - 200, 0x5a.toByte)
    LocalStorage.replace(s"${info.indexDir}/${file.name}", bytes)
    val report = TableReport.of(access, path, IndexOptions())
    assert(report.bounds.problem.exists(_.contains(file.name)) && report.bounds.columns.isEmpty)
    assert(report.files.partitions === 4L)
  }
}
