package hudiidx.merge

import java.nio.charset.StandardCharsets.UTF_8

import hudiidx.UnsupportedTable

/** When a column's value in a row that wins gives way to an older version's. Format notes §7.6. */
sealed abstract class FieldMergeRule extends Product with Serializable

object FieldMergeRule {
  case object Never extends FieldMergeRule
  case object IfNull extends FieldMergeRule

  final case class IfEqual(default: Any) extends FieldMergeRule {

    /** @param value boxed; null for null */
    def isEqual(value: Any): Boolean = (value, default) match {
      // As Java's boxes compare: NaN equals NaN, and 0.0 is not -0.0.
      case (a: Float, b: Float)   => java.lang.Float.compare(a, b) == 0
      case (a: Double, b: Double) => java.lang.Double.compare(a, b) == 0
      case _                      => value == default
    }
  }

  /** A string or binary of this text. */
  final case class IfText(text: String) extends FieldMergeRule {
    def bytes: Array[Byte] = text.getBytes(UTF_8)
  }

  /** What is in a column, as far as rules go. */
  sealed abstract class Kind extends Product with Serializable
  case object Text extends Kind
  case object Bool extends Kind
  case object Whole extends Kind
  case object Floating extends Kind
  case object Other extends Kind

  /** UnsupportedTable for a default that only Hudi's own code compares.
    *
    * @param shown   the column's type, for errors
    * @param default of the column's field in the table's schema, boxed; null for none
    */
  def of(mixing: ColumnMerge, column: String, kind: Kind, shown: => String, default: => Any): FieldMergeRule =
    (mixing, kind) match {
      case (ColumnMerge.Never, _)                                => Never
      case (ColumnMerge.Nulls, _)                                => IfNull
      case (ColumnMerge.Unavailable(text), Text)                 => IfText(text)
      case (ColumnMerge.Unavailable(_), _)                       => Never
      case _ if default == null                                  => IfNull
      case (ColumnMerge.Defaults, Bool)                          => IfEqual(default)
      case (ColumnMerge.Defaults, Whole) if isOneObject(default) => IfEqual(default)
      case (ColumnMerge.Defaults, _)                             => Never
      case (ColumnMerge.EqualDefaults, Bool | Whole | Floating)  => IfEqual(default)
      case (ColumnMerge.EqualDefaults, _)                        =>
        throw new UnsupportedTable(
          s"column $column of type $shown has a default other than null, which the table's payload class compares; " +
            s"read the base files alone with ${MergeRules.ReadOptimized}, or the table with Hudi"
        )
    }

  /** Java keeps one object of each such number. */
  private def isOneObject(value: Any): Boolean = {
    val number = value.asInstanceOf[Number].longValue
    number >= Byte.MinValue && number <= Byte.MaxValue
  }
}
