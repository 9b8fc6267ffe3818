package hudiidx.log

import hudiidx.TableFormat

/** How a table makes record keys from the values of its key fields. Format notes §8.2, §8.3.
  *
  * @param fields       names of the key fields in the configured order; a dot leads into a nested field
  * @param named        true: `f1:v1,f2:v2`, nothing escaped; false: the one field's plain value
  * @param timestamps   true: timestamps as `yyyy-mm-dd hh:mm:ss.f` in the writer's zone (Hudi's "consistent logical
  *                     timestamp"), taken to be this JVM's; false: as the number stored
  * @param numberedDays dates as days since 1970-01-01, as Flink's writers have them; false: as `yyyy-mm-dd`
  */
final case class RecordKeyForm(
    fields: Vector[String],
    named: Boolean,
    timestamps: Boolean,
    numberedDays: Boolean = false
) {

  /** The key of a row whose one key field has this text. */
  def single(value: String): String = if (named) s"${fields.head}:$value" else value
}

object RecordKeyForm {
  val NullValue = "__null__"
  val EmptyValue = "__empty__"

  val ConsistentTimestamps = "hoodie.datasource.write.keygenerator.consistent.logical.timestamp.enabled"
  val PlainSingleField = "hoodie.write.complex.keygen.new.encoding"

  /** As a table of this format has them.
    *
    * @param mayName the key generator writes `f:v` or `v` for one field, by version
    * @param fields  at least one
    */
  def of(
      mayName: Boolean,
      fields: Vector[String],
      format: TableFormat,
      properties: Map[String, String]
  ): RecordKeyForm = {
    def isTrue(key: String) = properties.get(key).exists(_.trim.equalsIgnoreCase("true"))
    def isFalse(key: String) = properties.get(key).exists(_.trim.equalsIgnoreCase("false"))
    val named = fields.size > 1 || (mayName && (format.namesSingleKeyField || isFalse(PlainSingleField)))
    RecordKeyForm(fields, named, isTrue(ConsistentTimestamps))
  }
}
