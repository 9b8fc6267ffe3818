package hudiidx.hive

import scala.collection.JavaConverters._
import scala.util.control.NonFatal

import hudiidx.Log
import hudiidx.column.ColumnCondition
import hudiidx.rows.ValueType
import hudiidx.table.{KeyTexts, TableConfig}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.hive.ql.exec.SerializationUtilities
import org.apache.hadoop.hive.ql.plan.{ExprNodeColumnDesc, ExprNodeConstantDesc, ExprNodeDesc, ExprNodeGenericFuncDesc}
import org.apache.hadoop.hive.ql.udf.generic.{GenericUDFIn, GenericUDFOPAnd, GenericUDFOPEqual}

/** The predicate that Hive hands down with a job. Hive evaluates it again on every row. */
private[hive] final class HivePredicate(predicate: ExprNodeDesc) extends RowPredicate {

  override def condition(columns: ValueType.Struct, isKnown: String => Boolean): ColumnCondition =
    HivePredicate.told(new HiveCondition(columns, isKnown)(predicate)).getOrElse(HivePredicate.Unread)

  override def keys(config: TableConfig, columns: ValueType.Struct): Option[Set[String]] = {
    val found = HivePredicate.told(conjuncts(predicate).flatMap(keysOf(_, config, columns))).getOrElse(Vector.empty)
    if (found.isEmpty) None else Some(found.reduce(_ intersect _))
  }

  private def conjuncts(e: ExprNodeDesc): Vector[ExprNodeDesc] = e match {
    case f: ExprNodeGenericFuncDesc if f.getGenericUDF.isInstanceOf[GenericUDFOPAnd] =>
      f.getChildren.asScala.toVector.flatMap(conjuncts)
    case other => Vector(other)
  }

  private def keysOf(e: ExprNodeDesc, config: TableConfig, columns: ValueType.Struct): Option[Set[String]] = e match {
    case f: ExprNodeGenericFuncDesc =>
      (f.getGenericUDF, f.getChildren.asScala.toVector) match {
        case (_: GenericUDFOPEqual, Vector(c: ExprNodeColumnDesc, v)) => keysOf(c, Vector(v), config, columns)
        case (_: GenericUDFOPEqual, Vector(v, c: ExprNodeColumnDesc)) => keysOf(c, Vector(v), config, columns)
        case (_: GenericUDFIn, (c: ExprNodeColumnDesc) +: values)     => keysOf(c, values, config, columns)
        case _                                                        => None
      }
    case _ => None
  }

  private def keysOf(
      column: ExprNodeColumnDesc,
      values: Vector[ExprNodeDesc],
      config: TableConfig,
      columns: ValueType.Struct
  ): Option[Set[String]] = {
    val at = columns.indexOf(column.getColumn)
    if (at < 0 || column.getIsPartitionColOrVirtualCol) None
    else {
      val name = columns.fields(at).name
      def found = texts(values, columns.fields(at).valueType, column.getTypeString)
      if (name == HivePredicate.KeyColumn && config.populateMetaFields) found
      else if (config.recordKeyFields == Vector(name))
        KeyTexts.of(config).toOption.flatMap(keys => found.map(keys.ofSingle))
      else None
    }
  }

  /** Keys of rows with these values, where both tables have the same type and one text stands for a value. */
  private def texts(values: Vector[ExprNodeDesc], valueType: ValueType, hiveType: String): Option[Set[String]] = {
    val plain = values.collect { case c: ExprNodeConstantDesc => c.getValue }
    val found = plain.collect {
      case text: String if valueType == ValueType.Text && hiveType == "string"    => text
      case WholeNumber(n) if valueType == ValueType.Int64 && hiveType == "bigint" => n.toString
      case WholeNumber(n) if valueType == ValueType.Int32 && hiveType == "int"    => n.toString
    }
    // An empty text as a key field's value has a key of its own making.
    if (found.length < values.length || found.contains("")) None else Some(found.toSet)
  }
}

private[hive] object HivePredicate {
  private val KeyColumn = "_hoodie_record_key"
  private val FilterExpression = "hive.io.filter.expr.serialized"
  private val log = Log.of("hudiidx.hive.HivePredicate")

  /** What cannot be read leaves nothing out. */
  def of(conf: Configuration): RowPredicate =
    Option(conf.get(FilterExpression)).flatMap(read).getOrElse(RowPredicate.Everything)

  private val Unread = ColumnCondition.Anything("the predicate of the query cannot be read")

  private def read(text: String): Option[RowPredicate] = told(
    new HivePredicate(SerializationUtilities.deserializeExpression(text))
  )

  /** What Hive's predicate tells; None where it is no whole one, or nested so deeply, or so large, that it tells nothing. */
  private def told[A](work: => A): Option[A] =
    try Some(work)
    catch {
      case e @ (NonFatal(_) | _: LinkageError | _: StackOverflowError | _: OutOfMemoryError) =>
        log.warn("the predicate of the query cannot be read, so that no file is left out by it: {}", e.toString)
        None
    }
}

/** Numbers of Java's integer classes. */
private[hive] object WholeNumber {
  def unapply(value: Any): Option[Long] = value match {
    case n @ (_: java.lang.Byte | _: java.lang.Short | _: java.lang.Integer | _: java.lang.Long) =>
      Some(n.asInstanceOf[Number].longValue)
    case _ => None
  }
}
