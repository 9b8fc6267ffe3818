package hudiidx.timeline

import java.io.IOException

import hudiidx.DamagedTable

/** The content of one instant file, or of an archived instant. Each method decodes it anew as what its action wrote, but for a commit of
  *  one that keeps it. DamagedTable, naming the file, if it is not that.
  *
  *  @param source file (and place in it) for messages
  *  @param reader opens the content; None if it is empty, which is legal for commits, cleans, rollbacks and savepoints
  *  @param check  looks at each file that a commit wrote
  *  @param keeps  decodes a commit once
  */
final class InstantContent private[timeline] (
    source: String,
    reader: () => Option[ValueReader],
    check: WrittenCheck = WrittenCheck.None,
    keeps: Boolean = false
) {
  @volatile private var decoded: Option[CommitMetadata] = None

  /** The same, whose commits are looked at. */
  def checkedBy(check: WrittenCheck): InstantContent = new InstantContent(source, reader, check, keeps)

  /** The same for who asks for its commit again and again. */
  def keeping: InstantContent = new InstantContent(source, reader, check, keeps = true)

  def commit: CommitMetadata = decoded.getOrElse {
    val whole = checked(CommitDecoder.commit(_, Int.MaxValue, _ => true))
    if (keeps) decoded = Some(whole)
    whole
  }

  /** As `commit`, but without write stats: quick for those who want the schema or the operation. */
  def commitWithoutStats: CommitMetadata =
    decoded.fold(decode(CommitMetadata.Empty)(CommitDecoder.commit(_, 0, _ => true)))(_.copy(writeStats = Vector.empty))

  /** As `commit`, with write stats of a few files alone, of those that got rows: for those who want to look into one. */
  def commitWithSample: CommitMetadata =
    decoded.fold(checked(CommitDecoder.commit(_, InstantContent.SampleFiles, _.gotRows))) { whole =>
      whole.copy(writeStats = whole.writeStats.filter(_.gotRows).take(InstantContent.SampleFiles))
    }

  private def checked(body: ValueReader => CommitMetadata): CommitMetadata = {
    val commit = decode(CommitMetadata.Empty)(body)
    commit.writeStats.foreach(check(source, _))
    commit
  }

  def clean: CleanMetadata = decode(CleanMetadata(Map.empty, None))(ActionDecoder.clean)

  def rollback: RollbackMetadata = decode(RollbackMetadata(Vector.empty, Map.empty))(ActionDecoder.rollback)

  def restore: RestoreMetadata = decode(nothing("restore"))(ActionDecoder.restore)

  /** Names of the saved files by partition path. */
  def savepoint: Map[String, Set[String]] = decode(Map.empty[String, Set[String]])(ActionDecoder.savepoint)

  def compactionPlan: Vector[PlannedFileGroup] = decode(nothing("compaction plan"))(ActionDecoder.compactionPlan)

  /** None if the replacement is not a clustering. */
  def clusteringPlan: Option[Vector[PlannedFileGroup]] =
    decode(Option.empty[Vector[PlannedFileGroup]])(ActionDecoder.clusteringPlan)

  private def nothing(what: String): Nothing = throw new BadContent(s"no $what, the file is empty")

  private def decode[A](empty: => A)(body: ValueReader => A): A =
    try
      reader() match {
        case None     => empty
        case Some(in) =>
          val decoded = body(in)
          in.requireEnd()
          decoded
      }
    catch {
      case e: BadContent         => throw damaged(e.getMessage, e)
      case e: IOException        => throw damaged(e.getMessage.takeWhile(_ != '\n'), e)
      case e: StackOverflowError => throw damaged("nested too deeply", e)
    }

  private def damaged(reason: String, cause: Throwable): DamagedTable =
    new DamagedTable(s"$source: $reason; restore the file, or restore the table to an earlier savepoint", cause)
}

object InstantContent {
  private val SampleFiles = 4

  /** Content as it stands in an instant file. The form is seen from the first bytes: an Avro container, JSON, or nothing.
    *  @param fileName for messages
    */
  def of(fileName: String, bytes: Array[Byte]): InstantContent =
    new InstantContent(fileName, () => open(bytes))

  private def open(bytes: Array[Byte]): Option[ValueReader] =
    if (bytes.isEmpty) None
    else if (AvroContainer.isContainer(bytes)) Some(AvroContainer.open(bytes))
    else {
      val first = bytes.indexWhere(b => b != ' ' && b != '\n' && b != '\r' && b != '\t')
      if (first >= 0 && bytes(first) == '{') Some(JsonReader.open(bytes))
      else throw new BadContent(s"its ${bytes.length} bytes are neither an Avro container nor JSON")
    }
}
