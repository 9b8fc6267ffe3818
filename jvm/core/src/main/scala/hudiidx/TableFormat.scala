package hudiidx

/** A release of stock Hudi, as far as releases give other rows for one table. */
sealed abstract class StockReader extends Product with Serializable

object StockReader {
  case object Hudi015 extends StockReader
  case object Hudi10 extends StockReader
  case object Hudi11 extends StockReader
}

/** What a table's version means. The one place that tells versions apart: other code asks for what it needs to know by name. A further version
  * is one more value here, and its tests.
  *
  * @param version         as `hoodie.table.version` has it
  * @param reader          the release whose rows a table of the version has
  * @param timelineLayout  where the properties do not say: 1 (instant files in `.hoodie`) or 2 (in the timeline folder)
  * @param completionTimes the timeline keeps when instants completed, and incremental queries and conflicts go by it
  * @param logsOfOneWrite  a log file bears the instant of its write and holds its blocks alone. Else it bears the instant of its slice, and is appended to
  * @param avroInstants    contents of completed instants are Avro, not JSON
  * @param typedProperties properties name types of key generators and merge modes in the place of classes
  * @param statedMerging   properties state all that payload classes did by their code before
  * @param isWritten       hudiidx makes such tables and writes to them
  */
final case class TableFormat private (
    version: Int,
    reader: StockReader,
    timelineLayout: Int,
    completionTimes: Boolean,
    logsOfOneWrite: Boolean,
    avroInstants: Boolean,
    typedProperties: Boolean,
    statedMerging: Boolean,
    isWritten: Boolean
) {

  /** Records merge as in Hudi 0.15. Format notes §7.5. */
  def mergesAsHudi015: Boolean = reader == StockReader.Hudi015

  /** Records merge as in Hudi 1.0, which differs from later releases in payload classes and ordering columns. */
  def mergesAsHudi10: Boolean = reader == StockReader.Hudi10

  /** Texts of delete blocks and of records are ordered. Hudi 0.15 and 1.0 have them in two Java classes, and the delete wins. */
  def comparesTexts: Boolean = !mergesAsHudi015 && !mergesAsHudi10

  /** A compaction leaves the keys that a reader saw before it. Hudi 1.0's lets late deletes win where its reader does not. */
  def compactsAsItReads: Boolean = reader != StockReader.Hudi10

  /** A float of a log that became a double is that of its shortest text, as one of a base file is, not of its bits. Hudi 0.15 and
    * 1.0 do so where columns go by a history.
    */
  def floatsByText: Boolean = !mergesAsHudi015 && !mergesAsHudi10

  /** The same of the images in `.cdc` files. */
  def imageFloatsByText: Boolean = reader != StockReader.Hudi015

  /** Partition columns of rows that are not merged come last. */
  def partitionColumnsLast: Boolean = reader == StockReader.Hudi015

  /** Incremental queries have the path's value of partition columns. */
  def incrementsFromPaths: Boolean = reader != StockReader.Hudi015

  /** An ordering column that partitions the table has the files' value. */
  def orderingColumnsStored: Boolean = reader != StockReader.Hudi015

  /** Incremental queries look at the commit time of each merged row. */
  def incrementsByRow: Boolean = reader != StockReader.Hudi015

  /** Log blocks may have records with the changed columns alone. */
  def hasPartialRecords: Boolean = reader != StockReader.Hudi015

  /** A commit that completed at an incremental query's begin is in it. */
  def beginCounts: Boolean = reader == StockReader.Hudi10

  /** A complex key of one field is `f:v`, whatever the setting. */
  def namesSingleKeyField: Boolean = statedMerging

  /** Folders of dates may have slashes. */
  def knowsSlashDates: Boolean = typedProperties

  /** A compaction plan has a map, if an empty one, where earlier ones have null. */
  def plansHaveExtra: Boolean = avroInstants
}

object TableFormat {
  val V6: TableFormat = TableFormat(
    6,
    StockReader.Hudi015,
    timelineLayout = 1,
    completionTimes = false,
    logsOfOneWrite = false,
    avroInstants = false,
    typedProperties = false,
    statedMerging = false,
    isWritten = true
  )

  val V8: TableFormat = TableFormat(
    8,
    StockReader.Hudi10,
    timelineLayout = 2,
    completionTimes = true,
    logsOfOneWrite = true,
    avroInstants = true,
    typedProperties = true,
    statedMerging = false,
    isWritten = false
  )

  val V9: TableFormat = V8.copy(version = 9, reader = StockReader.Hudi11, statedMerging = true, isWritten = true)

  /** Those that are read, by version. */
  val All: Vector[TableFormat] = Vector(V6, V8, V9)

  val Latest: TableFormat = All.last

  /** Those in which tables are made. */
  val Written: Vector[TableFormat] = All.filter(_.isWritten)

  /** None for a version that is not served. */
  def find(version: Int): Option[TableFormat] = All.find(_.version == version)

  /** Why the rows of another version are not known, and what to do. */
  def unsupported(version: Int): (String, String) = {
    val supported = s"supported are ${All.map(_.version).mkString(", ")}"
    if (version == NativeLogs)
      (
        s"$supported, and tables of version 10 keep their logs in files of Parquet or HFile, so that rows would be missing",
        "use a newer hudiidx, or stock Hudi for this table; its index stays as it is"
      )
    else if (version > Latest.version) (supported, "use a newer hudiidx, or stock Hudi for this table")
    else (supported, "upgrade the table with Hudi (hudi-cli: upgrade table)")
  }

  private val NativeLogs = 10

  /** The last one up to a version that a table once had; None before the first. */
  def upTo(version: Int): Option[TableFormat] = All.filter(_.version <= version).lastOption
}
