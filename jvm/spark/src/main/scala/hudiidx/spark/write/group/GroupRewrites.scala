package hudiidx.spark.write.group

import java.nio.file.{Files, Path}

import hudiidx.log.{KeyMerge, KeyVersion, OrderingValue}
import hudiidx.parquet.BaseFileKeys
import hudiidx.spark.read.FileSliceSplit
import hudiidx.table.{FileSlice, TableMergeRules, TableSchema}
import hudiidx.write.format.{EarlierFilters, LogFileWriter, WrittenFile}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.BoundReference
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.apache.spark.unsafe.types.UTF8String

/** Writes file groups anew, each as one base file: what its newest slice holds, and the rows of the write. New records go
  * straight into it. Those for records that are there become a log beside the slice's own, so that they are merged by the rules
  * of all logs; deletes of keys with several rows are held against each row of what comes of that.
  *
  * @param token of this try of the task, in the names of files
  */
final class GroupRewrites(write: GroupWrite, bases: GroupBaseFiles, numbers: SequenceNumbers, token: String) {
  private lazy val records = new LogRecords(write, numbers)

  /** @param rows at least one that is written */
  def write(target: TargetGroup, rows: GroupRows): WrittenFile = {
    val slice = target.slice.getOrElse(throw new IllegalStateException(s"${target.fileId} is a new file group"))
    var inserts = 0L
    var kept = SliceCounts(0, 0, 0, 0)
    val (name, size) = bases.file(target) { file =>
      val changes = new ChangesLog(target, slice)
      val gone = new RemovedKeys(write)
      try {
        val add = bases.adder(file, target)
        while (write.skipIdle(rows)) {
          val row = rows.next()
          if (row.getBoolean(RowForm.TakesEach)) gone.add(row)
          else if (row.getBoolean(RowForm.IsKnown)) changes.add(row)
          else add(row)
        }
        inserts = file.rows
        val log = changes.finish()
        if (log.isDefined)
          PositionedLogs.requireSameByKey(write.table, slice, PositionedLogs.blocks(write.table, slice))
        kept = SliceCopy.into(file, write.readers.get, pieceOf(slice, log), gone.takes)
      } finally changes.close()
    }
    WrittenFile.merged(slice, name, size, inserts + kept.rows, inserts + kept.added, kept.updated, kept.deleted)
  }

  private def pieceOf(slice: FileSlice, changes: Option[(String, Long)]): PartitionedFile =
    FileSliceSplit.of(write.table.path, slice, InternalRow.empty, more = changes)

  /** A log on this machine's disk, of the rows for records that are there. Its blocks bear the slice's instant, which counts. */
  final private class ChangesLog(target: TargetGroup, slice: FileSlice) extends AutoCloseable {
    private lazy val file: Path = Files.createTempFile("hudiidx-", ".log")
    private lazy val out = Files.newOutputStream(file)
    private lazy val log = new LogFileWriter(
      out,
      file.getFileName.toString,
      target.partitionPath,
      slice.baseInstantTime,
      write.blockSchema,
      EarlierFilters.None,
      write.blockBytes
    )
    private val names = new MetaNames(target)
    private val counts = new RowCounts
    private var isUsed = false

    def add(row: InternalRow): Unit = {
      isUsed = true
      records.add(row, log, names, counts)
    }

    /** Path and bytes of the whole log; None if it is empty. */
    def finish(): Option[(String, Long)] =
      if (!isUsed) None
      else {
        log.finish()
        out.close()
        Some(file.toUri.toString -> log.written)
      }

    override def close(): Unit = if (isUsed) {
      out.close()
      Files.deleteIfExists(file): Unit
    }
  }
}

/** Keys of which all rows are deleted that are not above the delete's ordering value. */
final private[write] class RemovedKeys(write: GroupWrite) {
  private val rules = TableMergeRules.of(write.table.config)
  private val deletes = new java.util.HashMap[UTF8String, KeyVersion]
  private val meta = TableSchema.MetaColumns.size
  private val ordering = write.ordering.map(_.transform { case b: BoundReference =>
    b.copy(ordinal = b.ordinal + meta)
  })

  def add(row: InternalRow): Unit = {
    val version = KeyVersion(isDelete = true, fromDeleteBlock = true, write.orderingOf(row), KeyVersion.NoNote)
    deletes.put(row.getUTF8String(RowForm.Key).clone(), version): Unit
  }

  /** Is a row of a base file one of them? */
  def takes: InternalRow => Boolean =
    if (deletes.isEmpty) RemovedKeys.None
    else
      row => {
        val version = deletes.get(row.getUTF8String(RemovedKeys.KeyColumn))
        version != null && !(rules.comparesBase && KeyMerge.baseStays(version, orderingOf(row), rules))
      }

  private def orderingOf(row: InternalRow): OrderingValue =
    ordering.fold(OrderingValue.Default)(column => OrderingOf.value(column.dataType, column.eval(row)))
}

private[write] object RemovedKeys {
  private val KeyColumn = TableSchema.MetaColumns.indexOf(BaseFileKeys.KeyColumn)
  private val None: InternalRow => Boolean = _ => false
}
