package hudiidx.table

import hudiidx.DamagedTable
import hudiidx.storage.Storage

/** Names of base and log files. Format notes §4.1. */
object FileName {

  /** The name on storage from its parts. */
  def render(fileId: String, instantTime: String, writeToken: String, kind: FileKind, logVersion: Int): String = {
    val b = new java.lang.StringBuilder(fileId.length + instantTime.length + writeToken.length + 24)
    if (kind.isBase)
      b.append(fileId).append('_').append(writeToken).append('_').append(instantTime).append(kind.extension)
    else {
      b.append('.').append(fileId).append('_').append(instantTime).append(".log.").append(logVersion)
      if (!writeToken.isEmpty) b.append('_').append(writeToken).append(kind.extension)
    }
    b.toString
  }

  /** Does a name begin as a log file's? That is enough to tell it from a base file's. */
  def isLog(name: String): Boolean = name.startsWith(".")

  /** The parts of a data file's name; None for any name that is neither a base file nor a log file, such as `…_1.log.parquet`, a log
    * of table version 10. DamagedTable for a file of a size that none has.
    */
  def parse(partitionPath: String, name: String, sizeBytes: Long): Option[FileEntry] = {
    val found =
      if (isLog(name)) parseLog(partitionPath, name, sizeBytes) else parseBase(partitionPath, name, sizeBytes)
    if (found.nonEmpty && !FileEntry.isSize(sizeBytes))
      throw new DamagedTable(
        s"${Storage.join(partitionPath, name)}: $sizeBytes bytes, says a commit or the metadata table, and no file has so many; roll " +
          "that commit back, or rebuild the metadata table with Hudi"
      )
    found
  }

  /** The instant in a name of whatever form that begins as a base file's does; None for any other. */
  def instantOf(name: String): Option[String] = {
    val parts = name.split('_')
    if (isLog(name) || parts.length < 3) None
    else Some(parts(2).takeWhile(_ != '.')).filter(t => t.nonEmpty && t.forall(_.isDigit))
  }

  private def parseBase(partitionPath: String, name: String, sizeBytes: Long): Option[FileEntry] = {
    val first = name.indexOf('_')
    val second = name.indexOf('_', first + 1)
    val dot = name.indexOf('.', second + 1)
    if (first <= 0 || second < 0 || dot < 0 || name.indexOf('/') >= 0) None
    else
      FileKind.All.find(k => k.isBase && name.length - k.extension.length == dot && name.endsWith(k.extension)).map {
        kind =>
          FileEntry(
            partitionPath,
            name.substring(0, first),
            name.substring(second + 1, dot),
            name.substring(first + 1, second),
            kind,
            0,
            sizeBytes
          )
      }
  }

  private val LogName = """^\.([^._/]+)_([^./]*)\.log\.(\d{1,9})(?:_(\d+-\d+-\d+)(\.cdc)?)?$""".r

  private def parseLog(partitionPath: String, name: String, sizeBytes: Long): Option[FileEntry] = name match {
    case LogName(fileId, instant, version, token, cdc) =>
      val kind = if (cdc == null) FileKind.Log else FileKind.CdcLog
      Some(FileEntry(partitionPath, fileId, instant, Option(token).getOrElse(""), kind, version.toInt, sizeBytes))
    case _ => None
  }
}
