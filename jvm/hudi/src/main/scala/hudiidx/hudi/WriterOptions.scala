package hudiidx.hudi

import java.util.Properties

import scala.collection.JavaConverters._

import hudiidx.InvalidOption
import hudiidx.spark.write.IndexUpdate
import hudiidx.spark.write.options.WriteOptionDocs
import hudiidx.store.IndexStore
import hudiidx.sync.{IndexOptions, OptionDoc}
import org.apache.spark.sql.SparkSession

/** Settings of a stock writer that tags through hudiidx, from the options of its write.
  *
  *  @param global         a record key is unique in the table; false: in its partition
  *  @param logInserts     merge-on-read: inserts may go to log files; None: as the table says
  *  @param create         make the index before the first tagging if there is none
  *  @param movesPartition Hudi's own option: a record whose partition path changed moves; false: it stays where it is
  *  @param index          the settings of hudiidx alone, by name
  */
final case class WriterOptions(
    global: Boolean,
    logInserts: Option[Boolean],
    create: Boolean,
    movesPartition: Boolean,
    index: Map[String, String]
) {

  /** Takes in what completed; makes the index, with a record index, where there is none and the options ask for it. */
  def updateIndex(spark: SparkSession, tablePath: String): Unit =
    IndexUpdate.run(spark, tablePath, global, create, index)

  /** An index with a window finds records of its days alone: older ones would be inserted anew. InvalidOption unless the
    * write's own options name that window.
    *
    *  @param days of the window of the index in use; None: it has none
    */
  def requireWindow(days: Option[Int], tablePath: String): Unit =
    days.filterNot(d => index.get(IndexOptions.RecordWindowDays).map(_.trim).contains(d.toString)).foreach { d =>
      val table = IndexStore.command("add-index", tablePath, IndexOptions.of(index).indexDir(tablePath), "record")
      val command = table.copy(options = ("--mode" -> IndexOptions.GlobalMode) +: table.options).quoted
      throw new InvalidOption(
        s"$tablePath: the record index has a window of $d days: records committed before it are not found, so that an upsert " +
          s"inserts them again; make one of all records ($command), or, if only " +
          s"the last $d days are to be free of duplicates, set ${IndexOptions.RecordWindowDays}=$d for the write"
      )
    }
}

object WriterOptions {
  val Global: String = WriteOptionDocs.global.name
  val LogInserts: String = WriteOptionDocs.logInserts.name
  val Create: String = WriteOptionDocs.creates.name
  val MovesPartition: String = WriteOptionDocs.moves.name

  val Docs: Vector[OptionDoc] = WriteOptionDocs.Own :+ WriteOptionDocs.moves

  /** Raises InvalidOption for an unknown `hudiidx.` name or a bad value. */
  def of(properties: Properties): WriterOptions = {
    val all = properties.asScala.toMap
    val ours = all.filter(_._1.startsWith("hudiidx."))
    ours.keys.filterNot(k => IndexOptions.isKnown(k) || Docs.exists(_.name == k)).foreach { k =>
      throw new InvalidOption(
        s"$k: unknown option; supported: ${(Docs ++ IndexOptions.Docs).map(_.name).mkString(", ")}"
      )
    }
    WriterOptions(
      global = WriteOptionDocs.global.flag(all),
      logInserts = all.get(LogInserts).map(_ => WriteOptionDocs.logInserts.flag(all)),
      create = WriteOptionDocs.creates.flag(all),
      movesPartition = WriteOptionDocs.moves.flag(all),
      index = ours.filter { case (k, _) => IndexOptions.isKnown(k) }
    )
  }
}
