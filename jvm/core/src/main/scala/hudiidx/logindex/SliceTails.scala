package hudiidx.logindex

import hudiidx.DamagedIndex
import hudiidx.log.{CountedBlock, LogBlockKind}
import hudiidx.storage.{RandomReader, Storage}
import java.nio.file.NoSuchFileException
import scala.collection.mutable

/** Where an index tail stands that is not in its block: in a file of the index folder.
  *
  * @param path  full path of the file
  * @param from  offset of a byte at or before the tail's first one
  * @param until offset behind its last byte
  */
final case class TailPlace(path: String, from: Long, until: Long)

/** A hash filter that is kept beside the log.
  *
  * @param path full path of the file that it stands in
  */
final case class KeptFilter(path: String, offset: Long, shape: FilterShape)

/** Index tails of a file slice that are kept beside the log, for blocks whose writer made none. Both calls: DamagedIndex if
  * that cannot be read.
  */
trait KeptTails {
  def of(place: BlockPlace): Option[TailPlace]

  /** Filters over the blocks of these tails. */
  def filters: Vector[KeptFilter]
}

object KeptTails {
  object None extends KeptTails with Serializable {
    override def of(place: BlockPlace): Option[TailPlace] = scala.None
    override def filters: Vector[KeptFilter] = Vector.empty
  }
}

/** Files that stay open for the time of one lookup. */
private[logindex] final class OpenLogs(storage: Storage) extends AutoCloseable {
  private val open = mutable.HashMap.empty[String, RandomReader]

  /** DamagedIndex if the file is gone: what an index refers to may have been rolled back. */
  def apply(path: String): RandomReader = open.getOrElseUpdate(
    path,
    try storage.open(path)
    catch { case e: NoSuchFileException => throw new DamagedIndex(s"$path: a file of a log index is gone", e) }
  )

  override def close(): Unit = open.values.foreach(_.close())
}

/** The index tails of a slice's blocks, each read once, when it is asked for. */
private[logindex] final class SliceTails(val blocks: Vector[CountedBlock], val kept: KeptTails) {
  private val known = new Array[Option[BlockTail]](blocks.size)
  private var damaged0 = 0

  /** Parts of indexes that could not be read so far. */
  def damaged: Int = damaged0

  /** What `read` reads of an index; None, and counted, if it is damaged. */
  def whole[A](read: => A): Option[A] =
    try Some(read)
    catch {
      case _: DamagedIndex =>
        damaged0 += 1
        None
    }

  /** The tail of block number `i`; None if it has none that can be read. */
  def tail(i: Int, files: OpenLogs): Option[BlockTail] = {
    if (known(i) == null) known(i) = whole(read(blocks(i), files)).flatten
    known(i)
  }

  private def read(counted: CountedBlock, files: OpenLogs): Option[BlockTail] = {
    val place = BlockPlace.of(counted)
    val block = counted.block
    val own =
      if (block.kind != LogBlockKind.AvroData) None
      else whole(TailReader.ofBlock(files(counted.file), block, place)).flatten
    own.orElse(kept.of(place).flatMap { at =>
      TailReader.read(files(at.path), at.from, at.until).filter(_.summary.instant == place.instant)
    })
  }
}

/** A hash filter, and for each of its blocks the number of the counted block that it answers for, or -1. */
private[logindex] final class CoveringFilter(val folder: String, val ref: FilterRef, val blocks: Array[Int]) {
  def path: String = folder + ref.file
}

/** Which filters answer for which blocks.
  *
  * @param direct blocks that no filter answers for, whose list of keys is asked
  * @param whole  blocks without an index that can be read
  */
private[logindex] final class Coverage(val filters: Vector[CoveringFilter], val direct: Set[Int], val whole: Set[Int])

private[logindex] object Coverage {

  /** Filters that are kept for the slice first. Then from the last block backwards: its filters answer for what they cover, then the last one left speaks, and so on. So no
    * chain is assumed that is not there: writers at work side by side make chains that share a beginning.
    */
  def of(tails: SliceTails, files: OpenLogs): Coverage = {
    val blocks = tails.blocks
    val left = mutable.BitSet(blocks.indices: _*)
    val numbers = blocks.indices.map(i => BlockPlace.of(blocks(i)) -> i).toMap
    val filters = Vector.newBuilder[CoveringFilter]
    val direct, whole = Set.newBuilder[Int]
    def answer(folder: String, ref: FilterRef): Unit =
      if (left.nonEmpty) tails.whole(TailReader.members(files(folder + ref.file), ref)).foreach { members =>
        val answered = members.map(m => numbers.get(m).filter(left).getOrElse(-1)).toArray
        if (answered.exists(_ >= 0)) {
          filters += new CoveringFilter(folder, ref, answered)
          left --= answered.filter(_ >= 0)
        }
      }
    tails.whole(tails.kept.filters).getOrElse(Vector.empty).foreach { f =>
      answer(BlockPlace.folderOf(f.path), FilterRef(BlockPlace.nameOf(f.path), f.offset, f.shape))
    }
    blocks.indices.reverse.filter(left).foreach { i =>
      if (left(i)) tails.tail(i, files) match {
        case None       => whole += i
        case Some(tail) =>
          val folder = BlockPlace.folderOf(tail.path)
          tail.filters.foreach(answer(folder, _))
          if (left(i)) direct += i
      }
      left -= i
    }
    new Coverage(filters.result(), direct.result(), whole.result())
  }
}
