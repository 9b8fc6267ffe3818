package hudiidx.table

import hudiidx.InvalidOption
import hudiidx.storage.Storage
import java.nio.charset.StandardCharsets.UTF_8

/** How a table makes partition paths from the values of its partition fields. Format notes §8.4.
  *
  * @param fields none: not partitioned
  */
final case class PartitionPathForm(
    fields: Vector[String],
    hiveStyle: Boolean,
    urlEncode: Boolean,
    slashDates: Boolean = false,
    dayFolders: Boolean = false
) {

  /** InvalidOption for values whose path would not be that of a partition of the table.
    *
    * @param values texts in the order of the fields; empty for null and for an empty text
    */
  def path(values: Vector[String]): String = {
    val path = fields
      .zip(values)
      .map { case (field, value) =>
        val shown =
          if (value.isEmpty) PartitionPathForm.NoValue
          else if (slashDates) value.replace('-', '/')
          else if (urlEncode) PartitionPathForm.encode(value)
          else value
        if (hiveStyle) s"$field=$shown" else shown
      }
      .mkString("/")
    if (fields.nonEmpty) PartitionPathForm.fault(path).foreach { fault =>
      throw new InvalidOption(
        s"${goes(values, path)}, which $fault; give it another value, or make the table with " +
          "hoodie.datasource.write.partitionpath.urlencode=true, which escapes slashes, colons and ends of lines"
      )
    }
    if (dayFolders && values.exists(PartitionTexts.isDay(_, '-')))
      throw new InvalidOption(
        s"${goes(values, path)}, but the table's folders of dates have slashes, by its ${TableConfig.Extractor}; if its other writers set " +
          s"${TableConfig.SlashDates}=true, set it in the table's hoodie.properties too; else write ${values.map(_.replace('-', '/')).mkString(", ")}"
      )
    if (slashDates && values.exists(PartitionTexts.isDay(_, '/')))
      throw new InvalidOption(
        s"${goes(values, path)}, which readers take for ${values.map(_.replace('/', '-')).mkString(", ")}, by the table's " +
          s"${TableConfig.SlashDates}; write it with dashes"
      )
    path
  }

  private def goes(values: Vector[String], path: String): String = {
    val said = fields.zip(values).map { case (field, value) => s"$field = '$value'" }.mkString(", ")
    s"a row with $said would go to the partition path '$path'"
  }
}

object PartitionPathForm {

  /** In each partition's folder. */
  val Metafile = ".hoodie_partition_metadata"
  val NoValue = "__HIVE_DEFAULT_PARTITION__"
  private val MostBytes = 255

  /** Disks take paths of 4,096 bytes, S3 of 1,024. */
  private val MostBytesOfAll = 2048

  def of(config: TableConfig): PartitionPathForm =
    PartitionPathForm(config.partitionFields, config.hiveStyle, config.urlEncode, config.slashDates, config.dayFolders)

  /** What is wrong with the path of a partition to write to, if anything is. A store would take each of these for another folder than
    * the one that metadata names, or for none.
    */
  private def fault(path: String): Option[String] = {
    val parts = path.split("/", -1)
    if (Storage.isAbsolute(path)) Some("is not a path below the table")
    else if (parts.contains("..")) Some("leads out of the table")
    else if (parts.exists(p => p.isEmpty || p == ".")) Some("has an empty part, or one that is the folder itself")
    else if (parts.contains(TableConfig.HoodieFolder)) Some("is in a folder of Hudi's own name")
    else if (parts.exists(_.startsWith(Metafile)))
      Some("has the name of the file that marks a partition")
    else if (parts.exists(_.getBytes(UTF_8).length > MostBytes))
      Some(s"has a part of more than $MostBytes bytes, which HDFS and disks refuse")
    else if (path.getBytes(UTF_8).length > MostBytesOfAll)
      Some(s"has more than $MostBytesOfAll bytes, which leave no room for the names of files")
    else if (path.indexOf(0) >= 0) Some("has a character of code 0")
    else if (path.exists(c => c == '\n' || c == '\r')) Some("has an end of line, which lists of files cannot hold")
    else None
  }

  private val Escaped = "\"#%'*/:=?\\{[]^".toSet + '\u007f'

  private def encode(value: String): String = {
    val out = new StringBuilder
    value.foreach(c => if (c < ' ' || Escaped(c)) out.append("%%%02X".format(c.toInt)) else out.append(c))
    out.toString
  }
}

/** Partitions inside others. Readers look for none below a folder that is marked as a partition: such rows are seen by some of them, and
  * only for as long as a commit of the active timeline names their files.
  */
object NestedPartitions {

  /** InvalidOption if one of these paths lies inside another. */
  def requireNone(paths: Iterable[String]): Unit = {
    val all = paths.toSet
    for (inner <- paths; outer <- above(inner) if all(outer)) throw refused(inner, outer)
  }

  /** The paths of the folders above a partition, below the table. */
  def above(path: String): Vector[String] =
    path.indices.toVector.filter(i => path.charAt(i) == '/').map(path.substring(0, _))

  def refused(inner: String, outer: String): InvalidOption = new InvalidOption(
    s"the partition '$inner' would lie inside the partition '$outer', where no reader looks for one; give the rows another value, or make " +
      "the table with hoodie.datasource.write.partitionpath.urlencode=true, which escapes slashes"
  )
}
