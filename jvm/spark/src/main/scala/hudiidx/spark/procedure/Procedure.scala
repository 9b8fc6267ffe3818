package hudiidx.spark.procedure

import hudiidx.InvalidOption
import org.apache.spark.sql.types.{DataType, StructType}
import org.apache.spark.sql.{Row, SparkSession}

/** @param dataType what values are taken for, such as ARRAY<STRING>; a text is taken for an array of one */
final case class Parameter(name: String, dataType: DataType, required: Boolean = false)

/** What a call takes.
  *
  *  @param name as it is called, with what stands before it
  */
final case class Signature(name: String, parameters: Vector[Parameter]) {
  def usage: String =
    parameters.map(p => s"${p.name} => ${p.dataType.sql}${if (p.required) "" else "?"}").mkString(s"$name(", ", ", ")")

  /** Values in the order of the call; a name is None where the value was given by position. InvalidOption for ones that do not
    * fit.
    */
  def bind(values: Seq[(Option[String], Any)]): Arguments = {
    val (byPosition, byName) = values.span(_._1.isEmpty)
    if (byPosition.length > parameters.length) refuse(s"${values.length} arguments")
    if (byName.exists(_._1.isEmpty)) refuse("an argument by position behind one by name")
    val placed = parameters.map(_.name).zip(byPosition.map(_._2))
    val named = byName.map { case (name, value) =>
      parameters
        .find(p => name.exists(_.equalsIgnoreCase(p.name)))
        .getOrElse(refuse(s"it has no parameter ${name.mkString}"))
        .name -> value
    }
    val all = placed ++ named
    all.groupBy(_._1).collectFirst { case (which, twice) if twice.length > 1 => refuse(s"$which twice") }: Unit
    val given = all.filter(_._2 != null).toMap
    parameters.find(p => p.required && !given.contains(p.name)).foreach(p => refuse(s"${p.name} is needed"))
    Arguments(this, given)
  }

  private[procedure] def refuse(why: String): Nothing = throw new InvalidOption(s"$usage: $why")
}

/** What `CALL system.<name>(...)` runs.
  *
  *  @param what  one sentence, for docs
  *  @param run   arguments by name, as Scala values, to rows of `output`
  */
final case class Procedure(
    name: String,
    what: String,
    parameters: Vector[Parameter],
    output: StructType,
    run: (SparkSession, Arguments) => Seq[Row]
) {
  def signature: Signature = Signature(s"CALL system.$name", parameters)
}

/** Arguments of one call by the names of parameters; those that were left out or NULL are not there. */
final case class Arguments(of: Signature, values: Map[String, Any]) {
  def text(name: String): Option[String] = values.get(name).map {
    case s: String => s
    case other     => refuse(name, other, "a text")
  }

  def whole(name: String): Option[Long] = values.get(name).map {
    case n: java.lang.Number if !n.isInstanceOf[java.lang.Double] => n.longValue
    case other                                                    => refuse(name, other, "a whole number")
  }

  def flag(name: String): Boolean = values.get(name).exists {
    case b: Boolean => b
    case other      => refuse(name, other, "true or false")
  }

  /** Texts of an array, or one text. */
  def texts(name: String): Option[Vector[String]] = values.get(name).map {
    case s: String                  => Vector(s)
    case s: scala.collection.Seq[_] =>
      s.iterator.map(v => if (v == null) refuse(name, s, "an array without NULL") else v.toString).toVector
    case other => refuse(name, other, "an array of texts")
  }

  private def refuse(name: String, value: Any, wanted: String): Nothing =
    of.refuse(s"$name => $value: $wanted is needed")
}
