package hudiidx.log

import hudiidx.{Allocated, DamagedTable, TableFormat, TableFormats}
import hudiidx.storage.CountingStorage
import org.scalacheck.{Gen, Shrink}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Which blocks of a slice count, against the rules of the format notes §6.7 written down plainly. */
final class SliceLogSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import SliceLogSuite._

  private implicit val dontShrink: Shrink[Vector[Vector[Piece]]] = Shrink.shrinkAny

  for (version <- Seq(6, 8, 9); compactions <- Seq(false, true))
    test(
      s"version $version${if (compactions) " with log compactions" else ""}: the blocks that count are those of the rules"
    ) {
      forAll(slices(compactions), Gen.option(instants), Gen.someOf(all), ranges, minSuccessful(150)) {
        (slice, latest, committed, range) =>
          val rules = BlockRules(TableFormats.of(version), latest, committed.toSet, inRange = range)
          val found = counted(slice, rules)
          val expected = model(slice.flatten, version, latest, committed.toSet, range)
          assert(
            found.map(_.block.contentLength) === expected.map(p => contentBytes(p).toLong),
            s"$slice $latest $committed $range"
          )
          assert(found.map(_.block.instantTime.get) === expected.map(_.instant))
      }
    }

  test(
    "a rollback undoes blocks of earlier files and several blocks, with others between them, and no later ones"
  ) {
    val slice = Vector(
      Vector(Data("1", 1), Data("2", 2), Data("1", 3)),
      Vector(Deletes("1", 4), Data("3", 5)),
      Vector(Rollback("4", "1"), Data("1", 6))
    )
    assert(numbers(counted(slice, BlockRules(TableFormat.V6, None, _ => true))) === Vector(2, 5, 6))
  }

  test("tens of thousands of rollbacks, one for each block, take back what they name") {
    val instants = (1 to 30000).map(i => f"$i%05d")
    val slice = Vector(
      instants.zipWithIndex.map { case (t, i) => Data(t, i % 100) }.toVector,
      instants.filterNot(_.endsWith("7777")).map(Rollback("90000", _)).toVector
    )
    val left = counted(slice, BlockRules(TableFormat.V6, None, _ => true))
    assert(left.map(_.block.instantTime.get) === Vector("07777", "17777", "27777"))
  }

  test(
    "blocks of instants that a restore removed do not count in a file that bears another instant, in tables since version 8"
  ) {
    val slice = Vector(Vector(Data("1", 1), Data("2", 2)), Vector(Deletes("3", 3), Data("4", 4)))
    val undone = Set("2", "3")
    def of(version: TableFormat, isUndone: String => Boolean): Vector[Int] =
      numbers(counted(slice, BlockRules(version, None, _ => true, isUndone)))
    assert(of(TableFormat.V9, undone) === Vector(1, 4))
    assert(of(TableFormat.V8, undone) === Vector(1, 4))
    assert(of(TableFormat.V9, _ => false) === Vector(1, 2, 3, 4))
    // The timeline tells of these.
    assert(of(TableFormat.V6, undone) === Vector(1, 2, 3, 4))
    val own = ".f-0_5.log.1_0-1-2"
    val storage = new MemoryStorage(Map(own -> bytes(Data("5", 5))))
    val rules = BlockRules(TableFormat.V9, None, _ => true, isUndone = Set("5"))
    assert(numbers(SliceLog.countedBlocks(storage, Vector(own), rules)) === Vector(5), "its file was judged before")
  }

  for (version <- Seq(TableFormat.V6, TableFormat.V9))
    test(
      s"version ${version.version}: blocks newer than the query are left out, and what stands after them counts"
    ) {
      def of(pieces: Piece*): Vector[Int] =
        numbers(counted(Vector(pieces.toVector), BlockRules(version, Some("2"), _ => true)))
      assert(of(Data("1", 1), Data("3", 2), Data("2", 3), Rollback("2", "1")) === Vector(3))
      // A writer's own time may be before that of its rollback of a failed write.
      assert(of(Data("1", 1), Rollback("3", "0"), Data("2", 2)) === Vector(1, 2))
    }

  test("a log compaction, and one of such, stands where the newest instant it covers stood") {
    val chain = Vector(
      Vector(Data("1", 1), Data("2", 2), Data("3", 3), Compacted("4", 4, Vector("1", "2"))),
      Vector(Data("5", 5), Compacted("6", 6, Vector("4", "3")), Data("7", 7))
    )
    assert(numbers(counted(chain, BlockRules(TableFormat.V9, None, _ => true))) === Vector(6, 5, 7))
    assert(numbers(counted(chain, BlockRules(TableFormat.V9, Some("5"), _ => true))) === Vector(4, 3, 5))
    val alone = Vector(Vector(Data("3", 3), Compacted("4", 4, Vector("1", "2")), Data("5", 5)))
    assert(numbers(counted(alone, BlockRules(TableFormat.V9, None, _ => true))) === Vector(3, 4, 5))
  }

  test(
    "in a range a log compaction counts where all that it covers is of the range; else what is of it counts itself"
  ) {
    val chain = Vector(
      Vector(Data("1", 1), Data("2", 2), Data("3", 3), Compacted("4", 4, Vector("1", "2"))),
      Vector(Data("5", 5), Compacted("6", 6, Vector("4", "3")), Data("7", 7))
    )
    def of(slice: Vector[Vector[Piece]], range: String*): Vector[Int] =
      numbers(counted(slice, BlockRules(TableFormat.V9, None, _ => true, inRange = Some(range.toSet))))
    assert(of(chain, "1", "2", "3", "4", "5", "6", "7") === Vector(6, 5, 7))
    assert(of(chain, "1", "2", "3", "4", "5", "7") === Vector(4, 3, 5, 7))
    // From version 8 on files are of one write, so blocks of earlier ones are not there.
    assert(of(chain.map(_.filter(_.instant >= "2")), "2", "3", "4", "5", "6", "7") === Vector(2, 3, 5, 7))
    assert(of(chain.map(_.filter(_.instant >= "4")), "4", "5", "6", "7") === Vector(5, 7))
    assert(of(chain.map(_.filter(_.instant >= "6")), "6", "7") === Vector(7))
    // Before, one file has those of several: rows tell which are of the range.
    assert(of(chain, "4", "5", "6", "7") === Vector(1, 2, 3, 5, 7))
    val alone = Vector(Vector(Data("3", 3), Compacted("4", 4, Vector("1", "2")), Data("5", 5)))
    assert(of(alone, "3", "4", "5") === Vector(3, 5))
    val twice = Vector(Vector(Data("1", 1), Compacted("2", 2, Vector("1")), Compacted("2", 3, Vector("1"))))
    assert(of(twice, "1", "2") === Vector(2, 3))
  }

  test("blocks of very many files are handed over, each file opened once, with memory by their number") {
    val files = (1 to 20000).map(i => f".f_1.log.$i%05d_1-0-1").toVector
    val storage = new CountingStorage(new MemoryStorage(files.map(_ -> Array.emptyByteArray).toMap))
    val block = LogBlock(LogBlockKind.AvroData, Map.empty, 0L, 0L, 0L, 0L)
    val blocks = files.flatMap(f => Vector(CountedBlock(f, block), CountedBlock(f, block.copy(offset = 1L))))
    val found = Vector.newBuilder[CountedBlock]
    val before = Allocated.bytes()
    SliceLog.foreach(storage, blocks)((reader, b) => if (reader.path == b.file) found += b)
    assert(Allocated.bytes() - before < (100L << 20))
    assert(found.result() === blocks && storage.counts.open === files.size)
  }

  test("change-data files and empty files are skipped, a file that is gone is damage") {
    val files = Map("a.log.1" -> Array.emptyByteArray, "b.log.2_0-1-2.cdc" -> "nonsense".getBytes)
    val storage = new MemoryStorage(files)
    assert(
      SliceLog.countedBlocks(
        storage,
        files.keys.toVector.sorted,
        BlockRules(TableFormat.V9, None, _ => true)
      ) === Vector.empty
    )
    val e = intercept[DamagedTable](
      SliceLog.countedBlocks(storage, Vector("c.log.1"), BlockRules(TableFormat.V9, None, _ => true))
    )
    assert(e.getMessage.startsWith("c.log.1: log file is gone"))
    assert(storage.opened === 0)
  }
}

private object SliceLogSuite {

  /** A block; its number is the length of its content, so that it is known again. */
  sealed abstract class Piece { def instant: String }
  final case class Data(instant: String, number: Int) extends Piece
  final case class Deletes(instant: String, number: Int) extends Piece
  final case class Compacted(instant: String, number: Int, of: Vector[String]) extends Piece
  final case class Cdc(instant: String) extends Piece
  final case class Rollback(instant: String, target: String) extends Piece
  case object Torn extends Piece { def instant: String = "" }

  val all: Vector[String] = (1 to 8).map(_.toString).toVector
  val instants: Gen[String] = Gen.oneOf(all)
  private val ofLogCompactions = Vector("90", "91", "92")

  /** Which instants an incremental query is about, most of all; None: a snapshot. */
  val ranges: Gen[Option[Set[String]]] = {
    val left = Gen.listOf(Gen.oneOf(all ++ ofLogCompactions)).map(_.take(2).toSet)
    Gen.option(left.map((all ++ ofLogCompactions).toSet -- _))
  }

  def contentBytes(piece: Piece): Int = piece match {
    case Data(_, n)         => n
    case Deletes(_, n)      => n
    case Compacted(_, n, _) => n
    case _                  => 0
  }

  def bytes(piece: Piece): Array[Byte] = {
    def header(more: (Int, String)*) = (LogHeaderKey.InstantTime -> piece.instant) +: more
    piece match {
      case Data(_, n)          => LogFiles.block(3, header(LogHeaderKey.Schema -> "\"int\""), new Array(n))
      case Deletes(_, n)       => LogFiles.block(1, header(), new Array(n))
      case Compacted(_, n, of) =>
        LogFiles.block(3, header(LogHeaderKey.CompactedBlockTimes -> of.mkString(",")), new Array(n))
      case Cdc(_)               => LogFiles.block(6, header(), new Array(3))
      case Rollback(at, target) => LogBlocks.rollback(at, target)
      case Torn                 => LogBlocks.torn
    }
  }

  /** Files of blocks. A log compaction covers instants that stand before it, and has one block. */
  def slices(compactions: Boolean): Gen[Vector[Vector[Piece]]] = {
    val plain = Gen.frequency[Piece](
      6 -> instants.map(Data(_, 0)),
      2 -> instants.map(Deletes(_, 0)),
      1 -> instants.map(Cdc),
      2 -> (for (at <- instants; target <- instants) yield Rollback(at, target)),
      1 -> Gen.const(Torn)
    )
    // Instants of log compactions follow all others, as their blocks do.
    val compacted = for (of <- Gen.someOf(all).suchThat(_.nonEmpty)) yield Compacted("", 0, of.toVector)
    for {
      pieces <- Gen.listOf(plain)
      made <- if (compactions) Gen.resize(3, Gen.listOf(compacted)) else Gen.const(Nil)
      chained <- Gen.oneOf(true, false)
      tail <- Gen.listOf(instants.map(i => Data("98" + i, 0)))
      sizes <- Gen.choose(1, 5)
    } yield {
      // No instant is compacted twice, but for chains: there the later one lists the earlier.
      val once =
        made.indices.map(i => made(i).copy(of = made(i).of.diff(made.take(i).flatMap(_.of)))).filter(_.of.nonEmpty)
      val last = once.zipWithIndex.map { case (c, i) =>
        val earlier = if (chained && i > 0) Vector("9" + (i - 1)) else Vector.empty
        c.copy(instant = "9" + i, of = c.of ++ earlier)
      }
      numbered(pieces.toVector ++ last ++ tail).grouped(sizes).toVector
    }
  }

  private def numbered(pieces: Vector[Piece]): Vector[Piece] = pieces.zipWithIndex.map {
    case (d: Data, i)      => d.copy(number = i + 1)
    case (d: Deletes, i)   => d.copy(number = i + 1)
    case (c: Compacted, i) => c.copy(number = i + 1)
    case (other, _)        => other
  }

  def counted(slice: Vector[Vector[Piece]], rules: BlockRules): Vector[CountedBlock] = {
    val files = slice.zipWithIndex.map { case (pieces, i) => f"f.log.$i%04d" -> pieces.flatMap(p => bytes(p)).toArray }
    val storage = new MemoryStorage(files.toMap)
    val found = SliceLog.countedBlocks(storage, files.map(_._1), rules)
    assert(storage.opened == 0)
    found
  }

  def numbers(found: Vector[CountedBlock]): Vector[Int] = found.map(_.block.contentLength.toInt)

  /** The rules, one list after the other. */
  def model(
      pieces: Vector[Piece],
      version: Int,
      latest: Option[String],
      committed: Set[String],
      range: Option[Set[String]]
  ): Vector[Piece] = {
    def tooNew(p: Piece) = p != Torn && latest.exists(p.instant > _)
    val inTime = pieces.filterNot(tooNew)
    val seen = inTime.filter {
      case _: Rollback   => true
      case Torn | _: Cdc => false
      case p             => version >= 8 || committed(p.instant)
    }
    val standing = seen.zipWithIndex.collect {
      case (p, i) if !p.isInstanceOf[Rollback] && !seen.drop(i).exists(r => undoes(r, p)) => p
    }
    val counted = range.fold(standing) { of =>
      standing.filter {
        case c: Compacted => isOf(c.instant, of, standing)
        case _            => true
      }
    }
    if (counted.exists(_.isInstanceOf[Compacted])) compacted(counted) else counted
  }

  /** The instant is there and of the range, and so is all that it covers. */
  private def isOf(instant: String, range: Set[String], standing: Vector[Piece]): Boolean =
    range(instant) && standing.exists(_.instant == instant) && standing.forall {
      case Compacted(`instant`, _, of) => of.forall(isOf(_, range, standing))
      case _                           => true
    }

  private def undoes(r: Piece, p: Piece): Boolean = r match {
    case Rollback(_, target) => target == p.instant
    case _                   => false
  }

  /** Each instant is replaced by the log compaction that holds it in the end, at the place of the newest one it replaces. */
  private def compacted(standing: Vector[Piece]): Vector[Piece] = {
    val made = standing.collect { case c: Compacted => c }
    val order = standing.map(_.instant).distinct
    def holder(instant: String, from: Int): String =
      made.indices.filter(i => i >= from && made(i).of.contains(instant)).lastOption match {
        case Some(i) => holder(made(i).instant, i + 1)
        case None    => instant
      }
    val plain = order.filterNot(i => made.exists(_.instant == i))
    val places = plain.map(i => holder(i, 0) -> order.indexOf(i)) ++
      made
        .map(_.instant)
        .filter(c => holder(c, 0) == c && !plain.exists(holder(_, 0) == c))
        .map(c => c -> order.indexOf(c))
    places.groupBy(_._1).toVector.map { case (i, at) => i -> at.map(_._2).max }.sortBy(_._2).flatMap { case (i, _) =>
      standing.filter(_.instant == i)
    }
  }
}
