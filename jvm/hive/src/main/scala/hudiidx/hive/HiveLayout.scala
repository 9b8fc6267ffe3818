package hudiidx.hive

import scala.collection.JavaConverters._

import hudiidx.rows.{ColumnConversion, ValueType}
import java.util.regex.Pattern
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.hive.serde2.ColumnProjectionUtils
import org.apache.hadoop.hive.serde2.typeinfo.{TypeInfo, TypeInfoFactory, TypeInfoUtils}

/** The columns that Hive's table has, and those of them that a query reads. Hive, and Spark in its stead, put them into the job's
  * configuration.
  *
  * @param read  places of the columns to read; the others are null
  * @param paths fields of structs to read
  */
private[hive] final case class HiveLayout(
    names: Vector[String],
    types: Vector[TypeInfo],
    read: Set[Int],
    paths: NestedPaths
) {

  /** Rows of all Hive's columns in their order; columns that Hudi's table lacks are null.
    *
    * @param where the table, for messages
    */
  def of(table: ValueType.Struct, where: String): RowLayout = {
    val conversion = new ColumnConversion(floatsByText = true, s"$where, as a Hive table")
    val slots = for {
      place <- names.indices.toVector if read(place)
      at = table.indexOf(names(place)) if at >= 0
    } yield {
      val column = table.fields(at)
      val info = types(place)
      val convert = conversion.of(column.valueType, HiveWritables.valueType(info), names(place))
      val write = HiveWritables.of(info, column.valueType, names(place), paths)
      Slot(place, column, convert, write)
    }
    RowLayout(names.length, slots)
  }
}

private[hive] object HiveLayout {
  private val Columns = "columns"
  private val ColumnTypes = "columns.types"
  private val Delimiter = "column.name.delimiter"

  /** None: the configuration tells no columns. */
  def of(conf: Configuration): Option[HiveLayout] =
    for (names <- Option(conf.get(Columns)).filter(_.nonEmpty); types <- Option(conf.get(ColumnTypes))) yield {
      val all = names.split(Pattern.quote(conf.get(Delimiter, ","))).toVector
      val read =
        if (ColumnProjectionUtils.isReadAllColumns(conf)) all.indices.toSet
        else ColumnProjectionUtils.getReadColumnIDs(conf).asScala.map(_.intValue).toSet
      HiveLayout(all, TypeInfoUtils.getTypeInfosFromTypeString(types).asScala.toVector, read, NestedPaths.of(conf))
    }

  /** Where Hive tells no columns: those that the settings name, or all, in the types that Hive has for them. */
  def plain(table: ValueType.Struct, settings: ReadSettings, where: String): RowLayout =
    ColumnChoice.of(table, settings, where) { column =>
      HiveWritables.of(
        TypeInfoUtils.getTypeInfoFromTypeString(typeText(column.valueType)),
        column.valueType,
        column.name,
        NestedPaths.All
      )
    }

  private def typeText(of: ValueType): String = of match {
    case ValueType.Nothing => TypeInfoFactory.stringTypeInfo.getTypeName
    case other             => ValueType.show(other)
  }
}
