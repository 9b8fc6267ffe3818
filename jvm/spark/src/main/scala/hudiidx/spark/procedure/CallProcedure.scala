package hudiidx.spark.procedure

import org.apache.spark.sql.catalyst.CatalystTypeConverters
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, Expression}
import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.{Row, SparkSession}

/** `CALL system.<procedure>(...)`, run when its plan is.
  *
  *  @param names of the arguments, as many as values; None: given by position
  */
final case class CallProcedure(procedure: Procedure, names: Seq[Option[String]], values: Seq[Expression])
    extends LeafRunnableCommand {
  override lazy val output: Seq[Attribute] =
    procedure.output.map(f => AttributeReference(f.name, f.dataType, f.nullable)())

  override def run(spark: SparkSession): Seq[Row] = {
    values.find(!_.foldable).foreach(v => procedure.signature.refuse(s"${v.sql} is not a constant"))
    val given = values.map(v => CatalystTypeConverters.convertToScala(v.eval(), v.dataType))
    procedure.run(spark, procedure.signature.bind(names.zip(given)))
  }
}
