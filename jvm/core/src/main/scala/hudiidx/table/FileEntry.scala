package hudiidx.table

/** What a data file is. `code` is the number stored in manifests (docs/format.md). */
sealed abstract class FileKind(val code: Int, val name: String, val extension: String)
    extends Product
    with Serializable {
  def isBase: Boolean = code < FileKind.FirstLogCode
}

object FileKind {
  private val FirstLogCode = 16
  case object Parquet extends FileKind(0, "base", ".parquet")
  case object Orc extends FileKind(1, "base", ".orc")
  case object HFile extends FileKind(2, "base", ".hfile")
  case object Log extends FileKind(16, "log", "")
  case object CdcLog extends FileKind(17, "log", ".cdc")

  val All: Vector[FileKind] = Vector(Parquet, Orc, HFile, Log, CdcLog)
  private val byCode: Array[FileKind] = Array.tabulate(32)(c => All.find(_.code == c).orNull)

  /** None for a code that this version does not know. */
  def ofCode(code: Int): Option[FileKind] = if (code < 0 || code >= byCode.length) None else Option(byCode(code))
}

/** A committed data file of a table, with its name in parts. Format notes §4.1.
  *
  *  @param instantTime    the instant in the file's name: of the write for base files (and logs of version 8 and later),
  *                        of the file slice's base for logs of version 6
  *  @param writeToken     `<task partition>-<stage>-<attempt>`; empty in old log names that carry none
  *  @param logVersion     number behind `.log.`; 0 for base files
  *  @param completionTime when the write of `instantTime` completed, where known from more than the active timeline
  *  @param replacedAt     requested time of the earliest completed replacecommit that replaced the file group
  */
final case class FileEntry(
    partitionPath: String,
    fileId: String,
    instantTime: String,
    writeToken: String,
    kind: FileKind,
    logVersion: Int,
    sizeBytes: Long,
    completionTime: Option[String] = None,
    replacedAt: Option[String] = None
) {

  def isBase: Boolean = kind.isBase

  /** The file's name on storage, without the folder. */
  def fileName: String = FileName.render(fileId, instantTime, writeToken, kind, logVersion)
}

object FileEntry {

  /** 128 TiB: no store holds more in a file. */
  private val MostBytes = 1L << 47

  /** 64 GiB: base files are of some hundred MiB. */
  private val MostUsualBytes = 1L << 36

  /** False for the size of a base file that is hardly one: a commit's or the metadata table's word for it is not taken, as scans are
    * cut into pieces by it, and an empty base file is damage. The store is asked.
    */
  def isUsual(bytes: Long): Boolean = bytes > 0 && bytes <= MostUsualBytes

  /** False for what is no size of a file, whoever says so: work is cut into pieces by it. */
  def isSize(bytes: Long): Boolean = bytes >= 0 && bytes <= MostBytes
}
