package hudiidx.timeline

/** Metadata and plans of actions other than commits. Format notes §3.3. */
private[timeline] object ActionDecoder {

  /** HoodieCleanMetadata. What was planned to be deleted counts, as for stock's metadata table. */
  def clean(in: ValueReader): CleanMetadata = {
    var partitions = Map.empty[String, CleanedPartition]
    var retain: String = null
    in.record("partitionMetadata") {
      case "partitionMetadata"      => in.fields(p => partitions += TablePath.partition(p) -> cleanedPartition(in))
      case "earliestCommitToRetain" => retain = in.string()
      case _                        => in.skip()
    }
    CleanMetadata(partitions, Option(retain).filter(_.nonEmpty))
  }

  private def cleanedPartition(in: ValueReader): CleanedPartition = {
    var names = Vector.empty[String]
    var isDeleted = false
    in.fields {
      case "deletePathPatterns" => names = in.strings().map(TablePath.name)
      case "isPartitionDeleted" => isDeleted = in.boolean()
      case _                    => in.skip()
    }
    CleanedPartition(names, isDeleted)
  }

  /** HoodieRollbackMetadata. */
  def rollback(in: ValueReader): RollbackMetadata = {
    var start: String = null
    var commits = Vector.empty[String]
    var partitions = Map.empty[String, RolledBackPartition]
    in.record("partitionMetadata") {
      case "startRollbackTime" => start = in.string()
      case "commitsRollback"   => commits = in.strings()
      case "partitionMetadata" => in.fields(p => partitions += TablePath.partition(p) -> rolledBackPartition(in))
      case _                   => in.skip()
    }
    RollbackMetadata(commits, partitions, Option(start))
  }

  /** Files whose deletion failed count as deleted: they belong to an uncommitted write and must stay invisible. */
  private def rolledBackPartition(in: ValueReader): RolledBackPartition = {
    var deleted = Vector.empty[String]
    var logFiles, failedLogFiles = Map.empty[String, Long]
    in.fields {
      case "successDeleteFiles" | "failedDeleteFiles" => deleted ++= in.strings().map(TablePath.name)
      case "rollbackLogFiles"                         => logFiles = in.fileSizes()
      case "logFilesFromFailedCommit"                 => failedLogFiles = in.fileSizes()
      case _                                          => in.skip()
    }
    RolledBackPartition(deleted, logFiles, failedLogFiles)
  }

  /** HoodieRestoreMetadata. Its rollbacks are the values of a map, whose order says nothing. */
  def restore(in: ValueReader): RestoreMetadata = {
    var removed = Vector.empty[String]
    val rollbacks = Vector.newBuilder[RollbackMetadata]
    in.record("hoodieRestoreMetadata") {
      case "instantsToRollback"    => removed ++= in.strings()
      case "restoreInstantInfo"    => in.items(() => removed ++= commitTime(in))
      case "hoodieRestoreMetadata" =>
        in.fields { instant =>
          removed :+= instant
          in.items(() => rollbacks += rollback(in))
        }
      case _ => in.skip()
    }
    RestoreMetadata(removed.distinct, inOrder(rollbacks.result()))
  }

  /** A restore goes back from the newest instant; where a rollback does not say when it began, by that. */
  private def inOrder(rollbacks: Vector[RollbackMetadata]): Vector[RollbackMetadata] =
    if (rollbacks.forall(_.startTime.isDefined)) rollbacks.sortBy(_.startTime)
    else rollbacks.sortBy(_.commitsRolledBack.sorted.lastOption)(Ordering[Option[String]].reverse)

  private def commitTime(in: ValueReader): Option[String] = {
    var time: String = null
    in.fields {
      case "commitTime" => time = in.string()
      case _            => in.skip()
    }
    Option(time)
  }

  /** HoodieSavepointMetadata. */
  def savepoint(in: ValueReader): Map[String, Set[String]] = {
    var partitions = Map.empty[String, Set[String]]
    in.record("partitionMetadata") {
      case "partitionMetadata" =>
        in.fields { key =>
          val partition = TablePath.partition(key)
          in.fields {
            case "savepointDataFile" => partitions += partition -> in.strings().map(TablePath.name).toSet
            case _                   => in.skip()
          }
        }
      case _ => in.skip()
    }
    partitions
  }

  /** HoodieCompactionPlan. */
  def compactionPlan(in: ValueReader): Vector[PlannedFileGroup] = {
    val groups = Vector.newBuilder[PlannedFileGroup]
    in.record("operations") {
      case "operations" => in.items(() => groups += plannedGroup(in))
      case _            => in.skip()
    }
    groups.result()
  }

  /** HoodieRequestedReplaceMetadata: a clustering, or another replacement whose record has no plan. */
  def clusteringPlan(in: ValueReader): Option[Vector[PlannedFileGroup]] = {
    var operation: String = null
    var groups = Option.empty[Vector[PlannedFileGroup]]
    in.record("operationType") {
      case "operationType"  => operation = in.string()
      case "clusteringPlan" => groups = clusteringGroups(in)
      case _                => in.skip()
    }
    groups.filter(_ => operation == "CLUSTER")
  }

  /** None for a null plan. */
  private def clusteringGroups(in: ValueReader): Option[Vector[PlannedFileGroup]] = {
    var hasPlan = false
    val groups = Vector.newBuilder[PlannedFileGroup]
    in.fields { field =>
      hasPlan = true
      if (field != "inputGroups") in.skip()
      else
        in.items { () =>
          in.fields {
            case "slices" => in.items(() => groups += plannedGroup(in))
            case _        => in.skip()
          }
        }
    }
    if (hasPlan) Some(groups.result()) else None
  }

  /** HoodieCompactionOperation or HoodieSliceInfo; the latter names the base instant in the data file's name only. */
  private def plannedGroup(in: ValueReader): PlannedFileGroup = {
    var partition, fileId, baseInstant, dataFile: String = null
    var logFiles = Vector.empty[String]
    in.fields {
      case "partitionPath"   => partition = in.string()
      case "fileId"          => fileId = in.string()
      case "baseInstantTime" => baseInstant = in.string()
      case "dataFilePath"    => dataFile = in.string()
      case "deltaFilePaths"  => logFiles = in.strings().map(TablePath.name)
      case _                 => in.skip()
    }
    if (fileId == null || fileId.isEmpty) throw new BadContent("a file group in the plan has no fileId")
    // Names of files are made of it.
    if (fileId.contains('/')) throw new BadContent(s"file id '$fileId' in the plan is part of no file name")
    val base = Option(baseInstant).orElse(Option(dataFile).flatMap(baseInstantOf)).filter(_.nonEmpty)
    val baseFile = Option(dataFile).filter(_.nonEmpty).map(TablePath.name)
    PlannedFileGroup(if (partition == null) "" else TablePath.partition(partition), fileId, base, baseFile, logFiles)
  }

  /** `<fileId>_<token>_<instant>.<extension>`. */
  private def baseInstantOf(path: String): Option[String] = {
    val name = TablePath.name(path)
    val from = name.indexOf('_', name.indexOf('_') + 1) + 1
    val to = name.indexOf('.', from)
    if (from <= 1 || to < 0) None else Some(name.substring(from, to))
  }
}
