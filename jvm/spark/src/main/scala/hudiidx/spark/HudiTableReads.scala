package hudiidx.spark

import hudiidx.spark.views.NamedTable
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, HiveTableRelation, UnresolvedCatalogRelation}
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.connector.catalog.{Identifier, Table}
import org.apache.spark.sql.execution.command.TruncateTableCommand
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** Reads of Hudi tables under their own names, where [[HudiIdxCatalog]] is the session's catalog. The catalog gives such a table to
  * Spark as one of Hive's, which Spark looks up without opening any reader, and here its relation becomes ours. Commands and writes
  * go by the name, and find the table as it is.
  */
final class HudiTableReads(spark: SparkSession) extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsDown {
    case i: InsertIntoStatement => written(i.table).fold[LogicalPlan](i)(t => i.copy(table = t))
    case m: MergeIntoTable      => written(m.targetTable).fold[LogicalPlan](m)(t => m.copy(targetTable = t))
    case u: UpdateTable         => written(u.table).fold[LogicalPlan](u)(t => u.copy(table = t))
    case d: DeleteFromTable     => written(d.table).fold[LogicalPlan](d)(t => d.copy(table = t))
    case t: TruncateTableCommand if t.partitionSpec.isEmpty           => truncated(t.tableName).getOrElse(t)
    case r: HiveTableRelation if HudiTableReads.isMarked(r.tableMeta) => read(r.tableMeta).getOrElse(r)
  }

  private def relation(table: Table, catalog: HudiIdxCatalog, ident: Identifier): LogicalPlan =
    DataSourceV2Relation.create(table, Some(catalog), Some(ident), CaseInsensitiveStringMap.empty)

  /** What is to be written, if Spark took for the target of a statement what it had looked up for a read of the same query:
    * ours where hudiidx writes the table, else the table as it is.
    */
  private def written(target: LogicalPlan): Option[LogicalPlan] = {
    val asIs = target.transformDown {
      case r: HiveTableRelation if HudiTableReads.isMarked(r.tableMeta) =>
        val ident = identOf(r.tableMeta)
        sessions
          .flatMap(ours => ours.findTarget(ident).map(relation(_, ours, ident)))
          .getOrElse(UnresolvedCatalogRelation(HudiTableReads.unmarked(r.tableMeta)))
      case r: DataSourceV2Relation =>
        targetOf(r).fold(r) { t =>
          val names = t.columns.map(_.name).toSet
          r.copy(table = t, output = r.output.filter(a => names(a.name)))
        }
    }
    if (asIs eq target) None else Some(asIs)
  }

  /** Spark's own command removes the folder of a managed table with all in it. */
  private def truncated(name: TableIdentifier): Option[LogicalPlan] = {
    val database = name.database.getOrElse(spark.sessionState.catalog.getCurrentDatabase)
    val ident = Identifier.of(Array(database), name.table)
    for { ours <- sessions; target <- ours.findTarget(ident) } yield DeleteFromTable(
      relation(target, ours, ident),
      Literal.TrueLiteral
    )
  }

  private def targetOf(read: DataSourceV2Relation) = (read.table, read.catalog, read.identifier) match {
    case (_: HudiIdxTable, Some(ours: HudiIdxCatalog), Some(ident)) => ours.findTarget(ident)
    case _                                                          => None
  }

  private def identOf(table: CatalogTable): Identifier =
    Identifier.of(Array(table.database), table.identifier.table)

  private def sessions: Option[HudiIdxCatalog] =
    spark.sessionState.catalogManager.catalog(HudiTableReads.SessionCatalog) match {
      case ours: HudiIdxCatalog => Some(ours)
      case _                    => None
    }

  private def read(table: CatalogTable): Option[LogicalPlan] = {
    val ident = identOf(table)
    sessions.flatMap(ours => ours.find(ident).map(relation(_, ours, ident)))
  }
}

object HudiTableReads {

  /** Spark's name of a session's own catalog. */
  val SessionCatalog = "spark_catalog"

  private val Mark = "hudiidx.read"
  private val Extensions = "spark.sql.extensions"

  /** Whether the session has the rule. */
  def isOn(spark: SparkSession): Boolean = spark.conf
    .getOption(Extensions)
    .exists(_.split(',').exists(_.trim == classOf[HudiIdxExtensions].getName))

  def marked(table: CatalogTable): CatalogTable =
    table.copy(provider = Some("hive"), properties = table.properties + (Mark -> "true"))

  private def unmarked(table: CatalogTable): CatalogTable =
    table.copy(provider = Some(NamedTable.Provider), properties = table.properties - Mark)

  private def isMarked(table: CatalogTable): Boolean = table.properties.contains(Mark)
}
