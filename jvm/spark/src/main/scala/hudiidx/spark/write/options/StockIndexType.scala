package hudiidx.spark.write.options

import java.util.Locale

import hudiidx.InvalidOption
import hudiidx.write.StockWriter

/** What stock Hudi's kind of index says of records, whoever looks them up.
  *
  * @param isGlobal a key is unique in the table
  * @param moves    a record that comes with another partition moves there, unless an option says otherwise
  * @param movedBy  the option that says it
  */
final private[write] case class StockIndexType(isGlobal: Boolean, moves: Boolean, movedBy: Option[String])

private[write] object StockIndexType {
  private val InPartition = StockIndexType(isGlobal = false, moves = false, None)

  private val Known = Map(
    "BLOOM" -> InPartition,
    "SIMPLE" -> InPartition,
    "RECORD_LEVEL_INDEX" -> InPartition,
    "GLOBAL_BLOOM" -> StockIndexType(isGlobal = true, moves = true, Some(WriteOptions.MovesBloom)),
    "GLOBAL_SIMPLE" -> StockIndexType(isGlobal = true, moves = true, Some(WriteOptions.MovesSimple)),
    "GLOBAL_RECORD_LEVEL_INDEX" -> StockIndexType(isGlobal = true, moves = false, Some(WriteOptions.MovesPartition)),
    "RECORD_INDEX" -> StockIndexType(isGlobal = true, moves = false, Some(WriteOptions.MovesPartition)),
    "HBASE" -> StockIndexType(isGlobal = true, moves = false, Some(WriteOptions.MovesHbase)),
    "INMEMORY" -> StockIndexType(isGlobal = true, moves = false, None)
  )

  /** InvalidOption for the bucket index, and for kinds that nobody knows.
    *
    * @param given names in lower case
    */
  def of(given: Map[String, String]): Option[StockIndexType] =
    given.get(WriteOptions.IndexType).map(_.trim).filter(_.nonEmpty).map { text =>
      val kind = text.toUpperCase(Locale.ROOT)
      if (kind.endsWith("BUCKET"))
        throw new InvalidOption(
          s"${WriteOptions.IndexType}: tables with '$text', whose file groups are fixed by a hash of the key, are not written; ${StockWriter.Remedy}"
        )
      Known.getOrElse(
        kind,
        throw new InvalidOption(
          s"${WriteOptions.IndexType}: unsupported value '$text'; supported: ${Known.keys.toVector.sorted.mkString(", ")}"
        )
      )
    }

  /** A record that comes with another partition moves there. Without a kind any of the options says so. */
  def moves(kind: Option[StockIndexType], given: Map[String, String]): Boolean = {
    def isSet(name: String): Boolean = WriteOptionDocs.moves.copy(name = name).flag(given)
    kind.fold(WriteOptions.Moves.exists(isSet)) { k =>
      k.movedBy.filter(given.contains).fold(k.moves)(isSet)
    }
  }
}
