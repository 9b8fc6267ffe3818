package hudiidx.spark

import java.time.format.DateTimeFormatter
import java.time.temporal.ChronoUnit
import java.time.{Instant, ZoneId}
import java.util

import scala.collection.JavaConverters._

import hudiidx.InvalidOption
import hudiidx.hadoop.Tables
import hudiidx.table.TableConfig
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** A catalog whose tables are paths: with `spark.sql.catalog.hudiidx=hudiidx.spark.HudiIdxCatalog`, SQL reads
  * ``SELECT * FROM hudiidx.`/data/trips` ``, also with `VERSION AS OF '<instant>'` or `TIMESTAMP AS OF '<time>'`. Settings
  * `spark.sql.catalog.hudiidx.<option>` are options of every read. It keeps no state and changes nothing.
  */
final class HudiIdxCatalog extends TableCatalog {
  private var title: String = HudiIdxSource.Name
  private var options: Map[String, String] = Map.empty

  override def initialize(name: String, settings: CaseInsensitiveStringMap): Unit = {
    title = name
    options = settings.asCaseSensitiveMap.asScala.toMap
  }

  override def name(): String = title

  override def loadTable(ident: Identifier): Table = open(ident, None)

  /** VERSION AS OF: any form in which `as.of.instant` is taken. */
  override def loadTable(ident: Identifier, version: String): Table = open(ident, Some(version))

  /** TIMESTAMP AS OF: microseconds since 1970. */
  override def loadTable(ident: Identifier, timestamp: Long): Table = {
    val spark = SparkSession.active
    val hadoop = spark.sessionState.newHadoopConf()
    val zone = TableConfig.read(Tables.access(hadoop).storage, SharedTable.qualified(path(ident), hadoop)).timelineZone
    open(ident, Some(HudiIdxCatalog.instantTime(timestamp, zone)))
  }

  private def open(ident: Identifier, asOf: Option[String]): Table =
    HudiIdxSource.open(
      SparkSession.active,
      options ++ asOf.map(ReadOptions.AsOfInstant -> _) + ("path" -> path(ident)),
      ofCatalog = true
    )

  private def path(ident: Identifier): String =
    if (ident.namespace.isEmpty) ident.name
    else
      throw new InvalidOption(
        s"$title.${(ident.namespace :+ ident.name).mkString(".")}: tables of this catalog are paths in backquotes, as in " +
          s"$title.`/data/trips`"
      )

  /** Empty: paths are not listed. */
  override def listTables(namespace: Array[String]): Array[Identifier] = Array.empty

  override def createTable(
      ident: Identifier,
      schema: StructType,
      partitions: Array[Transform],
      properties: util.Map[String, String]
  ): Table = refuse("created")

  override def alterTable(ident: Identifier, changes: TableChange*): Table = refuse("altered")

  override def dropTable(ident: Identifier): Boolean = refuse("dropped")

  override def renameTable(oldIdent: Identifier, newIdent: Identifier): Unit = refuse("renamed")

  private def refuse(deed: String): Nothing =
    throw new UnsupportedOperationException(s"catalog $title reads tables; they are $deed with Hudi")
}

private object HudiIdxCatalog {
  private val Millis = DateTimeFormatter.ofPattern("yyyyMMddHHmmssSSS")

  /** The last instant time that is not after the moment, in the zone of the table's instants. */
  def instantTime(micros: Long, zone: ZoneId): String =
    Millis.withZone(zone).format(Instant.EPOCH.plus(micros, ChronoUnit.MICROS))
}
