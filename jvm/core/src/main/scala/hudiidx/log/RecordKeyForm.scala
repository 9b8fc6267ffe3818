package hudiidx.log

/** How a table makes record keys from the values of its key fields; needed where the keys are not stored (virtual keys).
  * Format notes §8.2, §8.3.
  *
  * @param fields     names of the key fields in the configured order; a dot leads into a nested field
  * @param named      true: `f1:v1,f2:v2`, nothing escaped; false: the one field's plain value
  * @param timestamps true: timestamps as `yyyy-mm-dd hh:mm:ss.f` in the writer's zone (Hudi's "consistent logical
  *                   timestamp"), taken to be this JVM's; false: as the number stored
  */
final case class RecordKeyForm(fields: Vector[String], named: Boolean, timestamps: Boolean)

object RecordKeyForm {
  val NullValue = "__null__"
  val EmptyValue = "__empty__"

  private val ConsistentTimestamps = "hoodie.datasource.write.keygenerator.consistent.logical.timestamp.enabled"
  private val PlainSingleField = "hoodie.write.complex.keygen.new.encoding"

  /** Version from which a complex key of one field is `f:v`; releases behind the versions before write the plain value. */
  private val NamedSingleField = 9

  /** None if the table names no key fields: then keys can only be those that are stored.
    *
    * @param keyGenerator class name or type from the table's properties
    */
  def of(
      fields: Vector[String],
      keyGenerator: Option[String],
      tableVersion: Int,
      properties: Map[String, String]
  ): Option[RecordKeyForm] = {
    def isTrue(key: String) = properties.get(key).exists(_.trim.equalsIgnoreCase("true"))
    val generator = keyGenerator.getOrElse("").toUpperCase
    val complex = generator.contains("COMPLEX") || generator.contains("CUSTOM")
    val named = fields.size > 1 || (complex && tableVersion >= NamedSingleField && !isTrue(PlainSingleField))
    if (fields.isEmpty) None else Some(RecordKeyForm(fields, named, isTrue(ConsistentTimestamps)))
  }
}
