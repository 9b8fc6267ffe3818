package hudiidx.spark.prune

import java.time.ZoneId

import scala.util.Try

import hudiidx.InvalidOption
import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.catalyst.expressions.{Cast, Expression, Literal, TimeZoneAwareExpression}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, TimestampType}

/** What the values of an expression depend on beside its columns: docs/format.md, "Expressions". An index helps where all of it is
  * as it was when the index was made.
  */
private[spark] object ExpressionFacts {
  private val Version = "v"
  private val Types = "types"
  private val Spark = "spark"
  private val Java = "java"
  private val Zone = "zone"
  private val ThisVersion = "1"
  private val NotSettings = Set(Version, Types, Spark, Java, Zone)

  /** Settings that change what expressions give; other settings of these families are about files. */
  private val Families = Vector("spark.sql.ansi.", "spark.sql.legacy.")
  private val OfFiles = Vector("parquet.", "avro.", "csv.", "json.", "orc.").map("spark.sql.legacy." + _)
  private val Single = Set(
    "spark.sql.decimalOperations.allowPrecisionLoss",
    "spark.sql.parser.escapedStringLiterals",
    "spark.sql.mapKeyDedupPolicy"
  )

  /** In this process, under these settings.
    *
    *  @param parts all forms of the expression: as it was analysed, and with functions replaced by those that stand for them
    *  @param types of its columns, in the order of their names
    */
  def of(parts: Seq[Expression], types: Seq[DataType], conf: SQLConf): Vector[(String, String)] = {
    val zone = if (parts.exists(_.exists(asksZone))) Some(Zone -> zoneText(conf.sessionLocalTimeZone)) else None
    val all = Vector(
      Version -> ThisVersion,
      Types -> types.map(_.catalogString).mkString(" "),
      Spark -> SPARK_VERSION.split('.').take(2).mkString("."),
      Java -> Runtime.version().feature().toString
    ) ++ zone ++ settings(conf)
    all
  }

  /** All of a session that any expression may depend on. */
  def session(conf: SQLConf): Vector[(String, String)] = (Zone -> conf.sessionLocalTimeZone) +: settings(conf)

  /** InvalidOption for a setting that cannot be written down. */
  def check(facts: Vector[(String, String)]): Unit =
    facts.find(f => !f._2.matches("[^{};`\\p{Cntrl}]*")).foreach { case (name, value) =>
      throw new InvalidOption(s"an index cannot keep that $name is '$value'; set it to something else")
    }

  /** Settings that are not as Spark has them by default. */
  private def settings(conf: SQLConf): Vector[(String, String)] = {
    val defaults = new SQLConf
    conf.getAllConfs.toVector.filter { case (key, value) =>
      (Single(key) || (Families.exists(key.startsWith(_)) && !OfFiles.exists(key.startsWith(_)))) &&
      !Try(defaults.getConfString(key)).toOption.exists(_.equalsIgnoreCase(value))
    }.sorted
  }

  /** Under which an expression is resolved and evaluated as when its index was made. */
  def conf(facts: Vector[(String, String)]): SQLConf = {
    val made = new SQLConf
    facts.foreach {
      case (Zone, text) => made.setConfString(SQLConf.SESSION_LOCAL_TIMEZONE.key, text.takeWhile(_ != '#'))
      case (name, value) if !NotSettings.contains(name) => made.setConfString(name, value)
      case _                                            => ()
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
    val names = (made ++ here).map(_._1).distinct.filter(n => a.get(n) != b.get(n))
    names.headOption.map {
      case Version => s"it was made in form ${a.getOrElse(Version, "none")}, which this hudiidx does not know"
      case Types   =>
        s"it was made of columns of type ${a.getOrElse(Types, "none")}, they are ${b.getOrElse(Types, "none")} now"
      case name =>
        s"it was made with ${label(name)} ${a.getOrElse(name, "at its default")}, here it is ${b.getOrElse(name, "at its default")}"
    }
  }

  private def label(name: String): String = name match {
    case Spark => "Spark"
    case Java  => "Java"
    case Zone  => "time zone"
    case other => other
  }

  /** The zone decides its value, or that of a constant in it. */
  private def asksZone(e: Expression): Boolean = e match {
    case c: Cast                      => c.needsTimeZone
    case _: TimeZoneAwareExpression   => true
    case Literal(_, t: TimestampType) => t == TimestampType
    case _                            => false
  }

  /** The zone's rules are told by a number where there are any: they change with releases of Java. */
  private def zoneText(name: String): String = {
    val rules = Try(ZoneId.of(name, ZoneId.SHORT_IDS).getRules).toOption.filterNot(_.isFixedOffset)
    name + rules.fold("")(r => "#" + Integer.toHexString(r.hashCode))
  }
}
