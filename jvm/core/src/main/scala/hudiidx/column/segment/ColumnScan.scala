package hudiidx.column.segment

import hudiidx.column.{ColumnStats, IndexedColumn}
import java.nio.ByteBuffer

/** All that a column index knows of files, partition by partition: for people, not for planning. */
final class ColumnScan(index: ColumnIndex) {

  /** Hands over what is known of each file's columns.
    *
    *  @param files name and size of the partition's files
    */
  def stats(partition: String, files: Seq[(String, Long)])(use: (String, IndexedColumn, ColumnStats) => Unit): Unit =
    index.segments.foreach { segment =>
      places(segment.file, partition, files).foreach { case (rows, ordinals) =>
        segment.columns.filter(e => index.choice.has(e.columns)).foreach { entry =>
          val pages = new PagesOfColumn(segment, entry, rows)
          ordinals.foreach { case (name, ordinal) =>
            val found = pages(ordinal)
            if (found != ColumnStats.Unknown) use(name, entry.columns.head, found)
          }
        }
      }
    }

  /** Hands over each file's records of other kinds; a record is good during the call alone. */
  def records(partition: String, files: Seq[(String, Long)])(
      use: (String, Vector[IndexedColumn], ByteBuffer) => Unit
  ): Unit = index.records.foreach { of =>
    places(of.file, partition, files).foreach { case (_, ordinals) =>
      of.columns.filter(e => index.choice.has(e.columns)).foreach { entry =>
        ordinals.foreach { case (name, ordinal) =>
          val record = of.record(entry, ordinal)
          if (record != null) use(name, entry.columns, record)
        }
      }
    }
  }

  /** Rows of the column file's files, those of other partitions left at 0, and the ordinals of these, ascending. */
  private def places(
      file: ColumnFileReader,
      partition: String,
      files: Seq[(String, Long)]
  ): Option[(Array[Long], Seq[(String, Int)])] = {
    val at = file.directory.find(partition)
    if (at < 0) None
    else {
      val table = file.fileTable(at)
      val from = file.directory.starts(at)
      val rows = new Array[Long](file.counts.files)
      System.arraycopy(table.allRows, 0, rows, from, table.count)
      val found = files.map { case (name, size) => name -> table.find(NameDigest.of(name), size) }.filter(_._2 >= 0)
      Some(rows -> found.map { case (name, place) => name -> (from + place) }.sortBy(_._2))
    }
  }
}
