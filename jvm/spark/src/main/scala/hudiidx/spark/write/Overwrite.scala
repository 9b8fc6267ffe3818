package hudiidx.spark.write

import hudiidx.spark.write.options.{WriteOperation, WriteOptions}
import hudiidx.{InvalidOption, WriteConflict}
import hudiidx.spark.pinned.SharedTable
import hudiidx.table.{FileGroup, PartitionPathForm, TableConfig}
import hudiidx.write.{NewTable, RemadeTable}
import hudiidx.write.format.ReplacedGroups
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.sources._
import org.apache.spark.sql.types.StructType

/** What rows take the place of. */
sealed private[write] trait Overwrite extends Product with Serializable {

  /** As commits name it. */
  def committedName: String

  /** Partitions whose file groups go; None: all.
    *
    * @param known   partitions of the table
    * @param written those that rows come for
    */
  def partitions(known: Vector[String], written: Set[String]): Option[Set[String]]

  /** The end of what is said where rows or options are those of another table. */
  final def remedy: String = {
    val remade = s"make the table anew with ${WriteOptions.Remake}=true"
    if (partitions(Vector.empty, Set.empty).isEmpty) s", or $remade"
    else
      s"; an overwrite of partitions leaves the table what it is, whatever ${WriteOptions.Remake} says: overwrite the whole table " +
        s"(mode overwrite that is not dynamic, insert_overwrite_table) to $remade"
  }
}

private[write] object Overwrite {
  private val OfPartitions = "INSERT_OVERWRITE"

  /** What the rows of a write take the place of; None: nothing. */
  def of(operation: WriteOperation): Option[Overwrite] = operation match {
    case WriteOperation.InsertOverwrite      => Some(Touched)
    case WriteOperation.InsertOverwriteTable => Some(WholeTable)
    case _                                   => None
  }

  case object WholeTable extends Overwrite {
    override def committedName: String = "INSERT_OVERWRITE_TABLE"
    override def partitions(known: Vector[String], written: Set[String]): Option[Set[String]] = None
  }

  /** All, and with other columns.
    *
    * @param made the table that takes the place of this one; None: it stays the same but for its columns
    */
  final case class Anew(made: Option[NewTable]) extends Overwrite {
    override def committedName: String = WholeTable.committedName
    override def partitions(known: Vector[String], written: Set[String]): Option[Set[String]] = None
  }

  /** Those that rows come for, and no other. */
  case object Touched extends Overwrite {
    override def committedName: String = OfPartitions
    override def partitions(known: Vector[String], written: Set[String]): Option[Set[String]] = Some(written)
  }

  /** The same, as Spark's own tables have it: one that is not partitioned is replaced, by no rows too. */
  case object Dynamic extends Overwrite {
    override def committedName: String = OfPartitions

    // The path of a table that is all one partition is empty, and no other's.
    override def partitions(known: Vector[String], written: Set[String]): Option[Set[String]] =
      Some(written ++ known.filter(_.isEmpty))
  }

  /** Those with some values of partition fields, whether rows come for them or not. InvalidOption for rows of others.
    *
    * @param texts by field: its part of a partition path
    */
  final case class WithValues(path: String, form: PartitionPathForm, texts: Map[String, String]) extends Overwrite {
    override def committedName: String = OfPartitions

    override def partitions(known: Vector[String], written: Set[String]): Option[Set[String]] = {
      written.filterNot(isMeant).toVector.sorted.headOption.foreach { other =>
        throw new InvalidOption(
          s"$path: rows for partition '$other' come to replace ${texts.values.mkString(", ")}; filter them out, or overwrite dynamically"
        )
      }
      Some(known.filter(isMeant).toSet ++ written)
    }

    private def isMeant(partition: String): Boolean =
      if (form.fields.forall(texts.contains)) partition == form.fields.map(texts).mkString("/")
      else {
        val parts = partition.split("/", -1)
        if (parts.length != form.fields.size)
          throw new InvalidOption(
            s"$path: of partition '$partition' nobody can tell which part is of which field (${form.fields.mkString(", ")}); name the " +
              "values of all of them"
          )
        form.fields.zip(parts).forall { case (field, part) => texts.get(field).forall(_ == part) }
      }
  }

  /** What conditions of a statement mean. InvalidOption for others than equalities of partition columns.
    *
    * @param columns of the table
    */
  def where(conditions: Seq[Filter], path: String, config: TableConfig, columns: StructType): Overwrite = {
    val form = PartitionPathForm.of(config)
    def refuse(what: Any): Nothing = throw new InvalidOption(
      s"$path: an overwrite replaces whole partitions, and '$what' names none; give values of ${form.fields.mkString(", ")}, as in " +
        "PARTITION (field = value), or use DELETE FROM and INSERT INTO"
    )
    def text(field: String, value: Any): (String, String) = {
      val name = form.fields.find(_.equalsIgnoreCase(field)).getOrElse(refuse(field))
      val literal: Expression = Literal.create(value, columns(name).dataType)
      name -> PartitionPathOf(Seq(literal), form.copy(fields = Vector(name))).eval(null).toString
    }
    def texts(condition: Filter): Vector[(String, String)] = condition match {
      case And(left, right)            => texts(left) ++ texts(right)
      case EqualTo(field, value)       => Vector(text(field, value))
      case EqualNullSafe(field, value) => Vector(text(field, value))
      case IsNull(field)               => Vector(text(field, null))
      case AlwaysTrue()                => Vector.empty
      case other                       => refuse(other)
    }
    val all = conditions.toVector.flatMap(texts).distinct
    all.groupBy(_._1).find(_._2.size > 1).foreach { case (field, _) => refuse(field) }
    if (all.isEmpty) WholeTable else WithValues(path, form, all.toMap)
  }

  /** The file groups that go. WriteConflict if one of them is being clustered: its rows would come back with that. */
  def groups(what: Overwrite, table: SharedTable, written: Set[String]): ReplacedGroups = what match {
    case Anew(Some(_)) => RemadeTable.allGroups(table.context.storage, table.path)
    case _             => knownGroups(what, table, written)
  }

  private def knownGroups(what: Overwrite, table: SharedTable, written: Set[String]): ReplacedGroups = {
    val known = table.view.partitions
    val partitions = what.partitions(known, written)
    val ids = for {
      partition <- known if partitions.forall(_(partition))
      found = table.view.latestFileSlices(partition).map(_.fileId).distinct if found.nonEmpty
    } yield partition -> found
    val clustering = table.viewTimeline.plans.clustering
    for ((partition, found) <- ids; id <- found; instant <- clustering.get(FileGroup(partition, id)))
      throw beingClustered(table.path, partition, id, instant)
    ReplacedGroups(partitions, ids.toMap)
  }

  def beingClustered(path: String, partition: String, fileId: String, instant: String): WriteConflict =
    new WriteConflict(
      s"$path: file group $fileId of partition '$partition' is being clustered ($instant); write again when that is done"
    )
}
