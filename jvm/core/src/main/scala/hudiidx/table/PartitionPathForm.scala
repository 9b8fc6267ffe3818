package hudiidx.table

/** How a table makes partition paths from the values of its partition fields. Format notes §8.4.
  *
  * @param fields none: not partitioned
  */
final case class PartitionPathForm(fields: Vector[String], hiveStyle: Boolean, urlEncode: Boolean) {

  /** @param values texts in the order of the fields; empty for null and for an empty text */
  def path(values: Vector[String]): String = fields
    .zip(values)
    .map { case (field, value) =>
      val shown =
        if (value.isEmpty) PartitionPathForm.NoValue else if (urlEncode) PartitionPathForm.encode(value) else value
      if (hiveStyle) s"$field=$shown" else shown
    }
    .mkString("/")
}

object PartitionPathForm {
  val NoValue = "__HIVE_DEFAULT_PARTITION__"

  def of(config: TableConfig): PartitionPathForm =
    PartitionPathForm(config.partitionFields, config.hiveStyle, config.urlEncode)

  private val Escaped = "\"#%'*/:=?\\{[]^".toSet + '\u007f'

  private def encode(value: String): String = {
    val out = new StringBuilder
    value.foreach(c => if (c < ' ' || Escaped(c)) out.append("%%%02X".format(c.toInt)) else out.append(c))
    out.toString
  }
}
