package hudiidx.spark.procedure

import scala.collection.JavaConverters._

import hudiidx.spark.catalog.ProcedureSource
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.{CatalystTypeConverters, InternalRow}
import org.apache.spark.sql.connector.catalog.procedures.{BoundProcedure, ProcedureParameter, UnboundProcedure}
import org.apache.spark.sql.connector.read.{LocalScan, Scan}
import org.apache.spark.sql.types.{ArrayType, DataType, StringType, StructType}

/** The procedures for Spark 4, whose catalogs have them. */
final class CatalogCalls extends ProcedureSource {
  override def names: Vector[String] = Procedures.All.map(_.name)
  override def find(name: String): Option[UnboundProcedure] =
    Procedures.All.find(_.name.equalsIgnoreCase(name)).map(new CatalogCall(_))
}

final private class CatalogCall(procedure: Procedure) extends UnboundProcedure {
  override def name(): String = procedure.name
  override def description(): String = procedure.what

  /** Parameters take the types of what is given where ours are lenient: a text for an array of one. */
  override def bind(given: StructType): BoundProcedure = {
    val byName = given.fields.filter(_.metadata.contains(ProcedureParameter.BY_NAME_METADATA_KEY))
    val types = procedure.parameters.zipWithIndex.map { case (p, i) =>
      byName
        .find(_.name.equalsIgnoreCase(p.name))
        .orElse(given.fields.filterNot(byName.contains(_)).lift(i))
        .fold(p.dataType)(f => CatalogCall.taken(p.dataType, f.dataType))
    }
    new BoundCall(procedure, types)
  }
}

private object CatalogCall {
  def taken(wanted: DataType, given: DataType): DataType = wanted match {
    case ArrayType(StringType, _) if given == StringType => StringType
    case _                                               => wanted
  }
}

final private class BoundCall(procedure: Procedure, types: Vector[DataType]) extends BoundProcedure {
  override def name(): String = procedure.name
  override def description(): String = procedure.what
  override def isDeterministic: Boolean = false

  override def parameters(): Array[ProcedureParameter] = procedure.parameters
    .zip(types)
    .map { case (p, dataType) =>
      val made = ProcedureParameter.in(p.name, dataType)
      (if (p.required) made else made.defaultValue("NULL")).build()
    }
    .toArray

  override def call(values: InternalRow): java.util.Iterator[Scan] = {
    val given = procedure.parameters.zip(types).zipWithIndex.map { case ((p, dataType), i) =>
      val value = if (values.isNullAt(i)) null else values.get(i, dataType)
      Option(p.name) -> CatalystTypeConverters.convertToScala(value, dataType)
    }
    val rows = procedure.run(SparkSession.active, procedure.signature.bind(given))
    val toCatalyst = CatalystTypeConverters.createToCatalystConverter(procedure.output)
    Iterator[Scan](new CallRows(procedure, rows.map(toCatalyst(_).asInstanceOf[InternalRow]).toArray)).asJava
  }
}

final private class CallRows(procedure: Procedure, found: Array[InternalRow]) extends LocalScan {
  override def readSchema(): StructType = procedure.output
  override def description(): String = s"CALL system.${procedure.name}"
  override def rows(): Array[InternalRow] = found
}
