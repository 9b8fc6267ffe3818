package hudiidx.hive

import scala.collection.JavaConverters._
import scala.util.control.NonFatal

import hudiidx.hive.rows.ValueType
import hudiidx.table.{KeyField, TableConfig}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.hive.ql.io.sarg.{ConvertAstToSearchArg, ExpressionTree, PredicateLeaf, SearchArgument}
import org.slf4j.LoggerFactory

/** The predicate that Hive hands down with a job, as far as it tells record keys. Hive evaluates it again on every row.
  *
  * @param layout Hive's columns, None where they are not told
  */
private[hive] final class HivePredicate(predicate: SearchArgument, layout: Option[HiveLayout]) {

  /** A row whose record key is none of these does not satisfy the predicate; None: it asks for no keys. */
  def keys(config: TableConfig, columns: ValueType.Struct): Option[Set[String]] =
    if (predicate == null) None
    else {
      val leaves = predicate.getLeaves
      val found = conjuncts(predicate.getExpression).map(t => leaves.get(t.getLeaf)).flatMap(keysOf(_, config, columns))
      if (found.isEmpty) None else Some(found.reduce(_ intersect _))
    }

  private def conjuncts(tree: ExpressionTree): Vector[ExpressionTree] = tree.getOperator match {
    case ExpressionTree.Operator.LEAF => Vector(tree)
    case ExpressionTree.Operator.AND  => tree.getChildren.asScala.toVector.flatMap(conjuncts)
    case _                            => Vector.empty
  }

  private def keysOf(leaf: PredicateLeaf, config: TableConfig, columns: ValueType.Struct): Option[Set[String]] = {
    val at = columns.indexOf(leaf.getColumnName)
    val isKey = at >= 0 && {
      val name = columns.fields(at).name
      (name == HivePredicate.KeyColumn && config.populateMetaFields) || KeyField.of(config).contains(name)
    }
    if (isKey) values(leaf).flatMap(texts(_, columns.fields(at).valueType, typeName(leaf.getColumnName))) else None
  }

  private def typeName(column: String): String = layout.flatMap(_.typeName(column)).getOrElse("")

  private def values(leaf: PredicateLeaf): Option[Vector[Any]] = leaf.getOperator match {
    case PredicateLeaf.Operator.EQUALS | PredicateLeaf.Operator.NULL_SAFE_EQUALS => Some(Vector(leaf.getLiteral))
    case PredicateLeaf.Operator.IN => Some(leaf.getLiteralList.asScala.toVector)
    case _                         => None
  }

  /** Keys of rows with these values, where both tables have the same type and one text stands for a value. */
  private def texts(values: Vector[Any], valueType: ValueType, hiveType: String): Option[Set[String]] = {
    val found = values.collect {
      case text: String if valueType == ValueType.Text && hiveType == "string"            => text
      case number: java.lang.Long if valueType == ValueType.Int64 && hiveType == "bigint" => number.toString
      case number: java.lang.Long if valueType == ValueType.Int32 && hiveType == "int"    => number.toString
    }
    // An empty text as a key field's value has a key of its own making.
    if (found.length < values.length || found.contains("")) None else Some(found.toSet)
  }
}

private[hive] object HivePredicate {
  private val KeyColumn = "_hoodie_record_key"
  private val FilterExpression = "hive.io.filter.expr.serialized"
  private val log = LoggerFactory.getLogger("hudiidx.hive.HivePredicate")

  /** What cannot be read leaves nothing out. */
  def of(conf: Configuration): HivePredicate = {
    val predicate =
      if (conf.get(FilterExpression) == null) null
      else
        try ConvertAstToSearchArg.createFromConf(conf)
        catch {
          case e @ (NonFatal(_) | _: LinkageError) =>
            log.warn("the predicate of the query cannot be read, so that no file is left out by it: {}", e.toString)
            null
        }
    new HivePredicate(predicate, if (predicate == null) None else HiveLayout.of(conf))
  }
}
