package hudiidx.log

import hudiidx.{DamagedTable, TableFormat}
import hudiidx.storage.{RandomReader, Storage}
import java.nio.file.NoSuchFileException
import scala.collection.mutable

/** A block of one of a slice's log files that readers must apply. */
final case class CountedBlock(file: String, block: LogBlock)

/** What of a block is to be read.
  *
  * @param records offsets in the content of an Avro block's records, ascending and distinct, of the bytes of their length;
  *                None: the whole block
  */
final case class BlockPart(counted: CountedBlock, records: Option[Array[Int]])

/** Decides which blocks of a slice's log count.
  *
  * @param latestInstant the query's instant: blocks of later ones do not count. None: all
  * @param isCommitted   true for a completed instant and for one before the start of the timeline. Asked on tables before
  *                      version 8 alone; later versions have an instant to a file, which the file-system view has checked
  * @param isUndone      true for an instant that a restore rolled back. Asked on tables since version 8, of blocks in files that
  *                      bear another instant: those of an upgraded table
  * @param atomicWrites  the store never leaves half a file, see `LogFile.blocks`
  * @param damage        judges what cannot be read
  * @param inRange       of an incremental query: its commits. A log compaction counts only where it and all that it covers are
  *                      of them. None: a snapshot
  */
final case class BlockRules(
    format: TableFormat,
    latestInstant: Option[String],
    isCommitted: String => Boolean,
    isUndone: String => Boolean = _ => false,
    atomicWrites: Boolean = false,
    damage: LogDamage = LogDamage.Unnoticed,
    inRange: Option[String => Boolean] = None
) {
  private[log] val asksTimeline: Boolean = !format.logsOfOneWrite
}

/** The blocks that count in the log of a file slice. Format notes §6.7. */
object SliceLog {
  private val CdcSuffix = ".cdc"

  /** The data and delete blocks of a slice in the order in which they apply. Reads headers only.
    *
    * Corrupt and change-data blocks do not count, nor do blocks of uncommitted instants (before version 8) and those that a
    * rollback command undoes, wherever in the slice they stand. Blocks newer than the query's instant are left out, as by
    * Hudi 1.x. Hudi 0.15 ends its scan there, and loses what is behind: the rows of a writer that took its time before it
    * rolled back a failed write, and those of instants that interleave.
    *
    * Blocks of a log compaction stand in the place of the newest instant that they list, and that instant and the others
    * do not count any more (Hudi's optimized scan; chains of log compactions too). Blocks whose listed instants have all
    * left the log keep their own place. In an incremental query they do not count where any of the listed instants is not of
    * the range, and the others' own blocks do: so no row is given that another commit wrote, and none of the range is lost.
    *
    * DamagedTable if a file is gone or cannot be understood, UnsupportedTable for block formats that are not read.
    *
    * @param files   full paths of the slice's log files in log order; `.cdc` files are skipped
    * @param written bytes that are known to have been written to files, by path
    */
  def countedBlocks(
      storage: Storage,
      files: Vector[String],
      rules: BlockRules,
      written: Map[String, Long] = Map.empty
  ): Vector[CountedBlock] = {
    val queue = new BlockQueue[CountedBlock]
    val schemas = mutable.HashMap.empty[String, String]
    files.filterNot(_.endsWith(CdcSuffix)).foreach { file =>
      reading(storage, file) { reader =>
        val judge = rules.damage.judgeOf(storage, file)
        written.get(file).filter(_ > reader.sizeBytes).foreach(judge.shorter(reader.sizeBytes, _))
        judged(LogFile.blocks(reader, rules.atomicWrites), judge).map(shared(_, schemas)).foreach { block =>
          if (isTooNew(block, rules)) {
            if (rules.asksTimeline && !isVisible(file, block, rules)) judge.uncommitted(block)
          } else if (block.isRollback) queue.rollBack(block.targetInstantTime)
          else if (isData(block)) {
            if (isVisible(file, block, rules)) queue.add(block.instantTime, CountedBlock(file, block))
            else judge.uncommitted(block)
          }
        }
      }
    }
    InPlace.of(queue.left, rules.inRange)
  }

  /** The blocks that count, which takes corrupt ones for what they may have been. */
  private def judged(blocks: LogBlockScan, judge: LogJudge): Iterator[LogBlock] = blocks.flatMap { block =>
    if (block.kind != LogBlockKind.Corrupt) {
      judge.read(block)
      Some(block)
    } else {
      if (judge.corrupt(block, blocks.intactEnd(block.offset)))
        blocks.intactAt(block.offset).orElse { judge.corrupt(block, intactEnd = -1L): Unit; None }
      else None
    }
  }

  /** Hands over the blocks in their order, each with its file, which is open during the call alone. DamagedTable if a file
    * is gone.
    */
  private[hudiidx] def foreach(storage: Storage, blocks: Vector[CountedBlock])(
      use: (RandomReader, CountedBlock) => Unit
  ): Unit = {
    var from = 0
    while (from < blocks.size) {
      // Neighbours of one file together, so that it is opened once.
      val file = blocks(from).file
      val other = blocks.indexWhere(_.file != file, from)
      val to = if (other < 0) blocks.size else other
      reading(storage, file)(reader => (from until to).foreach(i => use(reader, blocks(i))))
      from = to
    }
  }

  private[log] def reading[A](storage: Storage, file: String)(use: RandomReader => A): A = {
    val reader = open(storage, file)
    try use(reader)
    finally reader.close()
  }

  /** Opens a log file; DamagedTable if it is not there. */
  def open(storage: Storage, file: String): RandomReader =
    try storage.open(file)
    catch {
      case e: NoSuchFileException =>
        throw new DamagedTable(s"$file: log file is gone; list the table again, or restore the file", e)
    }

  private def isTooNew(block: LogBlock, rules: BlockRules): Boolean =
    rules.latestInstant.exists(latest => block.instantTime.exists(_.compareTo(latest) > 0))

  private def isData(block: LogBlock): Boolean = block.kind match {
    case LogBlockKind.AvroData | LogBlockKind.HFileData | LogBlockKind.ParquetData | LogBlockKind.Delete => true
    case _                                                                                               => false
  }

  private def isVisible(file: String, block: LogBlock, rules: BlockRules): Boolean =
    if (rules.asksTimeline) {
      val instant = block.instantTime.getOrElse(
        throw new DamagedTable(s"$file: log block has no instant at offset ${block.offset}; restore the file")
      )
      rules.isCommitted(instant)
    } else !block.instantTime.exists(t => rules.isUndone(t) && !isNamedFor(file, t))

  /** True if the log file's name bears the instant. */
  private def isNamedFor(file: String, instant: String): Boolean = file.contains(s"_$instant.log.")

  /** One copy of each schema: a slice may have thousands of blocks, and a schema hundreds of kilobytes. */
  private def shared(block: LogBlock, schemas: mutable.HashMap[String, String]): LogBlock = block.schema match {
    case Some(json) => block.copy(header = block.header + (LogHeaderKey.Schema -> schemas.getOrElseUpdate(json, json)))
    case None       => block
  }
}

/** Blocks in the order found, those of a rolled-back instant taken out again. */
private[hudiidx] final class BlockQueue[A >: Null] {
  private val found = mutable.ArrayBuffer.empty[A] // null: taken out
  private val places = mutable.HashMap.empty[String, mutable.ArrayBuffer[Int]] // of an instant's blocks

  def add(instant: Option[String], block: A): Unit = {
    instant.foreach(places.getOrElseUpdate(_, mutable.ArrayBuffer.empty) += found.size)
    found += block
  }

  /** Removes every block of the instant found so far; none may be there. */
  def rollBack(target: Option[String]): Unit =
    target.flatMap(places.remove).foreach(_.foreach(found(_) = null))

  def left: Vector[A] = found.iterator.filter(_ != null).toVector
}

/** Blocks of a slice with log compactions in the place of what they cover. */
private object InPlace {
  def of(blocks: Vector[CountedBlock], inRange: Option[String => Boolean]): Vector[CountedBlock] = {
    val counting = inRange.fold(blocks)(ofRange(blocks, _))
    if (counting.exists(_.block.compactedInstants.nonEmpty)) withLogCompactions(counting) else counting
  }

  /** Without the log compactions that cover more than the range. Each stands behind what it covers. */
  private def ofRange(blocks: Vector[CountedBlock], inRange: String => Boolean): Vector[CountedBlock] = {
    val whole = mutable.HashSet.empty[String]
    blocks.filter { b =>
      val isWhole = inRange(instantOf(b)) && b.block.compactedInstants.forall(whole)
      if (isWhole) whole += instantOf(b)
      isWhole || b.block.compactedInstants.isEmpty
    }
  }

  private def withLogCompactions(blocks: Vector[CountedBlock]): Vector[CountedBlock] = {
    val newestFirst = blocks.map(instantOf).distinct.reverse
    val byInstant = blocks.groupBy(instantOf)
    def listed(instant: String) = byInstant(instant).head.block.compactedInstants
    val stoodFor = mutable.HashMap.empty[String, String] // instant -> log compaction that finally holds its records
    newestFirst.foreach { instant =>
      val holder = stoodFor.getOrElse(instant, instant)
      listed(instant).foreach(stoodFor.put(_, holder))
    }
    val plain = newestFirst.filter(listed(_).isEmpty)
    val holders = plain.flatMap(stoodFor.get(_)).toSet
    val placed = newestFirst.flatMap { instant =>
      if (listed(instant).isEmpty) Some(stoodFor.getOrElse(instant, instant))
      else if (stoodFor.contains(instant) || holders(instant)) None // stands elsewhere
      else Some(instant)
    }
    placed.distinct.reverse.flatMap(byInstant(_))
  }

  private def instantOf(block: CountedBlock): String = block.block.instantTime.getOrElse("")
}
