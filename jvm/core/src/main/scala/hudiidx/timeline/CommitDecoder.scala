package hudiidx.timeline

import hudiidx.storage.Storage

/** HoodieCommitMetadata and HoodieReplaceCommitMetadata. Format notes §3.1, §3.2. */
private[timeline] object CommitDecoder {

  /** @param most so many write stats at most, of those that are wanted */
  def commit(in: ValueReader, most: Int, isWanted: WriteStat => Boolean): CommitMetadata = {
    val stats = Vector.newBuilder[WriteStat]
    var taken = 0
    var replaced = Map.empty[String, Vector[String]]
    var extra = Map.empty[String, String]
    var operation: String = null
    in.record("partitionToWriteStats") {
      case "partitionToWriteStats" if most > 0 =>
        in.fields { key =>
          val partition = TablePath.partition(key)
          in.items { () =>
            if (taken >= most) in.skip()
            else {
              val stat = writeStat(in, partition)
              if (isWanted(stat)) {
                stats += stat
                taken += 1
              }
            }
          }
        }
      case "partitionToReplaceFileIds" =>
        in.fields { key =>
          val partition = TablePath.partition(key)
          replaced += partition -> (replaced.getOrElse(partition, Vector.empty) ++ in.strings())
        }
      case "extraMetadata" => extra = in.stringMap()
      case "operationType" => operation = in.string()
      case _               => in.skip()
    }
    CommitMetadata(stats.result(), replaced, extra, Option(operation))
  }

  /** The partition path is the key of the map: some releases leave the stat's own field empty. */
  private def writeStat(in: ValueReader, partition: String): WriteStat = {
    var fileId, path, prevCommit, baseFile: String = null
    var size, writes, inserts, updates, deletes, logOffset = 0L
    var cdcFiles = Map.empty[String, Long]
    in.fields {
      case "fileId"          => fileId = in.string()
      case "path"            => path = in.string()
      case "prevCommit"      => prevCommit = in.string()
      case "baseFile"        => baseFile = in.string()
      case "cdcStats"        => cdcFiles = in.fileSizes()
      case "fileSizeInBytes" => size = in.long()
      case "numWrites"       => writes = in.long()
      case "numInserts"      => inserts = in.long()
      case "numUpdateWrites" => updates = in.long()
      case "numDeletes"      => deletes = in.long()
      case "logOffset"       => logOffset = in.long()
      case _                 => in.skip()
    }
    WriteStat(
      if (fileId == null) "" else fileId,
      partition,
      if (path == null || path.isEmpty) None else Some(TablePath.relative(path)),
      // The word null stands for a new file group.
      if (prevCommit == null || prevCommit.isEmpty || prevCommit == "null") None else Some(prevCommit),
      if (baseFile == null || baseFile.isEmpty) None else Some(baseFile),
      size,
      writes,
      inserts,
      updates,
      deletes,
      cdcFiles,
      logOffset
    )
  }
}

/** Paths in metadata. */
private[timeline] object TablePath {
  private val Own = ".hoodie"

  /** A path relative to the table, without empty and `.` parts. BadContent for one that leaves the table. */
  def relative(path: String): String = {
    requireShort(path)
    if (Storage.isAbsolute(path))
      throw new BadContent(s"path '$path' is absolute, expected one relative to the table")
    if (Storage.leaves(path)) throw new BadContent(s"path '$path' leaves the table")
    plain(path)
  }

  /** A partition path, likewise: metadata has it as the writer's key generator made it, folders as the store has them. */
  def partition(path: String): String = {
    requireShort(path)
    if (Storage.leaves(path)) throw new BadContent(s"partition path '$path' leaves the table")
    val whole = plain(path)
    if (whole == Own || whole.startsWith(s"$Own/"))
      throw new BadContent(s"partition path '$path' is in the folder $Own, where no partition is")
    whole
  }

  private def requireShort(path: String): Unit = if (path.length > Storage.LongestPath)
    throw new BadContent(
      s"a path has ${path.length} letters ('${path.take(40)}…'), and no store takes more than ${Storage.LongestPath}"
    )

  private def plain(path: String): String =
    if (Storage.isPlain(path)) path else path.split('/').filter(p => p.nonEmpty && p != ".").mkString("/")

  /** The last part: metadata mixes bare names, absolute paths and URIs of the machine that wrote them. */
  def name(path: String): String = path.substring(path.lastIndexOf('/') + 1)
}
