package hudiidx.spark

import scala.collection.JavaConverters._

import hudiidx.InvalidOption
import hudiidx.engine.Tables
import hudiidx.spark.catalog.{AlterTable, CatalogProcedures, DelegatingCatalog, StagedTables, TableDefinition, V1Tables}
import hudiidx.spark.options.ReadOptions
import hudiidx.spark.views.{BatchTable, NamedTable}
import hudiidx.sync.TableContext
import hudiidx.table.TableConfig
import hudiidx.table.query.TimeTravel
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.types.{StructField, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** Hudi tables by name in SQL, also with `VERSION AS OF '<instant>'` or `TIMESTAMP AS OF '<time>'`, and with the name of a view
  * behind: `.files`, `.timeline` and the others of [[NamedTable.Views]].
  *
  *  - `spark.sql.catalog.hudiidx=hudiidx.spark.HudiIdxCatalog`: a catalog beside others. Its tables are paths,
  *    ``hudiidx.`/data/trips` ``, and the Hudi tables of the session's metastore, `hudiidx.db.trips`. `INSERT`, `DELETE`, `UPDATE` and
  *    `MERGE` are hudiidx' own writes, and so are `TRUNCATE` and, of a path, `CREATE TABLE` and `REPLACE TABLE`; nothing else is
  *    changed.
  *  - `spark.sql.catalog.spark_catalog=hudiidx.spark.HudiIdxCatalog`: in front of the session's own catalog, or of the one that
  *    `spark.sql.catalog.spark_catalog.delegate` names (Hudi's own). With [[HudiIdxExtensions]] Hudi's tables are then read by
  *    hudiidx under their own names, and written by it unless a delegate is named; everything else is the catalog's behind.
  *
  * Settings `spark.sql.catalog.<name>.<option>` are options of every read.
  */
final class HudiIdxCatalog extends DelegatingCatalog with StagedTables with CatalogProcedures {
  private var title: String = HudiIdxSource.Name
  private var options: Map[String, String] = Map.empty
  private var session: Option[CatalogPlugin] = None

  override def initialize(name: String, settings: CaseInsensitiveStringMap): Unit = {
    title = name
    options = settings.asCaseSensitiveMap.asScala.toMap
  }

  override def name(): String = title

  /** Spark calls it if this is the session's catalog. */
  override def setDelegateCatalog(own: CatalogPlugin): Unit =
    session = Some(options.get(HudiIdxCatalog.Delegate).fold(own)(HudiIdxCatalog.delegate(_, title, options, own)))

  /** In front of the session's own catalog, whose names it keeps. */
  private[spark] def isSession: Boolean = session.isDefined

  override protected def behind: CatalogPlugin =
    session.getOrElse(SparkSession.active.sessionState.catalogManager.catalog(HudiTableReads.SessionCatalog))

  override protected def refusal(deed: String): Option[UnsupportedOperationException] =
    if (isSession) None
    else
      Some(
        new UnsupportedOperationException(
          s"catalog $title reads and writes tables; those of a metastore are $deed with Hudi's own catalog, and a table of a path is its folder"
        )
      )

  /** A Hudi table's rows; None if the name is not a Hudi table's. */
  private[spark] def find(ident: Identifier): Option[BatchTable] = named(ident).map(open(_, Map.empty))

  override def loadTable(ident: Identifier): Table =
    if (!isSession) open(known(ident), Map.empty)
    else viewNamed(ident).map(open(_, Map.empty)).getOrElse(forReading(super.loadTable(ident)))

  /** For statements that change rows. */
  override def loadTable(ident: Identifier, privileges: java.util.Set[TableWritePrivilege]): Table =
    if (!isSession) target(known(ident)) else findTarget(ident).getOrElse(super.loadTable(ident, privileges))

  /** A table that hudiidx writes; None: the catalog behind does, which a delegate always does. */
  private[spark] def findTarget(ident: Identifier): Option[Table] =
    if (isSession && options.contains(HudiIdxCatalog.Delegate)) None else named(ident).map(target)

  private def target(table: NamedTable): Table =
    AlterTable.found.target(SparkSession.active, table, options - HudiIdxCatalog.Delegate)

  override def createTable(
      ident: Identifier,
      columns: Array[Column],
      partitions: Array[Transform],
      properties: java.util.Map[String, String]
  ): Table = definition(ident, columns, partitions, properties).fold(
    super.createTable(ident, columns, partitions, properties)
  ) { made =>
    AlterTable.found.create(SparkSession.active, made)
    loadTable(ident)
  }

  override def stageCreate(
      ident: Identifier,
      columns: Array[Column],
      partitions: Array[Transform],
      properties: java.util.Map[String, String]
  ): StagedTable = definition(ident, columns, partitions, properties).fold(
    super.stageCreate(ident, columns, partitions, properties)
  )(AlterTable.found.createAs(SparkSession.active, _))

  override def stageReplace(
      ident: Identifier,
      columns: Array[Column],
      partitions: Array[Transform],
      properties: java.util.Map[String, String]
  ): StagedTable = definition(ident, columns, partitions, properties).fold(
    super.stageReplace(ident, columns, partitions, properties)
  )(AlterTable.found.replace(SparkSession.active, _))

  override def stageCreateOrReplace(
      ident: Identifier,
      columns: Array[Column],
      partitions: Array[Transform],
      properties: java.util.Map[String, String]
  ): StagedTable = definition(ident, columns, partitions, properties).fold(
    super.stageCreateOrReplace(ident, columns, partitions, properties)
  ) { made =>
    val changes = AlterTable.found
    if (tableExists(ident)) changes.replace(SparkSession.active, made) else changes.createAs(SparkSession.active, made)
  }

  /** Of a table by its path; None: it is made by the catalog behind, or not at all. */
  private def definition(
      ident: Identifier,
      columns: Array[Column],
      partitions: Array[Transform],
      properties: java.util.Map[String, String]
  ): Option[TableDefinition] =
    if (isSession || ident.namespace.nonEmpty || !ident.name.contains('/')) None
    else {
      val by = partitions.map {
        case t if t.name == "identity" && t.references.length == 1 => t.references.head.fieldNames.mkString(".")
        case t => throw new InvalidOption(s"PARTITIONED BY $t: Hudi's partitions are columns")
      }
      val struct = StructType(columns.map(c => StructField(c.name, c.dataType, c.nullable)))
      val given = options - HudiIdxCatalog.Delegate ++ properties.asScala
      Some(TableDefinition(ident.name, struct, by.toVector, given))
    }

  private def forReading(found: Table): Table = {
    val definition = V1Tables.definition(found)
    if (definition.isPresent && NamedTable.isHudi(definition.get) && HudiTableReads.isOn(SparkSession.active))
      V1Tables.of(HudiTableReads.marked(definition.get))
    else found
  }

  /** VERSION AS OF: any form in which `as.of.instant` is taken. */
  override def loadTable(ident: Identifier, version: String): Table =
    table(ident)(t => open(t, Map(ReadOptions.AsOfInstant -> version)), super.loadTable(ident, version))

  /** TIMESTAMP AS OF: microseconds since 1970. */
  override def loadTable(ident: Identifier, timestamp: Long): Table =
    table(ident)(
      t => open(t, Map(ReadOptions.AsOfInstant -> instantTime(t, timestamp))),
      super.loadTable(ident, timestamp)
    )

  override def tableExists(ident: Identifier): Boolean =
    if (isSession) viewNamed(ident).isDefined || super.tableExists(ident) else named(ident).exists(isThere)

  private def isThere(table: NamedTable): Boolean = {
    val hadoop = SparkSession.active.sessionState.newHadoopConf()
    val file = TableConfig.propertiesFile(Tables.qualified(table.path, hadoop))
    Tables.access(hadoop).storage.isThere(file)
  }

  /** Of a catalog beside others: the Hudi tables. Paths are not listed. */
  override def listTables(namespace: Array[String]): Array[Identifier] = {
    val all = if (isSession || namespace.nonEmpty) super.listTables(namespace) else Array.empty[Identifier]
    if (isSession) all else all.filter(NamedTable.inMetastore(SparkSession.active, _).isDefined)
  }

  private def table(ident: Identifier)(ours: NamedTable => Table, other: => Table): Table =
    if (isSession) named(ident).fold(other)(ours) else ours(known(ident))

  private def named(ident: Identifier): Option[NamedTable] = {
    val path = if (isSession) None else NamedTable.byPath(ident)
    path.orElse(NamedTable.inMetastore(SparkSession.active, ident))
  }

  private def viewNamed(ident: Identifier): Option[NamedTable] = if (ident.namespace.length == 2) named(ident) else None

  private def known(ident: Identifier): NamedTable = named(ident).getOrElse(
    throw new InvalidOption(
      s"$title.${(ident.namespace :+ ident.name).mkString(".")}: neither a Hudi table of the session's metastore, as in $title.db.trips, " +
        s"nor a path in backquotes, as in $title.`/data/trips`"
    )
  )

  private def open(table: NamedTable, more: Map[String, String]): BatchTable = {
    val all = options.filterNot(_._1 == HudiIdxCatalog.Delegate) ++ table.options ++ more
    HudiIdxSource.open(SparkSession.active, all + ("path" -> table.path), ofCatalog = true)
  }

  private def instantTime(table: NamedTable, micros: Long): String = {
    val hadoop = SparkSession.active.sessionState.newHadoopConf()
    val (access, path) = (Tables.access(hadoop), Tables.qualified(table.path, hadoop))
    TimeTravel.instantTime(TableConfig.read(access.storage, path), TableContext.load(access, path).timeline, micros)
  }
}

private object HudiIdxCatalog {

  /** Names the catalog behind, where that is not Spark's own. */
  val Delegate = "delegate"

  private def delegate(
      className: String,
      title: String,
      options: Map[String, String],
      own: CatalogPlugin
  ): CatalogPlugin = {
    val made =
      try Class.forName(className, true, Thread.currentThread.getContextClassLoader).getConstructor().newInstance()
      catch {
        case e: ReflectiveOperationException =>
          throw new InvalidOption(
            s"spark.sql.catalog.$title.$Delegate=$className: no such class with a plain constructor; add its jar, or leave the setting " +
              s"away (${e.getClass.getSimpleName})"
          )
      }
    made match {
      case extension: CatalogExtension =>
        extension.initialize(title, new CaseInsensitiveStringMap((options - Delegate).asJava))
        extension.setDelegateCatalog(own)
        extension
      case _ =>
        throw new InvalidOption(
          s"spark.sql.catalog.$title.$Delegate=$className: a catalog in front of Spark's own is needed (CatalogExtension)"
        )
    }
  }
}
