package hudiidx.table

/** A key generator of Hudi's, by the record keys that it makes. Of several fields each makes `f1:v1,f2:v2`.
  *
  * @param kind    `hoodie.table.keygenerator.type` without `_AVRO`, which makes the same keys
  * @param classes its names in `hoodie.table.keygenerator.class`, behind [[KeyGenerator.Package]]
  * @param mayName a single field's key is the value's text or `f:v`, by release and by the way that a row takes through the
  *                writer; false: the value's text
  */
sealed abstract class KeyGenerator(val kind: String, val classes: Vector[String], val mayName: Boolean)
    extends Product
    with Serializable

/** Every generator whose keys are known; docs/keys.md has those that are not, and why. */
object KeyGenerator {
  case object Simple
      extends KeyGenerator("SIMPLE", Vector("SimpleKeyGenerator", "SimpleAvroKeyGenerator"), mayName = false)
  case object Timestamp
      extends KeyGenerator(
        "TIMESTAMP",
        Vector("TimestampBasedKeyGenerator", "TimestampBasedAvroKeyGenerator"),
        mayName = false
      )
  case object Custom
      extends KeyGenerator("CUSTOM", Vector("CustomKeyGenerator", "CustomAvroKeyGenerator"), mayName = false)
  case object NonPartitioned
      extends KeyGenerator(
        "NON_PARTITION",
        Vector("NonpartitionedKeyGenerator", "NonpartitionedAvroKeyGenerator"),
        mayName = false
      )

  /** `v` in 0.14.1 to 1.0.2, `f:v` before and since, by a setting `v` again in tables before version 9. */
  case object Complex
      extends KeyGenerator("COMPLEX", Vector("ComplexKeyGenerator", "ComplexAvroKeyGenerator"), mayName = true)

  /** `f:v`, but `v` by the row writer of 0.14.1 to 1.0.2. */
  case object GlobalDelete
      extends KeyGenerator(
        "GLOBAL_DELETE",
        Vector("GlobalDeleteKeyGenerator", "GlobalAvroDeleteKeyGenerator"),
        mayName = true
      )

  val All: Vector[KeyGenerator] = Vector(Simple, Timestamp, Custom, NonPartitioned, Complex, GlobalDelete)
  val Package = "org.apache.hudi.keygen."

  /** By a class's full name, or by a type in any case. None: its keys are not known; a class of the same name in another
    * package is somebody's own.
    */
  def named(name: String): Option[KeyGenerator] = byName.get(if (name.contains('.')) name else name.toUpperCase)

  private val byName: Map[String, KeyGenerator] = All.flatMap { g =>
    (g.classes.map(Package + _) ++ Vector(g.kind, g.kind + "_AVRO")).map(_ -> g)
  }.toMap
}
