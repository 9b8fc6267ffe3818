package hudiidx.spark

import hudiidx.table.{PartitionPathForm, TableConfig}
import org.apache.spark.sql.catalyst.expressions.{Cast, Literal}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** What partition paths say about the partition columns. Format notes §8.4.
  *
  *  @param columns the table's partition columns in the order of the path, with their types
  */
final class PartitionValues(config: TableConfig, columns: Vector[StructField], zone: String) {

  /** For each column the values that a row of the partition may have there, or None if the path does not tell. Several
    *  where an old table's folder for nulls may be a value's too.
    */
  def possible(partitionPath: String): Vector[Option[Vector[Any]]] = texts(partitionPath) match {
    case None        => columns.map(_ => None)
    case Some(parts) => columns.zip(parts).map { case (c, text) => if (isPlain(c.name)) possibleOf(text, c) else None }
  }

  /** The columns that are null in every row of the partition. An empty string shares the folder of nulls; stock Hudi takes
    *  the value from the path and so shows both as null, whatever the file holds.
    */
  def nulls(partitionPath: String): Vector[String] = texts(partitionPath) match {
    case None        => Vector.empty
    case Some(parts) =>
      columns.zip(parts).collect { case (c, PartitionPathForm.NoValue) if isPlain(c.name) => c.name }
  }

  /** The values of columns that are not stored in the data files: one each, null where the path has no value. */
  def rebuilt(partitionPath: String): Vector[Any] = texts(partitionPath) match {
    case None        => columns.map(_ => null)
    case Some(parts) =>
      columns.zip(parts).map { case (c, text) =>
        if (text == PartitionPathForm.NoValue) null else cast(text, c.dataType)
      }
  }

  /** One text for each column; None if the path cannot be split without doubt. */
  private def texts(partitionPath: String): Option[Vector[String]] = {
    // A single column owns the whole path: without url encoding its values may contain slashes.
    val parts = if (columns.length == 1) Vector(partitionPath) else partitionPath.split("/", -1).toVector
    if (parts.length != columns.length) None
    else {
      val bare = columns.zip(parts).map { case (c, part) => withoutName(c.name, part) }
      if (bare.contains(None)) None
      else Some(bare.flatten.map(t => if (config.urlEncode) PartitionValues.decode(t) else t))
    }
  }

  private def withoutName(column: String, part: String): Option[String] =
    if (!config.hiveStyle) Some(part)
    else if (part.startsWith(column + "=")) Some(part.substring(column.length + 1))
    else None

  /** Is the path's text the column's own value? Not where the key generator formats it. */
  private def isPlain(column: String): Boolean = config.keyGenerator match {
    case None       => true
    case Some(name) =>
      val kind = PartitionValues.kindOf(name)
      PartitionValues.PlainKinds(kind) || (PartitionValues.CustomKinds(kind) && customSimple.contains(column))
  }

  private val customSimple: Set[String] = config
    .text("hoodie.table.partition.fields")
    .toVector
    .flatMap(_.split(','))
    .map(_.trim)
    .filter(_.toUpperCase.endsWith(":SIMPLE"))
    .map(_.takeWhile(_ != ':'))
    .toSet

  private def possibleOf(text: String, column: StructField): Option[Vector[Any]] =
    if (text == PartitionPathForm.NoValue) Some(Vector(null))
    else if (column.dataType == StringType && (text.isEmpty || text == PartitionValues.OldDefaultPartition))
      Some(Vector(null, UTF8String.EMPTY_UTF8, UTF8String.fromString(text)))
    else if (!PartitionValues.isCertain(text, column.dataType)) None
    else Option(cast(text, column.dataType)).map(v => Vector(v))

  private def cast(text: String, to: DataType): Any =
    if (to == StringType) UTF8String.fromString(text)
    else Cast(Literal(text), to, Some(zone), ansiEnabled = false).eval(null)
}

object PartitionValues {
  private val OldDefaultPartition = "default"

  /** Generators that put a value's own text into the path. */
  private val PlainKinds =
    Set("SIMPLE", "COMPLEX", "NON_PARTITION", "GLOBAL_DELETE", "AUTO_RECORD", "SPARK_SQL", "SPARK_SQL_UUID")
  private val CustomKinds = Set("CUSTOM")
  private val kindsOfClasses = Map(
    "SimpleKeyGenerator" -> "SIMPLE",
    "ComplexKeyGenerator" -> "COMPLEX",
    "NonpartitionedKeyGenerator" -> "NON_PARTITION",
    "GlobalDeleteKeyGenerator" -> "GLOBAL_DELETE",
    "CustomKeyGenerator" -> "CUSTOM",
    "SqlKeyGenerator" -> "SPARK_SQL"
  )

  /** A generator's type from its type or class name, its Avro twin counting as the same; any other name unchanged. */
  private def kindOf(name: String): String =
    if (name.contains('.')) {
      val simple = name.substring(name.lastIndexOf('.') + 1).replace("AvroKeyGenerator", "KeyGenerator")
      kindsOfClasses.getOrElse(simple, name)
    } else name.toUpperCase.stripSuffix("_AVRO")

  /** Types whose path text has one reading. Dates may be written as day numbers, and timestamps in several ways, so only
    *  the plain form of a date counts.
    */
  private def isCertain(text: String, dataType: DataType): Boolean = dataType match {
    case StringType | BooleanType                      => true
    case ByteType | ShortType | IntegerType | LongType => isInteger(text)
    case DateType                                      => text.matches("\\d{4}-\\d{2}-\\d{2}")
    case _                                             => false
  }

  private def isInteger(text: String): Boolean = text.matches("-?\\d{1,19}")

  /** `%XX` back to its character; anything that is no such escape stays. */
  private[spark] def decode(text: String): String =
    if (text.indexOf('%') < 0) text
    else {
      val b = new java.lang.StringBuilder(text.length)
      var i = 0
      while (i < text.length) {
        val code = if (text.charAt(i) == '%' && i + 2 < text.length) hex(text, i + 1) else -1
        if (code >= 0) { b.append(code.toChar); i += 3 }
        else { b.append(text.charAt(i)); i += 1 }
      }
      b.toString
    }

  private def hex(text: String, at: Int): Int = {
    val high = Character.digit(text.charAt(at), 16)
    val low = Character.digit(text.charAt(at + 1), 16)
    if (high < 0 || low < 0) -1 else high * 16 + low
  }
}
