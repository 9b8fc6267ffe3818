package hudiidx.spark.procedure

import hudiidx.spark.{HudiIdxCatalog, SessionPart}
import org.apache.spark.sql.{SparkSession, SparkSessionExtensions}
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction
import org.apache.spark.sql.catalyst.expressions.{Expression, NamedArgumentExpression}
import org.apache.spark.sql.catalyst.parser.{ParseException, ParserInterface}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.{FunctionIdentifier, TableIdentifier}
import org.apache.spark.sql.types.{DataType, StructType}

/** `CALL` in sessions with our extension. */
final class CallExtension extends SessionPart {
  override def apply(extensions: SparkSessionExtensions): Unit = {
    extensions.injectParser(new CallParser(_, _))
    extensions.injectResolutionRule(new CallsOfHudi(_))
  }
}

/** Takes `CALL [catalog.]system.<procedure>(...)` where the catalog is [[HudiIdxCatalog]], which Spark 3.5 has no words for;
  * all else goes to the parser behind.
  */
final class CallParser(spark: SparkSession, behind: ParserInterface) extends ParserInterface {
  override def parsePlan(text: String): LogicalPlan =
    CallParser.function(text).flatMap(called).getOrElse(behind.parsePlan(text))

  private def called(function: String): Option[LogicalPlan] = {
    val parsed =
      try Some(behind.parseExpression(function))
      catch { case _: ParseException => None }
    parsed.collect { case f: UnresolvedFunction => f }.flatMap { f =>
      CallParser.plan(
        spark,
        f.nameParts.toVector,
        f.arguments.map {
          case NamedArgumentExpression(name, value) => (Some(name), value)
          case value                                => (None, value)
        }
      )
    }
  }

  override def parseExpression(text: String): Expression = behind.parseExpression(text)
  override def parseTableIdentifier(text: String): TableIdentifier = behind.parseTableIdentifier(text)
  override def parseFunctionIdentifier(text: String): FunctionIdentifier = behind.parseFunctionIdentifier(text)
  override def parseMultipartIdentifier(text: String): Seq[String] = behind.parseMultipartIdentifier(text)
  override def parseQuery(text: String): LogicalPlan = behind.parseQuery(text)
  override def parseTableSchema(text: String): StructType = behind.parseTableSchema(text)
  override def parseDataType(text: String): DataType = behind.parseDataType(text)
}

object CallParser {
  private val Call = "CALL"
  private val Namespace = "system"

  /** What a `CALL` calls, with its arguments. */
  private def function(text: String): Option[String] = {
    val statement = text.trim.stripSuffix(";").trim
    val isCall = statement.regionMatches(true, 0, Call, 0, Call.length) && statement.endsWith(")") &&
      statement.length > Call.length && statement.charAt(Call.length).isWhitespace
    if (isCall) Some(statement.substring(Call.length).trim) else None
  }

  /** None: the procedure is another catalog's. InvalidOption if it is not one of ours. */
  def plan(
      spark: SparkSession,
      name: Vector[String],
      arguments: Seq[(Option[String], Expression)]
  ): Option[LogicalPlan] = {
    val catalogs = spark.sessionState.catalogManager
    val catalog = name match {
      case Vector(_, _)                                           => Some(catalogs.currentCatalog)
      case Vector(one, _, _) if catalogs.isCatalogRegistered(one) => Some(catalogs.catalog(one))
      case _                                                      => None
    }
    catalog.filter(c => c.isInstanceOf[HudiIdxCatalog] && name(name.length - 2).equalsIgnoreCase(Namespace)).map { _ =>
      CallProcedure(Procedures.named(name.last), arguments.map(_._1), arguments.map(_._2))
    }
  }
}

/** Where Hudi's extension stands in front, its parser takes every CALL: ours are reclaimed from it. Its plan is known by its
  * shape, so that no class of Hudi is needed: a name and arguments, each with a name or without.
  */
final class CallsOfHudi(spark: SparkSession) extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case call if call.getClass.getSimpleName == "CallCommand" && call.productArity == 2 => ours(call).getOrElse(call)
    case other                                                                          => other
  }

  private def ours(call: LogicalPlan): Option[LogicalPlan] =
    (call.productElement(0), call.productElement(1)) match {
      case (name: Seq[_], arguments: Seq[_]) =>
        val given = arguments.collect { case argument: Product =>
          argument.productIterator.toVector match {
            case Vector(name: String, value: Expression) => (Some(name), value)
            case Vector(value: Expression)               => (None, value)
          }
        }
        CallParser.plan(spark, name.map(_.toString).toVector, given)
      case _ => None
    }
}
