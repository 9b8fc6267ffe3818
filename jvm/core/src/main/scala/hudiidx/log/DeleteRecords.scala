package hudiidx.log

import hudiidx.bytes.{ByteCursor, Varint}
import hudiidx.{DamagedTable, DecimalText, UnsupportedTable}

/** A deleted key. `ordering` is null, or a Boolean, Int, Long, Float, Double, Array[Byte], String (the values of Hudi's
  * wrappers; dates and times as their numbers, decimals as their bytes), or a Vector of such for several ordering fields.
  *
  * @param orderingBranch number of the wrapper in Hudi's union, which tells an Int from a date
  */
final case class DeletedKey(recordKey: String, partitionPath: String, orderingBranch: Int, ordering: Any)

/** Content of a delete block, version 3. Format notes §6.5. */
object DeleteRecords {
  private val Version = 3

  /** The keys in the order written; null for a key or path that the block leaves out. DamagedTable if the bytes do not fit,
    * UnsupportedTable for the older, Kryo-written versions.
    */
  def decode(content: Array[Byte], file: String, fileOffset: Long): Vector[DeletedKey] = {
    val keys = Vector.newBuilder[DeletedKey]
    foreach(content, file, fileOffset)(keys += _)
    keys.result()
  }

  /** As `decode`, one key after the other. */
  def foreach(content: Array[Byte], file: String, fileOffset: Long)(use: DeletedKey => Unit): Unit = {
    val in = new ByteCursor(content, 0, content.length, file, fileOffset, new DamagedTable(_))
    val version = in.int("delete block version")
    if (version == 1 || version == 2)
      throw new UnsupportedTable(
        s"$file: delete block has version $version at offset $fileOffset, hudiidx reads 3; compact the table with Hudi"
      )
    if (version != Version) in.fail(s"delete block has version $version, known is 3")
    val list = in.slice(in.int("delete list length"), "delete list")
    val isEmpty = list.remaining == 1
    array(list, "deleted keys", leastBytes = 3)(use(key(list)))
    // Stock Hudi writes neither; a block of another kind may look so once its kind was changed.
    if (list.remaining > 0) list.fail(s"${list.remaining} bytes after the deleted keys")
    if (isEmpty && in.remaining > 0) in.fail(s"an empty delete list and ${in.remaining} bytes after it")
  }

  private def key(in: ByteCursor): DeletedKey = {
    val recordKey = optional(in, "record key")
    val path = optional(in, "partition path")
    val tag = in.varintUpTo(24, "ordering value's type")
    if ((tag & 1) != 0) in.fail(s"an ordering value has union branch ${Varint.unZigZag(tag.toLong)}")
    val branch = tag >> 1
    DeletedKey(recordKey, path, branch, value(in, branch, nested = false))
  }

  /** An Avro array: blocks of items until an empty one. `leastBytes` bounds a count by the bytes there are. */
  private def array(in: ByteCursor, what: String, leastBytes: Int)(item: => Unit): Unit = {
    var more = true
    while (more) {
      var count = Varint.unZigZag(in.varint(what))
      if (count < 0) {
        count = -count
        in.varint(what)
      }
      if (count < 0 || count > in.remaining / leastBytes) in.fail(s"$count $what cannot lie in ${in.remaining} bytes")
      more = count > 0
      while (count > 0) {
        item
        count -= 1
      }
    }
  }

  private def optional(in: ByteCursor, what: String): String =
    in.varint(what) match {
      case 0     => null
      case 2     => text(in, what)
      case other => in.fail(s"$what has union branch ${Varint.unZigZag(other)}")
    }

  private def text(in: ByteCursor, what: String): String = in.utf8(length(in, what), what)

  private def length(in: ByteCursor, what: String): Int = {
    val size = Varint.unZigZag(in.varint(what))
    if (size < 0 || size > in.remaining)
      in.fail(s"$what of $size bytes passes the end (${in.remaining} bytes are left)")
    size.toInt
  }

  private def value(in: ByteCursor, branch: Int, nested: Boolean): Any = branch match {
    case 0             => null
    case 1             => in.byte("boolean") != 0
    case 2 | 8         => Varint.unZigZag(in.varint("int")).toInt
    case 3 | 10 | 11   => Varint.unZigZag(in.varint("long"))
    case 4             => java.lang.Float.intBitsToFloat(Integer.reverseBytes(in.int("float")))
    case 5             => java.lang.Double.longBitsToDouble(java.lang.Long.reverseBytes(in.long("double")))
    case 6             => in.take(length(in, "bytes"), "bytes")
    case 9             => decimal(in)
    case 7             => text(in, "string")
    case 12 if !nested => several(in)
    case 12            => Varint.unZigZag(in.varint("local date")).toInt
    case other         => in.fail(s"ordering value has type $other")
  }

  /** Without bytes there is no value. */
  private def decimal(in: ByteCursor): Array[Byte] = {
    val size = length(in, "decimal")
    if (size > DecimalText.MostBytes) in.fail(s"ordering value: a decimal of $size bytes")
    in.take(size, "decimal")
  }

  /** Values of several ordering fields: null, or an array of the wrappers above with the local date as branch 12. */
  private def several(in: ByteCursor): Any = in.varint("ordering values") match {
    case 0 => null
    case 2 =>
      val values = Vector.newBuilder[Any]
      array(in, "ordering values", leastBytes = 1) {
        values += value(in, in.varintUpTo(24, "ordering value's type") >> 1, nested = true)
      }
      values.result()
    case other => in.fail(s"ordering values have union branch ${Varint.unZigZag(other)}")
  }
}
