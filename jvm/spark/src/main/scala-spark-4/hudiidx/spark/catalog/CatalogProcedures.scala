package hudiidx.spark.catalog

import java.util.ServiceLoader

import scala.collection.JavaConverters._

import hudiidx.InvalidOption
import org.apache.spark.sql.connector.catalog.procedures.UnboundProcedure
import org.apache.spark.sql.connector.catalog.{Identifier, ProcedureCatalog}

/** `CALL [catalog.]system.<procedure>(...)`: ours, then those of the catalog behind. */
trait CatalogProcedures extends ProcedureCatalog { self: DelegatingCatalog =>
  override def loadProcedure(ident: Identifier): UnboundProcedure =
    if (!CatalogProcedures.isSystem(ident.namespace)) others(ident)
    else CatalogProcedures.source.find(ident.name).getOrElse(others(ident))

  // Asked of catalogs from Spark 4.1 on.
  def listProcedures(namespace: Array[String]): Array[Identifier] =
    if (CatalogProcedures.isSystem(namespace)) CatalogProcedures.source.names.map(Identifier.of(namespace, _)).toArray
    else Array.empty

  private def others(ident: Identifier): UnboundProcedure = behind match {
    case p: ProcedureCatalog if p ne this => p.loadProcedure(ident)
    case _                                =>
      throw new InvalidOption(s"CALL ${(ident.namespace :+ ident.name).mkString(".")}: ${CatalogProcedures.known}")
  }
}

object CatalogProcedures {
  private val Namespace = "system"

  private lazy val source: ProcedureSource =
    ServiceLoader.load(classOf[ProcedureSource], getClass.getClassLoader).asScala.head

  private def isSystem(namespace: Array[String]): Boolean =
    namespace.length == 1 && namespace(0).equalsIgnoreCase(Namespace)

  private def known: String =
    s"unknown procedure; those of hudiidx are ${source.names.map(n => s"$Namespace.$n").mkString(", ")}"
}

/** The procedures, found as a service: they stand above the catalog. */
trait ProcedureSource {
  def names: Vector[String]
  def find(name: String): Option[UnboundProcedure]
}
