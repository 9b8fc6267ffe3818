package hudiidx.spark.procedure

import hudiidx.spark.{HudiIdxSource, SessionPart}
import hudiidx.spark.options.{IncrementalOptions, ReadOptions}
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression, ExpressionInfo}
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.catalyst.{CatalystTypeConverters, FunctionIdentifier}
import org.apache.spark.sql.types.StringType
import org.apache.spark.sql.{DataFrame, SparkSession, SparkSessionExtensions}

/** What is asked of a table within a query: `SELECT * FROM hudiidx_lookup('db.trips', array('k1'))`. Arguments are constants, by
  * position. Answers of the driver are found when the query is analysed.
  */
final class TableFunctions extends SessionPart {
  override def apply(extensions: SparkSessionExtensions): Unit = {
    def function(name: String)(plan: Seq[Expression] => LogicalPlan): Unit =
      extensions.injectTableFunction(
        (FunctionIdentifier(name), new ExpressionInfo(classOf[TableFunctions].getName, name), plan)
      )
    TableFunctions.All.foreach(f => function(f.signature.name)(f.plan))
    if (!StockFunctions.areStocks)
      StockFunctions.Instead.keys.foreach(name => function(name)(_ => StockFunctions.refused(name)))
  }
}

final private[procedure] case class TableFunction(
    signature: Signature,
    rows: (SparkSession, Arguments) => LogicalPlan
) {
  def plan(arguments: Seq[Expression]): LogicalPlan = {
    arguments.find(!_.foldable).foreach(a => signature.refuse(s"${a.sql} is not a constant"))
    val given = arguments.map(a => Option.empty[String] -> CatalystTypeConverters.convertToScala(a.eval(), a.dataType))
    rows(SparkSession.active, signature.bind(given))
  }
}

private[procedure] object TableFunctions {

  /** The rows that were written behind `begin`, up to and with `end`: an incremental read. */
  private val changes = Signature(
    "hudiidx_changes",
    Vector(
      Parameter("table", StringType, required = true),
      Parameter("begin", StringType, required = true),
      Parameter("end", StringType)
    )
  )

  val All: Vector[TableFunction] =
    TableFunction(changes, (spark, call) => changesOf(spark, call).queryExecution.analyzed) +:
      Vector("lookup", "prune").map { name =>
        val procedure = Procedures.named(name)
        TableFunction(Signature(s"hudiidx_$name", procedure.parameters), answered(procedure))
      }

  private def answered(procedure: Procedure)(spark: SparkSession, call: Arguments): LogicalPlan = {
    val output = procedure.output.map(f => AttributeReference(f.name, f.dataType, f.nullable)())
    LocalRelation.fromExternalRows(output, procedure.run(spark, call))
  }

  private def changesOf(spark: SparkSession, call: Arguments): DataFrame = {
    val table = Procedures.tableOf(spark, call.text("table").get)
    val reader = spark.read
      .format(HudiIdxSource.Name)
      .options(table.options)
      .option(ReadOptions.QueryType, ReadOptions.Incremental)
      .option(IncrementalOptions.Begin, call.text("begin").get)
    call.text("end").fold(reader)(reader.option(IncrementalOptions.End, _)).load(table.path)
  }
}
