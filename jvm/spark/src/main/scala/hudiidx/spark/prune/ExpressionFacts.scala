package hudiidx.spark.prune

import java.time.ZoneId
import java.time.zone.ZoneRulesProvider
import java.util.{Locale => JavaLocale}

import scala.util.Try

import hudiidx.InvalidOption
import hudiidx.column.ColumnExpression
import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.catalyst.expressions.{
  Cast,
  ConvertTimezone,
  Expression,
  ILike,
  InitCap,
  Literal,
  Lower,
  MakeTimestamp,
  TimeZoneAwareExpression,
  ToTimestamp,
  UTCTimestamp,
  Upper
}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, StringType, TimestampNTZType, TimestampType}

/** What the values of an expression depend on beside its columns: docs/format.md, "Expressions". An index helps where all of it is
  * as it was when the index was made.
  */
private[spark] object ExpressionFacts {
  private val Types = "types"
  private val Spark = "spark"
  private val Java = "java"
  private val Zone = "zone"
  private val Locale = "locale"
  private val Zones = "zones"
  private val NotSettings = Set(ColumnExpression.Form, Types, Spark, Java, Zone, Locale, Zones)

  /** Settings that change what expressions give; other settings of these families are about files. */
  private val Families = Vector("spark.sql.ansi.", "spark.sql.legacy.")
  private val OfFiles = Vector("parquet.", "avro.", "csv.", "json.", "orc.").map("spark.sql.legacy." + _)
  private val Single = Set(
    "spark.sql.decimalOperations.allowPrecisionLoss",
    "spark.sql.parser.escapedStringLiterals",
    "spark.sql.mapKeyDedupPolicy",
    "spark.sql.timestampType",
    "spark.sql.chunkBase64String.enabled",
    "spark.sql.function.concatBinaryAsString",
    "spark.sql.function.eltOutputAsString",
    "spark.sql.icu.caseMappings.enabled",
    "spark.sql.binaryOutputStyle"
  )

  /** In this process, under these settings.
    *
    *  @param parts all forms of the expression: as it was analysed, and with functions replaced by those that stand for them
    *  @param types of its columns, in the order of their names
    */
  def of(parts: Seq[Expression], types: Seq[DataType], conf: SQLConf): Vector[(String, String)] = {
    def where(asks: Expression => Boolean, fact: => (String, String)) =
      if (parts.exists(_.exists(asks))) Some(fact) else None
    Vector(
      ColumnExpression.Form -> ColumnExpression.ThisForm,
      Types -> types.map(_.catalogString).mkString(" "),
      Spark -> SPARK_VERSION.split('.').take(2).mkString("."),
      Java -> java
    ) ++ where(asksZone, Zone -> zoneText(conf.sessionLocalTimeZone)) ++ where(asksLocale, Locale -> locale) ++
      where(asksZones, Zones -> zones) ++ settings(conf)
  }

  /** A fact of the process, not of settings, is another in this one: a task's process may differ from the one that sent it. */
  def differsHere(facts: Vector[(String, String)]): Boolean = facts.exists {
    case (Java, value)   => value != java
    case (Locale, value) => value != locale
    case (Zones, value)  => value != zones
    case (Zone, value)   => zoneOf(value).forall(zoneText(_) != value)
    case _               => false
  }

  /** All of a session that any expression may depend on. */
  def session(conf: SQLConf): Vector[(String, String)] =
    Vector(Zone -> conf.sessionLocalTimeZone, Locale -> locale) ++ settings(conf)

  private def java: String = Runtime.version().feature().toString

  /** Java has other upper and lower cases in these languages; in all others the same. */
  private def locale: String = {
    val language = JavaLocale.getDefault.getLanguage
    if (Languages(language)) language else "any"
  }
  private val Languages = Set("tr", "az", "lt")

  /** The release of the rules of all zones. */
  private def zones: String = ZoneRulesProvider.getVersions("UTC").lastKey

  /** InvalidOption for a setting that cannot be written down. */
  def check(facts: Vector[(String, String)]): Unit = facts.foreach { case (name, value) =>
    refusal(name, value).foreach { why =>
      throw new InvalidOption(
        s"an index cannot keep that $name is '${Contained.short(value)}': $why; set it to something else"
      )
    }
  }

  /** Why a fact is none; what is stored may have been written by anybody. */
  private def refusal(name: String, value: String): Option[String] = name match {
    case Zone if zoneOf(value).isEmpty => Some("it is not a time zone")
    case Locale                        =>
      if (Languages(value) || value == "any") None else Some("it is not a language with case rules of its own")
    case Zones        => if (value.matches("[0-9a-z.]{1,16}")) None else Some("it is not a release of time zones")
    case Types | Zone => if (value.length <= MostTypes) None else Some("it is too long")
    case other if NotSettings(other) => if (value.matches("[0-9.]{1,16}")) None else Some("it is not a number")
    case other if !decides(other)    => Some("it is not a setting that values of expressions depend on")
    case other if !value.matches("[\\w.:+/-]{0,64}") => Some("it is not a value of a setting")
    case other if defaultOf(other).isEmpty           => Some("this Spark does not know the setting")
    case other                                       =>
      Try((new SQLConf).setConfString(other, value)).failed.toOption.map(_ => "it is not a value of the setting")
  }

  private val MostTypes = 8192

  /** None for a setting that this Spark does not know. */
  private def defaultOf(name: String): Option[String] = Try((new SQLConf).getConfString(name)).toOption

  /** A setting that changes what expressions give, and so is a fact of them. */
  def decides(name: String): Boolean =
    Single(name) || (Families.exists(name.startsWith(_)) && !OfFiles.exists(name.startsWith(_)))

  private def zoneOf(value: String): Option[String] = {
    val name = value.takeWhile(_ != '#')
    if (value.matches("[A-Za-z0-9_/+:~-]{1,64}(#[0-9a-f]{1,8})?") && Try(ZoneId.of(name, ZoneId.SHORT_IDS)).isSuccess)
      Some(name)
    else None
  }

  /** Settings that are not as Spark has them by default; those that it does not know nobody asks for. */
  private def settings(conf: SQLConf): Vector[(String, String)] = {
    conf.getAllConfs.toVector.filter { case (key, value) =>
      decides(key) && defaultOf(key).exists(!_.equalsIgnoreCase(value))
    }.sorted
  }

  /** Settings of our own under which an expression is resolved and evaluated as when its index was made; those of the session are not
    * touched. InvalidOption for a fact that is none.
    */
  def conf(facts: Vector[(String, String)]): SQLConf = {
    val made = new SQLConf
    facts.foreach { case (name, value) =>
      refusal(name, value).foreach(why =>
        throw new InvalidOption(s"$name is '${Contained.short(value)}' for an index: $why")
      )
      if (name == Zone) zoneOf(value).foreach(made.setConfString(SQLConf.SESSION_LOCAL_TIMEZONE.key, _))
      else if (!NotSettings(name)) made.setConfString(name, value)
    }
    made
  }

  /** None if they are the same; else what differs, for people.
    *
    *  @param made of an index
    *  @param here of this process
    */
  def difference(made: Vector[(String, String)], here: Vector[(String, String)]): Option[String] = {
    val (a, b) = (made.toMap, here.toMap)
    val names = (made ++ here).map(_._1).distinct.filter(n => n != ColumnExpression.Form && a.get(n) != b.get(n))
    names.headOption.map {
      case Types =>
        s"it was made of columns of type ${a.getOrElse(Types, "none")}, they are ${b.getOrElse(Types, "none")} now"
      case name =>
        s"it was made with ${label(name)} ${a.getOrElse(name, "at its default")}, here it is ${b.getOrElse(name, "at its default")}"
    }
  }

  private def label(name: String): String = name match {
    case Spark  => "Spark"
    case Java   => "Java"
    case Zone   => "time zone"
    case Zones  => "the time zones of release"
    case Locale => "the locale"
    case other  => other
  }

  /** The zone decides its value, or that of a constant in it. */
  private def asksZone(e: Expression): Boolean = e match {
    case c: Cast                      => c.needsTimeZone
    case _: TimeZoneAwareExpression   => true
    case Literal(_, t: TimestampType) => t == TimestampType
    case _                            => false
  }

  private def asksLocale(e: Expression): Boolean = e match {
    case _: Upper | _: Lower | _: InitCap | _: ILike => true
    case _                                           => false
  }

  /** Zones may stand in its texts. */
  private def asksZones(e: Expression): Boolean = e match {
    case c: Cast => isTime(c.dataType) && c.child.dataType.isInstanceOf[StringType]
    case _: ToTimestamp | _: UTCTimestamp | _: ConvertTimezone | _: MakeTimestamp => true
    case _                                                                        => false
  }

  private def isTime(t: DataType): Boolean = t == TimestampType || t == TimestampNTZType

  /** The zone's rules are told by a number where there are any: they change with releases of Java. */
  private def zoneText(name: String): String = {
    val rules = Try(ZoneId.of(name, ZoneId.SHORT_IDS).getRules).toOption.filterNot(_.isFixedOffset)
    name + rules.fold("")(r => "#" + Integer.toHexString(r.hashCode))
  }
}
