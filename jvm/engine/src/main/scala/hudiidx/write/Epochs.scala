package hudiidx.write

import hudiidx.storage.Storage
import hudiidx.table.TableConfig
import hudiidx.timeline.InstantName
import hudiidx.{DamagedTable, UnsupportedTable, WholeNumber, WriteUnknown}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.NoSuchFileException
import scala.util.control.NonFatal

/** What is decided about a write at one number of its records. */
private[write] sealed trait Epoch
private[write] object Epoch {

  /** From here on the write is this writer's.
    *
    * @param of what it is about, where the records are not of an instant
    */
  final case class Open(writer: String, of: String = "") extends Epoch

  /** It never completes: whoever comes removes what there is of it. */
  final case class Over(by: String) extends Epoch

  /** It completes: whoever comes puts this content there, if it is not. Paths are relative to the table's. A writer decides once, so
    * its name tells which content.
    *
    * @param pending a file that is there while it counts: stock Hudi knows no records, and removes that one when it rolls back;
    *                empty: there is none
    */
  final case class Decided(writer: String, pending: String, path: String)(val content: Array[Byte]) extends Epoch

  /** A store that shows a file before all of it is there was left with its beginning. */
  case object Cut extends Epoch

  /** Letters of a path in an error. */
  private val LongestNamed = 500
  private val Magic = "hudiidx-epoch "
  private val Version = "1"

  def encode(epoch: Epoch): Array[Byte] = {
    def lines(all: String*): Array[Byte] = (s"$Magic$Version" +: all).map(_ + "\n").mkString.getBytes(UTF_8)
    epoch match {
      case Open(writer, of)                   => lines("open", writer, of)
      case Over(by)                           => lines("over", by)
      case d @ Decided(writer, pending, path) =>
        lines("decided", writer, pending, path, d.content.length.toString) ++ d.content
      case Cut => throw new IllegalArgumentException("no record is written cut")
    }
  }

  /** @param path for errors */
  def decode(path: String, bytes: Array[Byte]): Epoch = {
    var at = 0
    def line(): Option[String] = {
      val end = bytes.indexOf('\n'.toByte, at)
      if (end < 0) None
      else {
        val text = new String(bytes, at, end - at, UTF_8)
        at = end + 1
        Some(text)
      }
    }
    def unknown = new UnsupportedTable(
      s"$path: a record of a write in a form that this release does not know; write with the release that made it"
    )
    def outside(named: String) = new DamagedTable(
      s"$path: a record of a write names ${named.take(LongestNamed)}, which is not a file of the table's timeline; remove the record"
    )
    def body(kind: String): Option[Epoch] = kind match {
      case "open"    => for (writer <- line(); of <- line()) yield Open(writer, of)
      case "over"    => line().map(Over)
      case "decided" =>
        for {
          writer <- line()
          pending <- line()
          written <- line()
          length <- line() if length == (bytes.length - at).toString
        } yield {
          // Who helps may have more rights than who put the record there.
          (Seq(written) ++ Some(pending).filter(_.nonEmpty)).filterNot(isOfTheTimeline).foreach(p => throw outside(p))
          Decided(writer, pending, written)(bytes.drop(at))
        }
      case _ => throw unknown
    }
    val found = line().flatMap { head =>
      if (head != s"$Magic$Version") throw unknown
      line().flatMap(body)
    }
    found.getOrElse(Cut)
  }

  /** An instant in whatever folder the timeline has, or the properties. */
  private def isOfTheTimeline(path: String): Boolean = path.length <= Storage.LongestPath &&
    (path.split("/", -1) match {
      case Array(TableConfig.HoodieFolder, folders @ _*) if folders.nonEmpty =>
        folders.forall(p => p.nonEmpty && p != "." && p != "..") &&
        (path == TableConfig.PropertiesPath || InstantName.parse(folders.last, layout = 2).isDefined)
      case _ => false
    })
}

/** Records that decide what becomes of a write, in files `.hoodie/.heartbeat/<write>.<number>`. Each is made once: where a store
  * takes two of one number at most one counts, and nobody changes one. The highest number is in force. So of all who may decide
  * about a write at once one does, and the others read what it decided; no beat of a heartbeat can undo it. Format: docs/format.md.
  */
private[write] final class Epochs(storage: Storage, tablePath: String) {
  val dir: String = s"${Storage.join(tablePath, TableConfig.HoodieFolder)}/.heartbeat"

  private def path(of: String, number: Int): String = s"$dir/$of.$number"

  /** None if there is no such record. */
  def read(of: String, number: Int): Option[Epoch] =
    try Some(Epoch.decode(path(of, number), storage.readAll(path(of, number))))
    catch { case _: NoSuchFileException => None }

  /** What is in force at a number. None if there is no such record, or none before it any more: what is made behind the end of a
    * write counts for nothing. Nor does what a writer decided for whom the record before it is not open.
    */
  def inForce(of: String, number: Int): Option[Epoch] = read(of, number).filter { found =>
    number == 1 || read(of, number - 1).exists { before =>
      found match {
        case d: Epoch.Decided => before match { case Epoch.Open(writer, _) => writer == d.writer; case _ => false }
        case _                => true
      }
    }
  }

  /** Of a write whose records were listed; None if it has none. */
  def inForce(beat: Heartbeat): Option[Epoch] = if (beat.epochs.isEmpty) None else inForce(beat.instant, beat.last)

  /** True if this record is the one of its number, false if another is. An error of the store means that neither is known. */
  def publish(of: String, number: Int, epoch: Epoch): Boolean = {
    if (number > Epochs.LastNumber)
      throw new DamagedTable(
        s"${path(of, number - 1)}: a record of the last number that there is, and no write has so many; remove the record"
      )
    val content = Epoch.encode(epoch)
    val answer =
      try Right(storage.publish(path(of, number), content))
      catch { case NonFatal(e) => Left(e) }
    answer match {
      case Right(true) => true
      // A store may get a call twice, or lose its answer: what is there then may be this one.
      case Right(false) => read(of, number).contains(epoch)
      case Left(e)      => isThere(of, number, epoch, e)
    }
  }

  private def isThere(of: String, number: Int, epoch: Epoch, unanswered: Throwable): Boolean = {
    val found =
      try read(of, number)
      catch {
        case NonFatal(e) =>
          unanswered.addSuppressed(e)
          None
      }
    found match {
      case None | Some(Epoch.Cut) => throw unanswered
      case Some(other)            => other == epoch
    }
  }

  /** Puts a record behind one that is there. None if that one has gone meanwhile: the write has ended, and nothing is left to
    * decide. Else what is in force at that number, this record or another's.
    *
    * @param seen the record that it comes after; another one under its number is of another write
    */
  def follow(of: String, number: Int, seen: Epoch, epoch: Epoch): Option[Epoch] =
    if (publish(of, number + 1, epoch)) {
      // Records go by ascending numbers: without the one before this one is behind the end.
      if (read(of, number).contains(seen)) Some(epoch)
      else {
        storage.deleteFile(path(of, number + 1))
        None
      }
    } else if (read(of, number).contains(seen)) inForce(of, number + 1)
    else None

  /** The decision that a file of the timeline appears.
    *
    * @param pending None: it counts whatever is there
    */
  def decided(writer: String, pending: Option[String], file: String)(content: Array[Byte]): Epoch.Decided = {
    def relative(path: String) = path.stripPrefix(tablePath).stripPrefix("/")
    Epoch.Decided(writer, pending.fold("")(relative), relative(file))(content)
  }

  /** Puts there what is decided and in force, as the writer does itself, who may be alive. */
  def complete(of: String, number: Int, d: Epoch.Decided): Unit = {
    val path = Storage.join(tablePath, d.path)
    if (path == TableConfig.propertiesFile(tablePath)) RemadeTable.become(storage, tablePath, d.content)
    else if (storage.publish(path, d.content)) {
      // That the record is gone says that its writer went on, and ended. But stock Hudi may have rolled the write back; and a
      // later try of the same plan has a record behind this one.
      val isStill = !storage.isThere(this.path(of, number + 1)) &&
        (d.pending.isEmpty || storage.isThere(Storage.join(tablePath, d.pending)))
      if (!isStill) storage.delete(path): Unit
    }
  }

  /** Ends a write that is open at this number, unless it is decided; then it is completed. What is in force then; None if it has
    * ended meanwhile.
    */
  def end(of: String, number: Int, by: String): Option[Epoch] =
    inForce(of, number) match {
      case Some(open: Epoch.Open) =>
        val next = follow(of, number, open, Epoch.Over(by))
        next.foreach { case d: Epoch.Decided => complete(of, number + 1, d); case _ => () }
        next
      case found =>
        found.foreach { case d: Epoch.Decided => complete(of, number, d); case _ => () }
        found
    }

  /** Removes them, ascending, so that who comes late and puts one more finds that there is none before it. */
  def remove(of: String, numbers: Seq[Int]): Unit = numbers.sorted.foreach(n => storage.deleteFile(path(of, n)))
}

private[write] object Epochs {
  private val LastNumber = 999999999

  /** The write and the number that the name of a record tells. */
  def parse(name: String): Option[(String, Int)] = {
    val at = name.lastIndexOf('.')
    val digits = name.substring(at + 1)
    if (at <= 0) None else WholeNumber.of(digits, LastNumber.toLong).map(n => name.take(at) -> n.toInt)
  }

  /** The outcome of a write that the store does not tell. */
  def unknown(tablePath: String, what: String, cause: Throwable): WriteUnknown =
    new WriteUnknown(
      s"$tablePath: the store does not say whether $what (${cause.getMessage}); the next write completes it or rolls it " +
        "back: write no rows (df.limit(0)), then look whether it is there before you write it again",
      cause
    )
}
