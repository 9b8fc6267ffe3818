package hudiidx.logindex

import hudiidx.log.LogKeysSuite.{record, schema, BlockDelete, Version}
import hudiidx.log._
import hudiidx.record.PackedKeys
import java.io.{ByteArrayOutputStream, DataOutputStream}
import scala.collection.mutable

/** Logs of a slice whose writers leave an index tail behind some of their blocks. */
object IndexedLogs {
  val Folder = "/t/p/"

  sealed abstract class Piece

  /** A data block; of its versions none is of a delete block. */
  final case class Data(instant: String, versions: Vector[Version], tail: Tail) extends Piece
  final case class Deletes(instant: String, versions: Vector[Version]) extends Piece
  final case class Rollback(instant: String, target: String) extends Piece
  case object Torn extends Piece

  /** What follows goes to the next log file. */
  case object FileCreation extends Piece

  sealed abstract class Tail

  /** As stock Hudi writes. */
  case object Without extends Tail

  /** @param unseen pieces before that the writer did not see yet: it began when they were not there */
  final case class With(unseen: Int) extends Tail

  /** One byte of the tail is changed.
    *
    * @param at where, as a share of its bytes
    */
  final case class Flipped(unseen: Int, at: Double, mask: Int) extends Tail

  def storage(files: Vector[(String, Array[Byte])]): MemoryStorage = new MemoryStorage(files.toMap)

  def counted(files: Vector[(String, Array[Byte])], rules: BlockRules): Vector[CountedBlock] =
    SliceLog.countedBlocks(storage(files), files.map(_._1), rules)

  /** Log files, by path in log order. */
  def write(pieces: Vector[Piece], rules: BlockRules): Vector[(String, Array[Byte])] =
    pieces.indices.foldLeft(new Writing(rules))((writing, i) => writing.add(pieces(i))).files

  final class Writing(rules: BlockRules, history: Vector[Vector[(String, Array[Byte])]] = Vector(Vector.empty)) {
    def files: Vector[(String, Array[Byte])] = history.last

    def add(piece: Piece): Writing = {
      val (name, before) = piece match {
        case FileCreation => (fileName(files.size + 1), Array.emptyByteArray)
        case _            => files.lastOption.getOrElse(fileName(1) -> Array.emptyByteArray)
      }
      val after = name -> (before ++ block(piece, BlockPlaceOf(name, before.length)))
      val others = files.filterNot(_._1 == name)
      new Writing(rules, history :+ (others :+ after))
    }

    private def BlockPlaceOf(path: String, offset: Int): String => BlockPlace =
      BlockPlace(BlockPlace.nameOf(path), offset.toLong, _)

    private def block(piece: Piece, place: String => BlockPlace): Array[Byte] = piece match {
      case FileCreation       => Array.emptyByteArray
      case Torn               => LogBlocks.torn
      case Rollback(at, of)   => LogBlocks.rollback(at, of)
      case Deletes(at, those) =>
        LogBlocks.deletes(Seq(LogHeaderKey.InstantTime -> at), those.map(v => v.key -> v.ordering))
      case Data(at, versions, Without)          => dataBlock(at, avro(versions)._1)
      case Data(at, versions, With(unseen))     => dataBlock(at, withTail(place(at), versions, unseen, identity))
      case Data(at, versions, flipped: Flipped) =>
        dataBlock(at, withTail(place(at), versions, flipped.unseen, flip(_, flipped)))
    }

    private def withTail(
        place: BlockPlace,
        versions: Vector[Version],
        unseen: Int,
        damage: Array[Byte] => Array[Byte]
    ): Array[Byte] = {
      val seen = history(math.max(0, history.size - 1 - unseen))
      val lookup = new LogLookup(storage(seen), counted(seen, rules))
      val (content, offsets) = avro(versions)
      val builder = new TailBuilder(place, pageEntries = 4)
      versions.zip(offsets).foreach { case (v, offset) =>
        val key = PackedKeys.utf8(v.key)
        builder.add(key, 0, key.length, offset)
      }
      content ++ damage(builder.build(content.length.toLong, lookup.chain(Folder), lookup.load(Folder)).bytes)
    }
  }

  def fileName(number: Int): String = s"$Folder.f1_001.log.${number}_0-1-$number"

  private def flip(tail: Array[Byte], how: Flipped): Array[Byte] = {
    val at = math.min(tail.length - 1, (how.at * tail.length).toInt)
    tail.updated(at, (tail(at) ^ how.mask).toByte)
  }

  def dataBlock(instant: String, content: Array[Byte]): Array[Byte] =
    LogFiles.block(3, Seq(LogHeaderKey.InstantTime -> instant, LogHeaderKey.Schema -> schema.toString), content)

  /** Content of a data block up to behind the last record, and where the records begin in it. */
  def avro(versions: Vector[Version]): (Array[Byte], Vector[Int]) = {
    val content = new ByteArrayOutputStream
    val out = new DataOutputStream(content)
    val offsets = mutable.ArrayBuffer.empty[Int]
    out.writeInt(3)
    out.writeInt(versions.size)
    versions.foreach { v =>
      require(v.kind != BlockDelete)
      val datum = LogBlocks.encode(schema, record(v))
      offsets += out.size
      out.writeInt(datum.length)
      out.write(datum)
    }
    (content.toByteArray, offsets.toVector)
  }
}
