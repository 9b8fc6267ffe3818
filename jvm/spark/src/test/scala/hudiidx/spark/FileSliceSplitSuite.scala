package hudiidx.spark

import hudiidx.spark.read.{FileSliceSplit, SliceLogs, SliceReading}
import hudiidx.table.{BaseFile, FileSlice, LogFile}
import org.apache.spark.paths.SparkPath
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.scalatest.funsuite.AnyFunSuite

final class FileSliceSplitSuite extends AnyFunSuite {
  private val base = BaseFile("city=sf", "f", "20260101000000000", "f_0-1-1_20260101000000000.parquet", 700)
  private val logs = Vector(1, 2).map(n => LogFile(s".f_20260101000000000.log.${n}_0-1-1", 30L * n, n))

  private def split(
      base: Option[BaseFile],
      logs: Vector[LogFile],
      more: Option[(String, Long)] = None
  ): PartitionedFile =
    FileSliceSplit.of(
      "/t",
      FileSlice("city=sf", "f", "20260101000000000", base, logs),
      InternalRow.empty,
      Map("city" -> 1),
      more
    )

  test("a split says of a slice which files it has, and what they held when they were listed") {
    val whole = split(Some(base), logs, Some("/tmp/changes.log" -> 5L))
    assert(whole.filePath.toPath.toString === s"/t/city=sf/${base.fileName}")
    assert((whole.start, whole.length, whole.fileSize) === ((0L, 790L, 790L)))
    val files = logs.map(l => s"/t/city=sf/${l.fileName}" -> l.sizeBytes) :+ ("/tmp/changes.log" -> 5L)
    assert(
      FileSliceSplit.sliceOf(whole) ===
        FileSliceSplit(Some(SliceLogs(Some(base.instantTime), files, None)), Map("city" -> 1), None)
    )
    val logsAlone = split(None, logs)
    assert(logsAlone.filePath.toPath.toString === s"/t/city=sf/${logs.head.fileName}")
    assert(SliceReading.hasLogs(logsAlone) && !SliceReading.hasBase(logsAlone))
    val baseAlone = split(Some(base), Vector.empty)
    assert(!SliceReading.hasLogs(baseAlone) && SliceReading.hasBase(baseAlone))
  }

  test("a piece without its slice, or with another value in its place, is an error and never a file without logs") {
    val bare = PartitionedFile(InternalRow.empty, SparkPath.fromPathString("/t/a.parquet"), 0, 7, fileSize = 7)
    val whole = split(Some(base), logs)
    val strange = whole.copy(
      otherConstantMetadataColumnValues = whole.otherConstantMetadataColumnValues.map { case (name, _) =>
        name -> "logs"
      }
    )
    Seq(bare, strange).foreach { piece =>
      val failed = intercept[IllegalStateException](SliceReading.hasLogs(piece))
      assert(failed.getMessage.contains(piece.filePath.toString))
    }
  }
}
