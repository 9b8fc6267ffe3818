package hudiidx.log

import hudiidx.UnsupportedTable
import java.nio.charset.StandardCharsets.UTF_8

/** How MySqlDebeziumAvroPayload compares before version 9: by column `_event_seq`, `<number of the binlog file>.<position>`,
  * number by number. Format notes §7.6.
  */
private[hudiidx] object EventSequence {
  val Column = "_event_seq"

  /** True if the older record stays: of equal ones too, and never one without a value. UnsupportedTable for a value of another
    * form, which fails in Hudi as well.
    */
  def olderStays(older: OrderingValue, newer: OrderingValue): Boolean =
    older.kind != OrderingKind.Default && {
      val (oldFile, oldPosition) = parse(older)
      val (newFile, newPosition) = parse(newer)
      if (oldFile != newFile) oldFile > newFile else oldPosition >= newPosition
    }

  private def parse(value: OrderingValue): (Long, Long) = {
    val text = value.kind match {
      case OrderingKind.TextKind => new String(OrderingValue.bytes(value), UTF_8)
      case other                 => s"a value of type $other"
    }
    try {
      val parts = text.split('.')
      (parts(0).toLong, parts(1).toLong)
    } catch {
      case e @ (_: NumberFormatException | _: ArrayIndexOutOfBoundsException) =>
        throw new UnsupportedTable(
          s"column $Column has $text where MySqlDebeziumAvroPayload wants <number of a file>.<position>; correct the rows, or read " +
            "the base files alone with option hoodie.datasource.query.type=read_optimized",
          e
        )
    }
  }
}
