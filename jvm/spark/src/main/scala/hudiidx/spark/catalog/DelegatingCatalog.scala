package hudiidx.spark.catalog

import java.util

import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.catalog.functions.UnboundFunction
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.types.StructType

/** A catalog that answers through another one, of any kind: what the other one cannot do is refused here. */
abstract class DelegatingCatalog extends CatalogExtension {

  /** The catalog behind. */
  protected def behind: CatalogPlugin

  /** What the whole catalog may not do, such as "created"; None: everything goes to the catalog behind. */
  protected def refusal(deed: String): Option[UnsupportedOperationException]

  private def tables: TableCatalog = behind match {
    case c: TableCatalog => c
    case c               => throw new UnsupportedOperationException(s"catalog ${c.name} has no tables")
  }

  private def spaces: SupportsNamespaces = behind match {
    case c: SupportsNamespaces => c
    case c                     => throw new UnsupportedOperationException(s"catalog ${c.name} has no namespaces")
  }

  protected def changed[T](deed: String)(change: => T): T = refusal(deed).fold(change)(throw _)

  override def defaultNamespace(): Array[String] = behind.defaultNamespace

  override def capabilities(): util.Set[TableCatalogCapability] = tables.capabilities

  override def listTables(namespace: Array[String]): Array[Identifier] = tables.listTables(namespace)

  override def loadTable(ident: Identifier): Table = tables.loadTable(ident)

  override def loadTable(ident: Identifier, privileges: util.Set[TableWritePrivilege]): Table =
    tables.loadTable(ident, privileges)

  override def loadTable(ident: Identifier, version: String): Table = tables.loadTable(ident, version)

  override def loadTable(ident: Identifier, timestamp: Long): Table = tables.loadTable(ident, timestamp)

  override def invalidateTable(ident: Identifier): Unit = tables.invalidateTable(ident)

  override def tableExists(ident: Identifier): Boolean = tables.tableExists(ident)

  override def useNullableQuerySchema(): Boolean = tables.useNullableQuerySchema

  override def createTable(
      ident: Identifier,
      schema: StructType,
      partitions: Array[Transform],
      properties: util.Map[String, String]
  ): Table = createTable(ident, DelegatingCatalog.columnsOf(schema), partitions, properties)

  override def createTable(
      ident: Identifier,
      columns: Array[Column],
      partitions: Array[Transform],
      properties: util.Map[String, String]
  ): Table = changed("created")(tables.createTable(ident, columns, partitions, properties))

  override def alterTable(ident: Identifier, changes: TableChange*): Table =
    changed("altered")(tables.alterTable(ident, changes: _*))

  override def dropTable(ident: Identifier): Boolean = changed("dropped")(tables.dropTable(ident))

  override def purgeTable(ident: Identifier): Boolean = changed("dropped")(tables.purgeTable(ident))

  override def renameTable(from: Identifier, to: Identifier): Unit = changed("renamed")(tables.renameTable(from, to))

  override def listNamespaces(): Array[Array[String]] = spaces.listNamespaces

  override def listNamespaces(namespace: Array[String]): Array[Array[String]] = spaces.listNamespaces(namespace)

  override def namespaceExists(namespace: Array[String]): Boolean = spaces.namespaceExists(namespace)

  override def loadNamespaceMetadata(namespace: Array[String]): util.Map[String, String] =
    spaces.loadNamespaceMetadata(namespace)

  override def createNamespace(namespace: Array[String], metadata: util.Map[String, String]): Unit =
    changed("created")(spaces.createNamespace(namespace, metadata))

  override def alterNamespace(namespace: Array[String], changes: NamespaceChange*): Unit =
    changed("altered")(spaces.alterNamespace(namespace, changes: _*))

  override def dropNamespace(namespace: Array[String], cascade: Boolean): Boolean =
    changed("dropped")(spaces.dropNamespace(namespace, cascade))

  override def listFunctions(namespace: Array[String]): Array[Identifier] = behind match {
    case c: FunctionCatalog => c.listFunctions(namespace)
    case _                  => Array.empty
  }

  override def loadFunction(ident: Identifier): UnboundFunction = behind match {
    case c: FunctionCatalog => c.loadFunction(ident)
    case c                  => throw new UnsupportedOperationException(s"catalog ${c.name} has no functions")
  }

  override def functionExists(ident: Identifier): Boolean = behind match {
    case c: FunctionCatalog => c.functionExists(ident)
    case _                  => false
  }
}

object DelegatingCatalog {
  def columnsOf(schema: StructType): Array[Column] =
    schema.fields.map(f => Column.create(f.name, f.dataType, f.nullable, f.getComment().orNull, null))
}
