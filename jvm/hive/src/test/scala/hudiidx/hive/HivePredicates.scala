package hudiidx.hive

import java.util.{ArrayList => JArrayList, Properties}

import scala.collection.JavaConverters._

import org.apache.hadoop.hive.ql.exec.{ExprNodeEvaluatorFactory, SerializationUtilities}
import org.apache.hadoop.hive.ql.plan.{ExprNodeColumnDesc, ExprNodeConstantDesc, ExprNodeDesc, ExprNodeGenericFuncDesc}
import org.apache.hadoop.hive.ql.udf.generic.GenericUDF
import org.apache.hadoop.hive.serde2.objectinspector.{
  ObjectInspectorUtils,
  PrimitiveObjectInspector,
  StructObjectInspector
}
import org.apache.hadoop.hive.serde2.typeinfo.{TypeInfoFactory, TypeInfoUtils}
import org.apache.hadoop.io.{ArrayWritable, Writable}
import org.apache.hadoop.mapred.JobConf

/** Predicates as Hive hands them down, and what Hive itself says of rows. */
object HivePredicates {

  def column(name: String, of: String = "string"): ExprNodeDesc =
    new ExprNodeColumnDesc(TypeInfoUtils.getTypeInfoFromTypeString(of), name, "t", false)

  def constant(value: Any, of: String = "string"): ExprNodeDesc =
    new ExprNodeConstantDesc(TypeInfoUtils.getTypeInfoFromTypeString(of), value)

  /** With a list that Hive can send. */
  def call(function: GenericUDF, name: String, of: ExprNodeDesc*): ExprNodeDesc =
    new ExprNodeGenericFuncDesc(TypeInfoFactory.booleanTypeInfo, function, name, new JArrayList(of.asJava))

  /** The setting in which a job has it. */
  def pushed(predicate: ExprNodeDesc): (String, String) = "hive.io.filter.expr.serialized" ->
    SerializationUtilities.serializeExpression(predicate.asInstanceOf[ExprNodeGenericFuncDesc])
}

/** Rows of a table of Hive's as Hive sees them.
  *
  * @param job of which the columns are
  */
final class HiveRows(job: JobConf) {
  private val serde = new HudiIdxSerDe
  private val properties = new Properties
  Seq("columns", "columns.types").foreach(n => properties.setProperty(n, job.get(n)))
  serde.initialize(job, properties)
  private val inspector = serde.getObjectInspector.asInstanceOf[StructObjectInspector]

  private def struct(row: Array[Writable]): Any = serde.deserialize(new ArrayWritable(classOf[Writable], row))

  /** The column as an object of Java's, null or of the class that Hive has in constants. */
  def value(row: Array[Writable], name: String): Any = {
    val field = inspector.getStructFieldRef(name)
    ObjectInspectorUtils.copyToStandardJavaObject(
      inspector.getStructFieldData(struct(row), field),
      field.getFieldObjectInspector
    )
  }

  /** Those of which the predicate is true. */
  def satisfying(rows: Seq[Array[Writable]], predicate: ExprNodeDesc): Seq[Array[Writable]] = {
    val evaluator = ExprNodeEvaluatorFactory.get(predicate)
    val told = evaluator.initialize(inspector).asInstanceOf[PrimitiveObjectInspector]
    rows.filter { r =>
      val found = evaluator.evaluate(struct(r))
      found != null && told.getPrimitiveJavaObject(found) == java.lang.Boolean.TRUE
    }
  }
}
