package hudiidx.spark.write

import hudiidx.InvalidOption
import hudiidx.log.{RecordKeyBuilder, RecordKeyForm}
import hudiidx.spark.read.{KeyColumnsOf, KeyReader}
import hudiidx.spark.write.group.WriteGroups
import hudiidx.spark.write.options.WriteOptions
import hudiidx.table.PartitionPathForm
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.types.{DataType, StringType}
import org.apache.spark.unsafe.types.UTF8String

/** The record key of a row, as Hudi's key generators make it. A row without one is InvalidOption: Hudi takes none either. */
final case class RecordKeyOf(children: Seq[Expression], form: RecordKeyForm) extends Expression with CodegenFallback {
  @transient private lazy val reader: KeyReader = KeyColumnsOf(children.toVector, Vector(form)).readers().head

  override def nullable: Boolean = false

  override def dataType: DataType = StringType

  override def eval(row: InternalRow): Any = {
    if (!reader.read(row))
      throw new InvalidOption(
        s"key fields ${form.fields.mkString(", ")}: a row has no value in any of them, and so no record key; fill them, or leave such rows out"
      )
    UTF8String.fromBytes(java.util.Arrays.copyOf(reader.bytes, reader.length))
  }

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): Expression =
    copy(children = newChildren)
}

/** The record key that a record has and keeps, of a row that stands in for it; InvalidOption if that is another record to Hudi.
  *
  * @param children the key and the key that the record has; then, if it may not move, its partition path and the one that it
  *                 has; then other keys that the row may have in the table
  * @param others   how many these are
  */
final case class SameRecord(children: Seq[Expression], others: Int) extends Expression with CodegenFallback {
  override def nullable: Boolean = false

  override def dataType: DataType = StringType

  override def eval(row: InternalRow): Any = {
    val key = children.head.eval(row)
    val old = children(1).eval(row)
    if (key != old && !children.takeRight(others).exists(_.eval(row) == old))
      throw new InvalidOption(
        s"an UPDATE gives record $old the key $key: a record keeps its key; delete the one and insert the other"
      )
    if (children.size > 2 + others && children(2).eval(row) != children(3).eval(row))
      throw new InvalidOption(
        s"an UPDATE gives record $key another partition: where ${WriteOptions.Global} is false a record keeps it; delete the one and " +
          "insert the other"
      )
    old
  }

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): Expression =
    copy(children = newChildren)
}

/** The partition path of a row. Format notes §8.4. */
final case class PartitionPathOf(children: Seq[Expression], form: PartitionPathForm)
    extends Expression
    with CodegenFallback {
  @transient private lazy val builder = new RecordKeyBuilder(
    RecordKeyForm(Vector("value"), named = false, timestamps = false)
  )

  override def nullable: Boolean = false

  override def dataType: DataType = StringType

  override def eval(row: InternalRow): Any = UTF8String.fromString(form.path(children.toVector.map(text(_, row))))

  /** Empty for a null. */
  private def text(child: Expression, row: InternalRow): String = {
    builder.start()
    KeyReader.add(builder, child.dataType, child.eval(row))
    new String(builder.bytes, 0, builder.length, "UTF-8")
  }

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): Expression =
    copy(children = newChildren)
}

/** The number of the file group that a row goes to, from its partition path, the file id of its location and its key. */
final case class FileGroupOf(children: Seq[Expression], groups: WriteGroups) extends Expression with CodegenFallback {
  override def nullable: Boolean = false

  override def dataType: DataType = org.apache.spark.sql.types.IntegerType

  override def eval(row: InternalRow): Any = {
    val fileId = children(1).eval(row).asInstanceOf[UTF8String]
    val partition = children.head.eval(row).toString
    if (fileId != null) groups.ofLocation(partition, fileId.toString)
    else groups.ofInsert(partition, children(2).eval(row).asInstanceOf[UTF8String].hashCode)
  }

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): Expression =
    copy(children = newChildren)
}
