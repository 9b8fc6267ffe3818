package hudiidx.spark.write.options

import java.util.Locale

import hudiidx.{Log, LogOnce}
import hudiidx.spark.options.{StockOption, StockReadOptions, UnknownOption}
import hudiidx.spark.options.StockOption.{Followed, Harmless}
import hudiidx.table.TableProperties

/** All options of stock Hudi's writers, 0.15.0 to 1.2.0, each with a decision: none that changes rows, keys, paths or files is taken
  * silently and not followed. docs/writer-options.md has the list.
  */
object StockWriteOptions {

  /** Those that stand for another in the table of options.md. */
  lazy val Spellings: Vector[String] =
    WriteOptions.Moves ++ TableShape.Spellings.values.flatten ++ AskedMergeMode.Names ++
      Vector(WriteOptions.IndexType, WriteOptions.CommitPrefix, WriteOptions.DatabaseName, WriteOptions.TimelineZone)

  /** By name in lower case; without the underscore before some that are for Hudi alone. */
  lazy val Decided: Map[String, StockOption] =
    RefusedWriteOptions.All ++ HarmlessWriteOptions.All ++
      (WriteOptionDocs.All.map(_.name.toLowerCase(Locale.ROOT)).filter(_.startsWith("hoodie.")) ++ Spellings)
        .map(_ -> Followed)

  /** The beginnings of names of more options. */
  def Families: Map[String, Harmless] = HarmlessWriteOptions.Families

  def of(name: String): Option[StockOption] = {
    val key = name.toLowerCase(Locale.ROOT).stripPrefix("_.").stripPrefix("_")
    Decided.get(key).orElse(Families.collectFirst { case (family, is) if key.startsWith(family) => is })
  }

  /** InvalidOption for a name of Hudi's that no release has and that, by its beginning or its words, rows or files would depend on; of
    * others that none has a warning.
    *
    * @param own in lower case, of the write itself: a session may have what is of other jobs
    */
  def requireKnown(own: Iterable[String]): Unit = own.filter(isUnknown).toVector.sorted.foreach { name =>
    if (Telling.exists(name.startsWith(_)) || TableProperties.mayTell(name))
      throw UnknownOption.refused(name, Decided.keys)
    unknown.warn(name, Some(s"$name: stock Hudi 0.15.0 to 1.2.0 has no such option; it is ignored"))
  }

  private def isUnknown(name: String): Boolean =
    name.startsWith("hoodie.") && of(name).isEmpty && !StockReadOptions.isDecided(name) &&
      TableProperties.use(name).isEmpty

  private val Telling = Vector("hoodie.datasource.write.", "hoodie.table.", "hoodie.write.", "hoodie.record.")
  private val unknown = new LogOnce(Log.of(getClass))

  /** InvalidOption for what rows or files would depend on and is not followed.
    *
    * @param given    of the write, names in lower case
    * @param isInsert it is a statement `INSERT`
    */
  def check(given: Map[String, String], operation: WriteOperation, isInsert: Boolean): Unit = {
    import RefusedWriteOptions._
    StockOption.check(Decided, given) { name =>
      OfOperations.get(name).forall(_(operation)) && (isInsert || !OfInserts(name)) &&
      !Behind.getOrElse(name, Vector.empty).exists(given.contains)
    }
  }

  /** The same, of a compaction. */
  def checkCompaction(given: Map[String, String]): Unit =
    StockOption.check(Decided, given)(RefusedWriteOptions.OfCompactions)
}
