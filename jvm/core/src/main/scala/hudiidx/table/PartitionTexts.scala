package hudiidx.table

/** The texts that a partition path has for the partition columns. Format notes §8.4.
  *
  * @param columns names in the order of the path
  */
final class PartitionTexts(config: TableConfig, columns: Vector[String]) {

  /** One text for each column; None if the path cannot be split without doubt. */
  def of(partitionPath: String): Option[Vector[String]] = {
    // A single column owns the whole path: without url encoding its values may contain slashes.
    val parts = if (columns.length == 1) Vector(partitionPath) else partitionPath.split("/", -1).toVector
    if (parts.length != columns.length) None
    else {
      val bare = columns.zip(parts).map { case (c, part) => withoutName(c, part) }
      if (bare.contains(None)) None
      else if (config.slashDates) PartitionTexts.dated(partitionPath).map(Vector(_))
      else Some(bare.flatten.map(t => if (config.urlEncode) PartitionTexts.decode(t) else t))
    }
  }

  private def withoutName(column: String, part: String): Option[String] =
    if (!config.hiveStyle) Some(part)
    else if (part.startsWith(column + "=")) Some(part.substring(column.length + 1))
    else None
}

object PartitionTexts {

  /** Generators that put a value's own text into the path. */
  private val PlainKinds =
    Set("SIMPLE", "COMPLEX", "NON_PARTITION", "GLOBAL_DELETE", "AUTO_RECORD", "SPARK_SQL", "SPARK_SQL_UUID")
  private val CustomKinds = Set("CUSTOM")
  private val TimestampKind = "TIMESTAMP"
  private val kindsOfClasses = Map(
    "SimpleKeyGenerator" -> "SIMPLE",
    "ComplexKeyGenerator" -> "COMPLEX",
    "NonpartitionedKeyGenerator" -> "NON_PARTITION",
    "GlobalDeleteKeyGenerator" -> "GLOBAL_DELETE",
    "CustomKeyGenerator" -> "CUSTOM",
    "TimestampBasedKeyGenerator" -> TimestampKind,
    "SqlKeyGenerator" -> "SPARK_SQL"
  )

  /** Columns whose text in the path is their own value: not where the key generator formats it, or is not known. */
  def plainColumns(config: TableConfig): Set[String] = config.keyGenerator.map(kindOf) match {
    case None                            => config.partitionFields.toSet
    case Some(kind) if PlainKinds(kind)  => config.partitionFields.toSet
    case Some(kind) if CustomKinds(kind) => customSimple(config)
    case _                               => Set.empty
  }

  /** Columns of times whose text in the path has a format of the key generator's. Of custom key generators stock Hudi takes such
    * texts for values.
    */
  def formattedColumns(config: TableConfig): Set[String] =
    if (config.keyGenerator.map(kindOf).contains(TimestampKind)) config.partitionFields.toSet else Set.empty

  private def customSimple(config: TableConfig): Set[String] = config
    .text("hoodie.table.partition.fields")
    .toVector
    .flatMap(_.split(','))
    .map(_.trim)
    .filter(_.toUpperCase.endsWith(":SIMPLE"))
    .map(_.takeWhile(_ != ':'))
    .toSet

  /** A generator's type from its type or class name, its Avro twin counting as the same; any other name unchanged. */
  private def kindOf(name: String): String =
    if (name.contains('.')) {
      val simple = name.substring(name.lastIndexOf('.') + 1).replace("AvroKeyGenerator", "KeyGenerator")
      kindsOfClasses.getOrElse(simple, name)
    } else name.toUpperCase.stripSuffix("_AVRO")

  /** The text of a folder that has slashes for dashes: of dates alone it is known what was which. */
  private def dated(folder: String): Option[String] =
    if (isDay(folder, '/')) Some(folder.replace('/', '-')) else if (folder.indexOf('/') < 0) Some(folder) else None

  /** It has the form of 2026-01-05 with this character between its numbers. */
  def isDay(text: String, between: Char): Boolean = text.length == 10 && text.indices.forall { i =>
    if (i == 4 || i == 7) text.charAt(i) == between else text.charAt(i) >= '0' && text.charAt(i) <= '9'
  }

  /** `%XX` back to its character; anything that is no such escape stays. */
  def decode(text: String): String =
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
