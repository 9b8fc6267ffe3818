package hudiidx.rows

import java.io.IOException

import org.apache.parquet.schema.Type.Repetition
import org.apache.parquet.schema.{MessageType, Type}

/** Reads the values of a field of a Parquet file, with all below it, into columns. */
private[rows] abstract class ParquetNode {

  /** Those below it that are stored; the first tells where nulls and lists are. */
  def leaves: Array[ParquetLeaf]

  /** What was read since `begin`. */
  def values: ColumnValues

  /** Begins new columns. */
  def begin(rows: Int): Unit

  /** Each row takes the same memory, or less. */
  def isFixed: Boolean

  /** Reads the next value. */
  def next(): Unit

  /** Skips it. */
  def skip(): Unit
}

/** @param level the definition level from which on there is a struct */
private[rows] final class ParquetStructNode(fields: Array[ParquetNode], level: Int) extends ParquetNode {
  private var own: StructValues = _
  override val leaves: Array[ParquetLeaf] = fields.flatMap(_.leaves)
  override val isFixed: Boolean = fields.forall(_.isFixed)
  override def values: ColumnValues = own

  override def begin(rows: Int): Unit = {
    fields.foreach(_.begin(rows))
    own = new StructValues(fields.map(_.values))
  }

  override def next(): Unit = {
    val isThere = leaves(0).definition >= level
    var i = 0
    while (i < fields.length) {
      fields(i).next()
      i += 1
    }
    own.endStruct(isThere)
  }

  override def skip(): Unit = fields.foreach(_.skip())
}

/** @param level  the definition level from which on there is a list; from the next one on it has items
  * @param repeat the repetition level of all items but the first
  */
private[rows] final class ParquetListNode(item: ParquetNode, level: Int, repeat: Int) extends ParquetNode {
  private var own: ListValues = _
  override val leaves: Array[ParquetLeaf] = item.leaves
  override def isFixed: Boolean = false
  override def values: ColumnValues = own

  override def begin(rows: Int): Unit = {
    item.begin(rows)
    own = new ListValues(item.values, rows)
  }

  override def next(): Unit = {
    val found = leaves(0).definition
    each(found)(item.next())
    own.endList(found >= level)
  }

  override def skip(): Unit = each(leaves(0).definition)(item.skip())

  /** Goes through the items of the next list. */
  private def each(found: Int)(use: => Unit): Unit =
    if (found <= level) {
      leaves.foreach(_.pass())
      requireStep(more = false)
    } else {
      var more = true
      while (more) {
        use
        more = leaves(0).repetition >= repeat
        requireStep(more)
      }
    }

  /** In a sound file all that is stored of a list has as many items. */
  private def requireStep(more: Boolean): Unit = {
    var i = 0
    while (i < leaves.length) {
      if ((leaves(i).repetition >= repeat) != more) throw new IOException("the columns of a list are out of step")
      i += 1
    }
  }
}

private[rows] object ParquetNode {

  /** One for each field of the file that is read.
    *
    * @param types as `ParquetTypes` has them for the fields
    */
  def of(file: MessageType, types: Array[ValueType], path: String, read: ReadBytes): Array[ParquetNode] = {
    val maker = new ParquetNodes(file, path, read)
    Array.tabulate(types.length)(i => maker.of(file.getType(i), types(i), Vector(file.getType(i).getName), 0, 0))
  }
}

private final class ParquetNodes(file: MessageType, path: String, read: ReadBytes) {

  /** @param names  of the fields from the file's down to this one
    * @param level  definition level of what is around it
    * @param repeat repetition level of what is around it
    */
  def of(field: Type, valueType: ValueType, names: Vector[String], level: Int, repeat: Int): ParquetNode =
    below(field, valueType, names, if (field.isRepetition(Repetition.OPTIONAL)) level + 1 else level, repeat)

  /** The same with the definition level of the field itself. */
  private def below(field: Type, valueType: ValueType, names: Vector[String], own: Int, repeat: Int): ParquetNode =
    valueType match {
      case ValueType.Items(element)      => list(field, element, names, own, repeat)
      case ValueType.Entries(key, value) =>
        val entry = ParquetTypes.repeated(field.asGroupType, path)
        val parts = struct(entry, Vector(key, value), names :+ entry.getName, own + 1, repeat + 1)
        new ParquetListNode(parts, own, repeat + 1)
      case ValueType.Struct(fields) => struct(field, fields.map(_.valueType), names, own, repeat)
      case _                        => ParquetLeaf.of(file.getColumnDescription(names.toArray), valueType, read)
    }

  private def struct(group: Type, types: Vector[ValueType], names: Vector[String], own: Int, repeat: Int) = {
    val fields = types.zipWithIndex.map { case (t, i) =>
      val field = group.asGroupType.getType(i)
      of(field, t, names :+ field.getName, own, repeat)
    }
    new ParquetStructNode(fields.toArray, own)
  }

  private def list(field: Type, element: ValueType, names: Vector[String], own: Int, repeat: Int): ParquetNode = {
    val inner = field.asGroupType.getType(0)
    val around = names :+ inner.getName
    val item =
      if (ParquetTypes.isElement(field.asGroupType, inner)) below(inner, element, around, own + 1, repeat + 1)
      else {
        val item = inner.asGroupType.getType(0)
        of(item, element, around :+ item.getName, own + 1, repeat + 1)
      }
    new ParquetListNode(item, own, repeat + 1)
  }
}
