package hudiidx.timeline

import java.nio.file.NoSuchFileException

import hudiidx.{DamagedTable, TableChanged}
import hudiidx.storage.Storage

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
    val blocks = new LastBlocks(storage)
    entries.iterator.filter(_.requestedTime >= instantTime).map { e =>
      val block = blocks.at(e.file, e.blockOffset)
      ArchivedInstant(e.requestedTime, e.completionTime, e.action, contentOf(e, block))
    }
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

  /** Instants that follow each other stand in the same block, or in one of a few. */
  private final class LastBlocks(storage: Storage) {
    private val MaxBlocks = 4
    private var held = Vector.empty[((String, Long), ArchiveBlock)]

    def at(file: String, offset: Long): ArchiveBlock = {
      val key = (file, offset)
      held.find(_._1 == key) match {
        case Some((_, block)) => block
        case None             =>
          val block = named(file, offset)(ArchiveBlocks.read(storage, file, offset))
          held = (key -> block) +: held.take(MaxBlocks - 1)
          block
      }
    }
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
