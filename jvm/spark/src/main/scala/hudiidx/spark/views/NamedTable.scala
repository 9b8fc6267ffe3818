package hudiidx.spark.views

import hudiidx.InvalidOption
import hudiidx.spark.options.ReadOptions
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.connector.catalog.Identifier

/** A Hudi table that a name in SQL stands for.
  *
  *  @param path    its base path
  *  @param options of reading it, which come with the name
  */
final case class NamedTable(path: String, options: Map[String, String])

object NamedTable {

  /** Names behind a table's name, as in `db.trips.files`, and the views that they show. */
  val Views: Vector[String] =
    Vector("files", ReadOptions.PartitionsView, ReadOptions.TimelineView, RecordIndexView.Name, LogBlocksView.Name) ++
      ColumnIndexView.Names

  private[spark] val Provider = "hudi"

  /** In stock Hudi's and its Hive sync's definition of a table: the name shows base files alone. */
  private val BaseFilesAlone = "hoodie.query.as.ro.table"

  /** `db.trips`, or `db.trips.files`, in the session's metastore. None: there is no such Hudi table. */
  def inMetastore(spark: SparkSession, ident: Identifier): Option[NamedTable] = ident.namespace match {
    case Array(db)        => hudiTable(spark, db, ident.name).map(of)
    case Array(db, table) => viewOf(ident.name, hudiTable(spark, db, table).map(of))
    case _                => None
  }

  /** A path in backquotes, with the name of a view behind it perhaps. None: it is no path. */
  def byPath(ident: Identifier): Option[NamedTable] = ident.namespace match {
    case Array()                           => Some(NamedTable(ident.name, Map.empty))
    case Array(path) if path.contains('/') =>
      viewOf(ident.name, Some(NamedTable(path, Map.empty))).orElse(unknown(ident))
    case _ => None
  }

  private def unknown(ident: Identifier): Nothing =
    throw new InvalidOption(
      s"${ident.name}: no table of what is known about a table; there are ${Views.mkString(", ")}"
    )

  private def viewOf(name: String, table: => Option[NamedTable]): Option[NamedTable] =
    Views
      .find(_.equalsIgnoreCase(name))
      .flatMap(view => table.map(t => t.copy(options = t.options + (ReadOptions.ViewName -> view))))

  private def hudiTable(spark: SparkSession, db: String, table: String): Option[CatalogTable] = {
    val catalog = spark.sessionState.catalog
    val name = TableIdentifier(table, Some(db))
    if (catalog.databaseExists(db) && catalog.tableExists(name))
      Some(catalog.getTableMetadata(name)).filter(isHudi)
    else None
  }

  def isHudi(table: CatalogTable): Boolean = table.provider.exists(_.equalsIgnoreCase(Provider))

  private def of(table: CatalogTable): NamedTable = {
    val isReadOptimized = table.storage.properties.get(BaseFilesAlone).exists(_.equalsIgnoreCase("true"))
    NamedTable(
      new Path(table.location).toString,
      if (isReadOptimized) Map(ReadOptions.QueryType -> ReadOptions.ReadOptimized) else Map.empty
    )
  }
}
