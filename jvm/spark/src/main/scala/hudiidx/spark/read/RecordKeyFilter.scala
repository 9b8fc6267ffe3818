package hudiidx.spark.read

import java.io.IOException

import scala.collection.mutable

import hudiidx.DamagedIndex
import hudiidx.record.{Locations, PackedKeys}
import hudiidx.log.KeyValueKind
import hudiidx.spark.pinned.{PartitionPruning, PinnedTable}
import hudiidx.table.{FileGroup, KeyTexts, TableConfig}
import org.apache.spark.sql.catalyst.expressions.{
  AttributeReference,
  EqualNullSafe,
  EqualTo,
  Expression,
  In,
  InSet,
  Literal
}
import org.apache.spark.sql.types.{DataType, StringType, StructField}
import org.apache.spark.unsafe.types.UTF8String

/** The file groups that may hold the record keys of a query.
  *
  *  @param wanted  the keys that the query asks for
  *  @param located file groups that the record index names, with the places of their keys in `wanted`
  *  @param unknown file groups whose keys the index does not know as of the query's instant: they may hold any
  */
final case class KeyGroups(wanted: PackedKeys, located: Map[FileGroup, Array[Int]], unknown: Set[FileGroup]) {
  private lazy val byPartition: Map[String, Set[String]] =
    (located.keySet ++ unknown).groupBy(_.partitionPath).map { case (p, groups) => p -> groups.map(_.fileId) }

  /** How many the query asks for. */
  def keys: Int = wanted.count

  def partitions: Set[String] = byPartition.keySet

  def contains(partitionPath: String, fileId: String): Boolean = byPartition.get(partitionPath).exists(_(fileId))

  /** The keys that a file group may hold. */
  def keysIn(partitionPath: String, fileId: String): PackedKeys = {
    val group = FileGroup(partitionPath, fileId)
    if (unknown(group)) wanted else located.get(group).fold(PackedKeys.of(Seq.empty))(wanted.some)
  }
}

object KeyGroups {

  /** @param found locations of the wanted keys */
  def of(wanted: PackedKeys, found: Locations, unknown: Set[FileGroup]): KeyGroups = {
    val located = mutable.HashMap.empty[FileGroup, mutable.ArrayBuilder[Int]]
    val groups = found.groups.map(g => FileGroup(g.partitionPath, g.fileId))
    (0 until found.keys).foreach { key =>
      (found.starts(key) until found.starts(key + 1)).foreach { at =>
        located.getOrElseUpdate(groups(found.places(at)), Array.newBuilder[Int]) += key
      }
    }
    KeyGroups(wanted, located.map { case (group, keys) => group -> keys.result() }.toMap, unknown)
  }
}

/** Finds the record keys that filters ask for: `_hoodie_record_key`, or the one key field of a table whose keys follow from
  * its values, equal to a literal or in a list of literals.
  */
object RecordKeyFilter {
  val KeyColumn = "_hoodie_record_key"

  /** A row whose record key is not one of these satisfies no filter; Left tells why no keys are known. */
  def keys(filters: Seq[Expression], config: TableConfig, columns: Seq[StructField]): Either[String, Set[String]] = {
    val field = KeyFieldColumn.of(config, columns)
    val asked = filters.flatMap(PartitionPruning.conjuncts).flatMap(equality)
    val found = asked.flatMap { case (column, values) =>
      if (column.name == KeyColumn && config.populateMetaFields) texts(values, column.dataType)
      else field.filter(_.name == column.name).flatMap(_.keys(values))
    }
    if (found.nonEmpty) Right(found.reduce(_ intersect _))
    else Left(field.filter(f => asked.exists(_._1.name == f.name)).flatMap(_.whyNot).getOrElse(NoFilter))
  }

  private val NoFilter = "no filter asks for record keys"

  /** The columns by whose values record keys can be looked up. */
  def keyColumns(config: TableConfig, columns: Seq[StructField]): Vector[String] = {
    val own = if (config.populateMetaFields) Vector(KeyColumn) else Vector.empty
    own ++ KeyFieldColumn.of(config, columns).filter(_.whyNot.isEmpty).map(_.name)
  }

  /** The column of texts that are the record keys, nothing added. */
  def sameAsKey(config: TableConfig, columns: Seq[StructField]): Option[String] =
    KeyFieldColumn.of(config, columns).filter(_.isKey).map(_.name)

  /** The record keys of rows whose column has one of the values; None if they cannot be told. */
  def keysOf(name: String, values: Seq[Any], config: TableConfig, columns: Seq[StructField]): Option[Set[String]] =
    if (name == KeyColumn) texts(values, StringType)
    else KeyFieldColumn.of(config, columns).filter(_.name == name).flatMap(_.keys(values))

  /** Which file groups to read for the keys; Left tells why the record index cannot say. */
  def groups(keys: Set[String], table: PinnedTable): Either[String, KeyGroups] =
    table.whyNoRecordIndex.fold(indexed(keys, table))(Left(_))

  private def indexed(keys: Set[String], table: PinnedTable): Either[String, KeyGroups] = {
    val records = table.records
    records.index match {
      case None                                   => Left("the record index could not be opened")
      case Some(i) if i.index.windowDays.nonEmpty => Left("the record index has a window, and knows newer rows only")
      case Some(index)                            =>
        try {
          val wanted = PackedKeys.of(keys.toVector.sorted)
          val unknown = records.moment.slices.map(s => FileGroup(s.partitionPath, s.fileId)).toSet
          Right(KeyGroups.of(wanted, index.locate(wanted), unknown))
        } catch {
          case e: DamagedIndex if !table.isStrict => Left(e.getMessage)
          case e: IOException if !table.isStrict  => Left(e.toString)
        }
    }
  }

  private def equality(filter: Expression): Option[(AttributeReference, Seq[Any])] = filter match {
    case EqualTo(a: AttributeReference, Literal(v, _))                           => Some((a, Seq(v)))
    case EqualTo(Literal(v, _), a: AttributeReference)                           => Some((a, Seq(v)))
    case EqualNullSafe(a: AttributeReference, Literal(v, _))                     => Some((a, Seq(v)))
    case EqualNullSafe(Literal(v, _), a: AttributeReference)                     => Some((a, Seq(v)))
    case In(a: AttributeReference, list) if list.forall(_.isInstanceOf[Literal]) =>
      // A null in the list is equal to nothing.
      Some((a, list.map(_.asInstanceOf[Literal].value).filter(_ != null)))
    case InSet(a: AttributeReference, values) => Some((a, values.toSeq.filter(_ != null)))
    case _                                    => None
  }

  private[spark] def texts(values: Seq[Any], dataType: DataType): Option[Set[String]] =
    if (dataType != StringType || values.contains(null)) None
    else Some(values.collect { case t: UTF8String => t.toString }.toSet)
}

/** The column that is a table's one key field, and what is known of its values' keys. */
final private[spark] class KeyFieldColumn(column: StructField, texts: Either[String, KeyTexts]) {
  def name: String = column.name

  private val kind = KeyReader.kindOf(column.dataType)

  /** Why no key follows from a value. */
  def whyNot: Option[String] = texts match {
    case Left(why)                                    => Some(why)
    case _ if kind.doubt.isDefined                    => Some(s"column $name: ${kind.doubt.get}")
    case _ if !KeyFieldColumn.Filtered.contains(kind) =>
      Some(s"column $name: keys of type ${column.dataType.simpleString} are not looked up")
    case _ => None
  }

  def isKey: Boolean = column.dataType == StringType && texts.exists(_.isPlain)

  /** Record keys of rows with these values. An empty text has a key of its own making, so it is not asked for. */
  def keys(values: Seq[Any]): Option[Set[String]] =
    if (whyNot.isDefined || values.contains(null)) None
    else {
      val found =
        if (kind == KeyValueKind.Text) RecordKeyFilter.texts(values, column.dataType).filterNot(_.contains(""))
        else Some(values.map(_.toString).toSet)
      found.flatMap(f => texts.toOption.map(_.ofSingle(f)))
    }
}

private[spark] object KeyFieldColumn {
  private val Filtered: Set[KeyValueKind] = Set(KeyValueKind.Text, KeyValueKind.Whole)

  /** None: the table has several key fields, none, or one that is no column. */
  def of(config: TableConfig, columns: Seq[StructField]): Option[KeyFieldColumn] = config.recordKeyFields match {
    case Vector(name) => columns.find(_.name == name).map(new KeyFieldColumn(_, KeyTexts.of(config)))
    case _            => None
  }
}
