package hudiidx.spark.prune

import hudiidx.column.expression.ExpressionFunctions
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.objects.{Invoke, StaticInvoke}

/** Of which classes of Spark's a resolved expression may be: those of the listed functions, what Spark puts in their place, and what its
  * analyzer puts between them. Whatever else comes of a tree, by whatever rule of whatever release, is refused by its name.
  */
private[spark] object ExpressionNodes {

  /** None for what may be there. */
  def refusal(e: Expression): Option[String] = {
    val (name, isKnown) = e match {
      case s: StaticInvoke => known(s"${s.staticObject.getName.stripSuffix("$")}.${s.functionName}", Methods)
      case i: Invoke       => known(s"${i.targetObject.dataType.typeName}.${i.functionName}", Methods)
      case other           => known(other.getClass.getName, Classes)
    }
    if (isKnown) None else Some(s"Spark makes $name of it, of which no indexed expression may be made")
  }

  private def known(name: String, among: Set[String]): (String, Boolean) = (name, among(name))

  private lazy val Classes: Set[String] =
    words(
      "AttributeReference Literal GetStructField GetArrayItem GetMapValue In TimestampAdd TimestampDiff LambdaFunction NamedLambdaVariable " +
        "ArrayFilter ArrayInsert BinaryPad BinaryPredicate Ceil Contains DivideDTInterval DivideInterval DivideYMInterval EndsWith Floor " +
        "GetTimestamp Mask MultiplyDTInterval MultiplyInterval MultiplyYMInterval RoundCeil RoundFloor SecondWithFraction StartsWith " +
        "StringDecode StringLPad StringRPad StringSplitSQL SubtractDates SubtractTimestamps TryEval TypedNullLiteral YearOfWeek TimeAdd " +
        "TimestampAddYMInterval DateAddYMInterval DateAddInterval DatetimeSub KnownNotContainsNull " +
        "ToCharacter TimestampAddInterval MakeTimestamp MakeTimestampNTZ MakeTimestampFromDateTime Hour Minute Second"
    ) ++ PartsOfIntervals.flatMap(p => words(s"ExtractInterval$p ExtractANSIInterval$p")) ++ ofFunctions

  private def PartsOfIntervals = Vector("Years", "Months", "Days", "Hours", "Minutes", "Seconds")

  private def words(text: String, of: String = "org.apache.spark.sql.catalyst.expressions."): Set[String] =
    text.split(' ').map(of + _).toSet

  private def ofFunctions: Set[String] = ExpressionFunctions.names.flatMap { name =>
    FunctionRegistry.builtin.lookupFunction(LineFunctions.builtin(name)).map(_.getClassName)
  }.toSet

  /** Calls of Spark's own, with the class or the type whose method it is. */
  private val Methods: Set[String] = words(
    "Base64.encode Encode.encode StringDecode.decode UrlCodec.decode UrlCodec.encode ExpressionImplUtils.isLuhnNumber " +
      "ExpressionImplUtils.validateUTF8String ExpressionImplUtils.tryValidateUTF8String json.JsonExpressionUtils.lengthOfJsonArray " +
      "json.JsonExpressionUtils.jsonObjectKeys"
  ) ++ words(
    "array.ByteArrayMethods.contains array.ByteArrayMethods.endsWith array.ByteArrayMethods.startsWith types.ByteArray.lpad " +
      "types.ByteArray.rpad",
    of = "org.apache.spark.unsafe."
  ) ++ words("string.isValid string.makeValid org.apache.spark.sql.catalyst.util.DateTimeUtils.makeTimestamp", of = "")
}
