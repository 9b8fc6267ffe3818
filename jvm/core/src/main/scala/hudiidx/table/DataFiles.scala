package hudiidx.table

import hudiidx.UnsupportedTable
import hudiidx.timeline.{WriteStat, WrittenCheck}

/** Which files may be data of a table, by their names. As in stock Hudi's file-system view a base file is one of the table's own
  * form; what else lies in a partition and is named by no commit is no file of the table. Small, and serialisable for tasks
  * elsewhere.
  *
  * @param baseKinds forms that base files may have
  */
final case class DataFiles(baseKinds: Set[FileKind]) extends WrittenCheck {

  /** The file of this name; None if it is of another form. */
  def entry(partitionPath: String, name: String, sizeBytes: Long): Option[FileEntry] =
    FileName.parse(partitionPath, name, sizeBytes).filter(f => !f.isBase || baseKinds(f.kind))

  /** UnsupportedTable for a file that would be skipped, though a commit wrote it. */
  override def apply(source: String, stat: WriteStat): Unit =
    (stat.fileName.toVector ++ stat.cdcFiles.keys).filter(_.nonEmpty).foreach { name =>
      if (entry(stat.partitionPath, name, 0L).isEmpty)
        throw refusal(source, s"the commit wrote ${DataFiles.shown(stat.partitionPath, name)}")
    }

  /** @param has what names the file */
  private[table] def refusal(where: String, has: String): UnsupportedTable = UnsupportedTable.having(
    where,
    has,
    s"files of that form are not known in a table whose base files are ${baseKinds.map(_.extension).toVector.sorted.mkString(" or ")}, so " +
      "that rows would be missing",
    "use a newer hudiidx, or stock Hudi for this table"
  )
}

object DataFiles {
  private val SeveralForms = "hoodie.table.multiple.base.file.formats.enable"

  def of(config: TableConfig): DataFiles = {
    val own = "." + config.baseFileFormat.toLowerCase
    val several = config.text(SeveralForms).exists(_.equalsIgnoreCase("true"))
    DataFiles(FileKind.All.filter(k => k.isBase && (several || k.extension == own)).toSet)
  }

  private[table] def shown(partitionPath: String, name: String): String =
    if (partitionPath.isEmpty) name else s"$partitionPath/$name"
}
