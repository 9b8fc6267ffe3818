package hudiidx.timeline

import java.nio.file.NoSuchFileException

import hudiidx.{DamagedTable, TableChanged}
import hudiidx.storage.Storage
import scala.collection.mutable

/** The archived timeline of layout 1: `.commits_.archive.<n>_<token>` files in the archive folder, each a log file of
  *  Avro blocks with one HoodieArchivedMetaEntry per instant and state. The order across files is arbitrary, and an
  *  interrupted merge of small files leaves instants twice. Format notes §2.6.
  */
final class ArchivedTimeline(storage: Storage, archiveDir: String) extends TimelineHistory {
  import ArchivedTimeline._

  /** Completed instants, without their contents, ordered, each once. */
  private lazy val entries: Vector[Entry] = {
    val found = Vector.newBuilder[Entry]
    for (file <- storage.list(archiveDir) if !file.isDirectory && FileName.findFirstIn(file.name).isDefined)
      ArchiveBlocks.foreach(storage, file.path) { (offset, block) =>
        named(file.path, offset)(block().foreach(found ++= entriesOf(file.path, offset, _)))
      }
    val sorted = found.result().sortBy(e => (e.requestedTime, e.action))
    sorted.headOption.toVector ++
      sorted.zip(sorted.drop(1)).collect {
        case (a, b) if a.requestedTime != b.requestedTime || a.action != b.action => b
      }
  }

  private lazy val completionTimes: Map[String, String] =
    entries.flatMap(e => e.completionTime.map(e.requestedTime -> _)).toMap

  override def completionTime(instantTime: String): Option[String] = completionTimes.get(instantTime)

  override def instantsFrom(instantTime: String): Iterator[ArchivedInstant] = {
    val wanted = entries.filter(_.requestedTime >= instantTime)
    val blocks = new BlocksToCome(storage, wanted)
    wanted.iterator.map(e => ArchivedInstant(e.requestedTime, e.completionTime, e.action, contentOf(e, blocks.of(e))))
  }
}

object ArchivedTimeline {
  private val FileName = """^\.commits_\.archive\.\d+(_\d+-\d+-\d+)?$""".r

  /** @param record index of the entry in its block */
  private final case class Entry(
      requestedTime: String,
      completionTime: Option[String],
      action: String,
      file: String,
      blockOffset: Long,
      record: Int
  )

  /** Field of HoodieArchivedMetaEntry that holds what the completed file of an action held. */
  private def metadataField(action: String): Option[String] = action match {
    case Action.Commit | Action.DeltaCommit | Action.Compaction | Action.LogCompaction => Some("hoodieCommitMetadata")
    case Action.ReplaceCommit | Action.Clustering => Some("hoodieReplaceCommitMetadata")
    case Action.Clean                             => Some("hoodieCleanMetadata")
    case Action.Rollback                          => Some("hoodieRollbackMetadata")
    case Action.Savepoint                         => Some("hoodieSavePointMetadata")
    case _                                        => None
  }

  private def entriesOf(file: String, offset: Long, block: ArchiveBlock): Vector[Entry] =
    (0 until block.count).toVector.flatMap { i =>
      val in = block.record(i)
      var time, action, state, transition: String = null
      in.fields {
        case "commitTime"          => time = in.string()
        case "actionType"          => action = in.string()
        case "actionState"         => state = in.string()
        case "stateTransitionTime" => transition = in.string()
        case _                     => in.skip()
      }
      // Releases before 0.5 wrote no state; they archived completed instants only.
      val isCompleted = state == null || state == InstantState.Completed.name
      if (!isCompleted || time == null || action == null) None
      else {
        val completion = Option(transition).filter(_.length == time.length)
        Some(Entry(time, completion, action, file, offset, i))
      }
    }

  private def contentOf(entry: Entry, block: ArchiveBlock): InstantContent = {
    val source = s"${entry.file} (archived ${entry.requestedTime}.${entry.action})"
    new InstantContent(
      source,
      () => {
        val in = block.record(entry.record)
        var found = Option.empty[AvroReader]
        val wanted = metadataField(entry.action)
        in.fields { field =>
          val from = in.position
          val schema = in.nextSchema
          if (field == "commitTime") requireSame(entry, in.string()) else in.skip()
          // A null union branch takes one byte.
          if (wanted.contains(field) && in.position - from > 1) found = Some(block.part(from, in.position, schema))
        }
        found
      }
    )
  }

  /** The first archive file of every table has one name. */
  private def requireSame(entry: Entry, time: String): Unit =
    if (time != entry.requestedTime)
      throw new TableChanged(
        s"${entry.file}: another file has this name since its instants were read; read the table again"
      )

  /** Blocks of which instants are still to come: each is read once, however its instants are mixed with those of others. In
    * stock's archives a block's instants follow each other, so that few are held at a time.
    */
  private final class BlocksToCome(storage: Storage, entries: Vector[Entry]) {
    private val left = mutable.HashMap.empty[(String, Long), Int].withDefaultValue(0)
    private val held = mutable.HashMap.empty[(String, Long), ArchiveBlock]
    entries.foreach(e => left(keyOf(e)) += 1)

    /** The entry's block. Each entry is asked for once. */
    def of(entry: Entry): ArchiveBlock = {
      val key = keyOf(entry)
      val block = held.getOrElseUpdate(
        key,
        named(entry.file, entry.blockOffset)(ArchiveBlocks.read(storage, entry.file, entry.blockOffset))
      )
      left(key) -= 1
      if (left(key) == 0) held.remove(key)
      block
    }

    private def keyOf(entry: Entry): (String, Long) = (entry.file, entry.blockOffset)
  }

  private def named[A](file: String, offset: Long)(body: => A): A =
    try body
    catch {
      case e: BadContent =>
        throw new DamagedTable(
          s"$file: ${e.getMessage} in the block at offset $offset; restore the file from a backup",
          e
        )
      case e: StackOverflowError =>
        throw new DamagedTable(s"$file: nested too deeply in the block at offset $offset; restore it from a backup", e)
      case e: NoSuchFileException =>
        throw new TableChanged(s"$file: went away while the archive was being read; read the table again", e)
    }
}
