package hudiidx.column.expression

import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Try

import hudiidx.column.expression.ExpressionTree.Constant

/** The functions that an indexed expression may be made of, by Spark's names. All give the same for a row at any time, call no code of
  * somebody's, read nothing but their arguments, and what they give is bounded.
  */
object ExpressionFunctions {

  /** How large a result is, by the arguments and by how large these are; Left tells which argument leaves that open. */
  type Rule = (Vector[ExpressionTree], Vector[ExpressionGrowth]) => Either[String, ExpressionGrowth]

  /** An element of an array or a map, as `split(name, '-')[0]`. */
  val Element = "[]"
  val In = "in"
  val Case = "when"
  val AddUnits = "timestampadd"
  val UnitsBetween = "timestampdiff"

  /** Left for a function that is not among them. */
  def rule(name: String): Either[String, Rule] =
    byName.get(name).toRight(s"function $name is not among those that can be indexed")

  def has(name: String): Boolean = byName.contains(name)

  def names: Vector[String] = byName.keys.toVector.sorted

  /** How often Spark has an argument in what it puts in a function's place when it plans a query. */
  def repeats(name: String, arguments: Int, at: Int): Int = (name, at) match {
    case ("nullif" | "nullifzero" | "between" | "regexp_substr" | "right", _) => 2
    // Its beginning, its end and its length are looked at.
    case ("like" | "ilike", 0) => 3
    // Each value that is looked for is compared with it.
    case ("decode", 0) => math.max(1, (arguments - 1) / 2)
    case _             => 1
  }

  private def fixed: Rule = (_, _) => Right(ExpressionGrowth.Fixed)
  private def times(n: Long): Rule = (_, sizes) => Right(sum(sizes) * n)

  /** Arrays of pieces of a text have an object for each. */
  private val PerPiece = 64L

  private val Comparisons = words(
    "= == <=> < <= > >= ! not and or in between like ilike rlike regexp regexp_like isnull isnotnull isnan"
  )
  private val Arithmetic = words(
    "+ - * / div % & | ^ ~ negative positive mod pmod abs sign signum acos acosh asin asinh atan atan2 atanh cbrt cos cosh cot csc " +
      "degrees e exp expm1 factorial hypot ln log log10 log1p log2 pi pow power radians rint sec sin sinh sqrt tan tanh " +
      "try_add try_divide try_mod try_multiply try_remainder try_subtract width_bucket bit_count bit_get getbit shiftleft shiftright " +
      "shiftrightunsigned << >> >>> conv zeroifnull nullifzero bigint boolean date decimal double float int smallint timestamp tinyint"
  )
  private val Times = words(
    "add_months date_add date_diff date_from_unix_date date_sub dateadd datediff day dayname dayofmonth dayofweek dayofyear hour last_day " +
      "make_date make_dt_interval make_interval make_timestamp make_timestamp_ltz make_timestamp_ntz make_ym_interval minute month " +
      "monthname months_between next_day quarter second timestamp_micros timestamp_millis timestamp_seconds unix_date unix_micros " +
      "unix_millis unix_seconds weekday weekofyear year convert_timezone date_part date_trunc datepart extract from_utc_timestamp " +
      "to_utc_timestamp trunc to_date to_timestamp to_timestamp_ltz to_timestamp_ntz to_unix_timestamp try_to_date try_to_timestamp " +
      s"unix_timestamp $AddUnits $UnitsBetween"
  )
  private val OfTexts = words(
    "ascii bit_length char_length character_length contains crc32 endswith equal_null find_in_set hash instr is_valid_utf8 len length " +
      "levenshtein locate luhn_check md5 octet_length position regexp_count regexp_instr sha sha1 sha2 startswith xxhash64 " +
      "json_array_length array_contains array_position array_size arrays_overlap cardinality map_contains_key size"
  )

  /** What they give is part of their arguments, or all of these behind each other. */
  private val Parts = words(
    "coalesce if ifnull nanvl nullif nvl nvl2 when greatest least btrim chr char concat elt left ltrim overlay reverse right rtrim " +
      "split_part substr substring substring_index trim regexp_extract regexp_substr string binary soundex [] get element_at " +
      "try_element_at array_max array_min"
  )

  /** In other characters. */
  private val Recoded = words(
    "base64 bin decode encode hex initcap lcase lower mask make_valid_utf8 translate try_to_binary try_validate_utf8 to_binary ucase " +
      "unbase64 unhex upper url_decode try_url_decode validate_utf8 parse_url try_parse_url get_json_object"
  )
  private val Pieces = words(
    "array array_append array_compact array_distinct array_except array_intersect array_prepend array_remove array_union flatten " +
      "json_object_keys map map_keys map_values regexp_extract_all slice sort_array split str_to_map"
  )

  /** They take little time for constants, of whatever length. */
  private val Quick = (Arithmetic ++ Times ++ words("concat array")).toSet

  def isQuick(name: String): Boolean = Quick(name)

  private val MostCopies = 1000L
  private val MostLength = 65536L
  private val MostDigits = 400L

  private val byName: Map[String, Rule] =
    ((Comparisons ++ Arithmetic ++ Times ++ OfTexts).map(_ -> fixed) ++ Parts.map(_ -> times(1)) ++
      Recoded.map(_ -> times(4)) ++ Vector("url_encode" -> times(9)) ++ Pieces.map(_ -> times(PerPiece)) ++ words(
        "date_format from_unixtime"
      ).map(_ -> times(32)) ++
      words("lpad rpad").map(_ -> padded) ++ words("format_string printf").map(_ -> formatted) ++
      words("round bround ceil ceiling floor").map(_ -> scaled) ++
      words("to_char to_varchar to_number try_to_number").map(_ -> patterned) ++
      Vector(
        "repeat" -> repeated,
        "space" -> spaces,
        "replace" -> replaced,
        "regexp_replace" -> matchesReplaced,
        "concat_ws" -> joined,
        "array_join" -> elementsJoined,
        "format_number" -> numberFormatted
      )).toMap

  private def repeated: Rule = (args, sizes) =>
    argument(args, 1).flatMap(number(_, MostCopies)).map(n => sizes(0) * math.max(n, 1))

  private def spaces: Rule =
    (args, _) => argument(args, 0).flatMap(number(_, MostLength)).map(ExpressionGrowth.Fixed.and(_))

  private def padded: Rule =
    (args, sizes) => argument(args, 1).flatMap(number(_, MostLength)).map(n => sum(sizes).and(4 * n))

  private def replaced: Rule = (args, sizes) =>
    if (args.size == 2) Right(sizes(0)) else argument(args, 2).flatMap(text).map(n => sizes(0) * (1L + n))

  private def matchesReplaced: Rule =
    (args, sizes) => argument(args, 2).flatMap(text).map(n => (sizes(0) + ExpressionGrowth.Fixed) * (2L * (1L + n)))

  private def joined: Rule =
    (args, sizes) => argument(args, 0).flatMap(text).map(n => (sum(sizes.drop(1)) * (1L + n)).and(n * args.size))

  private def elementsJoined: Rule = (args, sizes) =>
    for {
      separator <- argument(args, 1).flatMap(text)
      missing <- args.lift(2).fold[Either[String, Long]](Right(0L))(text)
    } yield sizes(0) * (1L + separator + missing)

  private def numberFormatted: Rule = (args, sizes) =>
    argument(args, 1)
      .flatMap(form => if (isText(form)) pattern(form) else number(form, MostDigits))
      .map(n => sum(sizes).and(4 * n + 512))

  private def scaled: Rule = (args, sizes) =>
    if (args.size < 2) Right(sum(sizes)) else number(args(1), MostDigits).map(_ => sum(sizes))

  private def patterned: Rule = (args, sizes) => argument(args, 1).flatMap(pattern).map(n => sum(sizes).and(16 * n))

  /** Widths have at most three digits. */
  private def formatted: Rule = (args, sizes) =>
    args.headOption match {
      case Some(Constant(_, Some(form))) if !form.matches("(?s).*\\d{4}.*") =>
        val places = 1L + form.count(_ == '%')
        Right(((sum(sizes) * 4).and(1000) * places).and(form.length.toLong * 4))
      case _ => Left("its format must be a constant, with widths below 1000")
    }

  private def words(text: String): Vector[String] = text.split(' ').toVector

  private def sum(sizes: Vector[ExpressionGrowth]): ExpressionGrowth = sizes.foldLeft(ExpressionGrowth.Fixed)(_ + _)

  private def argument(args: Vector[ExpressionTree], at: Int): Either[String, ExpressionTree] =
    args.lift(at).toRight(s"it takes ${at + 1} arguments")

  /** A constant number of at most `most`, the sign apart. */
  private def number(tree: ExpressionTree, most: Long): Either[String, Long] = tree match {
    case Constant(_, Some(value)) =>
      Try(value.toLong).toOption
        .map(Math.abs)
        .filter(n => n >= 0 && n <= most)
        .toRight(s"a number in it must be at most $most")
    case ExpressionTree.Call("negative", Vector(n)) => number(n, most)
    case _                                          => Left("a number in it must be a constant")
  }

  /** Bytes of a constant text. */
  private def text(tree: ExpressionTree): Either[String, Long] = tree match {
    case Constant(_, value) => Right(value.fold(0L)(_.getBytes(UTF_8).length.toLong))
    case _                  => Left("the text that it puts in must be a constant")
  }

  private def isText(tree: ExpressionTree): Boolean = tree match {
    case Constant("string", _) => true
    case _                     => false
  }

  private def pattern(tree: ExpressionTree): Either[String, Long] =
    text(tree).flatMap(n =>
      if (n <= MostDigits) Right(n) else Left(s"its pattern must have at most $MostDigits characters")
    )
}
