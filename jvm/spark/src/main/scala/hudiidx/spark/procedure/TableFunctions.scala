package hudiidx.spark.procedure

import hudiidx.spark.{HudiIdxSource, IncrementalOptions, ReadOptions, SessionPart}
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression, ExpressionInfo}
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.catalyst.{CatalystTypeConverters, FunctionIdentifier}
import org.apache.spark.sql.types.{StringType, StructType}
import org.apache.spark.sql.{DataFrame, SparkSession, SparkSessionExtensions}

/** What is asked of a table within a query: `SELECT * FROM hudiidx_lookup('db.trips', array('k1'))`. Arguments are constants, by
  * position. Answers of the driver are found when the query is analysed.
  */
final class TableFunctions extends SessionPart {
  override def apply(extensions: SparkSessionExtensions): Unit = TableFunctions.All.foreach { f =>
    val info = new ExpressionInfo(classOf[TableFunctions].getName, f.name)
    extensions.injectTableFunction((FunctionIdentifier(f.name), info, f.plan _))
  }
}

/** A function by the procedure that checks its arguments, with what makes its rows. */
final private[procedure] case class TableFunction(
    name: String,
    procedure: Procedure,
    rows: (SparkSession, Arguments) => LogicalPlan
) {
  def plan(arguments: Seq[Expression]): LogicalPlan = {
    arguments.find(!_.foldable).foreach(a => procedure.refuse(s"${a.sql} is no constant"))
    val given = arguments.map(a => Option.empty[String] -> CatalystTypeConverters.convertToScala(a.eval(), a.dataType))
    rows(SparkSession.active, procedure.bind(given))
  }
}

private[procedure] object TableFunctions {

  /** The rows that were written behind `begin`, up to and with `end`: an incremental read. */
  private val changes = Procedure(
    "hudiidx_changes",
    "The rows that were written behind an instant.",
    Vector(
      Parameter("table", StringType, required = true),
      Parameter("begin", StringType, required = true),
      Parameter("end", StringType)
    ),
    new StructType(),
    (_, _) => Nil,
    before = ""
  )

  val All: Vector[TableFunction] =
    TableFunction(changes.name, changes, (spark, call) => plan(changesOf(spark, call))) +:
      Vector("lookup", "prune").map { name =>
        val procedure = Procedures.named(name)
        TableFunction(s"hudiidx_$name", procedure.copy(name = s"hudiidx_$name", before = ""), answered(procedure))
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

  private def plan(frame: DataFrame): LogicalPlan = frame.queryExecution.analyzed
}
