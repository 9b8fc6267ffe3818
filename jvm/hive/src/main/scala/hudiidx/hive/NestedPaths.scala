package hudiidx.hive

import org.apache.hadoop.conf.Configuration

/** Fields of structs that a query reads, as Hive's optimizer tells its Parquet serde: a struct's value then has these fields
  * alone. Structs in arrays and maps stay whole.
  *
  * @param paths in lower case, with dots; none: every field
  */
private[hive] final case class NestedPaths(paths: Set[String]) {

  /** The struct at `path` is to have the field. */
  def has(path: String, field: String): Boolean = {
    val struct = path.toLowerCase
    val inside = paths.filter(_.startsWith(struct + "."))
    val isWhole = inside.isEmpty || paths.exists(p => struct == p || struct.startsWith(p + "."))
    val own = s"$struct.${field.toLowerCase}"
    isWhole || inside.exists(p => p == own || p.startsWith(own + "."))
  }
}

private[hive] object NestedPaths {
  private val Name = "hive.io.file.readNestedColumn.paths"
  val All: NestedPaths = NestedPaths(Set.empty)

  def of(conf: Configuration): NestedPaths =
    NestedPaths(conf.getTrimmedStrings(Name).iterator.map(_.toLowerCase).filter(_.nonEmpty).toSet)
}
