package hudiidx.spark.pinned

import hudiidx.RecentlyUsed
import hudiidx.{DamagedIndex, Log}
import hudiidx.engine.Tables
import hudiidx.logindex.{KeptCells, LogIndex}
import hudiidx.record.RecordKind
import hudiidx.store.{Current, IndexFile, IndexStore}
import hudiidx.sync.{IndexOptions, OpenIndex, PinnedInstantCheck, TableContext, TableSnapshot}
import hudiidx.table.{FileGroup, FileSystemView, TableConfig, ViewTimeline}
import hudiidx.table.listing.TableListing
import hudiidx.timeline.{ActiveTimeline, Instant, InstantContents}
import org.apache.hadoop.conf.Configuration
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.SparkSession
import org.apache.spark.util.SerializableConfiguration

/** A table's files at one moment, on the driver and in tasks alike: what is sent is the pinned timeline; each process
  * opens index and files for itself. A task that finds a newer index than its timeline allows lists the table instead.
  *
  *  @param path the base path, qualified
  */
final class SharedTable private (
    val path: String,
    val config: TableConfig,
    instants: Vector[Instant],
    options: IndexOptions,
    val conf: Broadcast[SerializableConfiguration]
) extends Serializable {

  @transient lazy val context: TableContext = {
    val access = Tables.access(conf.value.value)
    val timeline = new ActiveTimeline(config.timelineDir(path), config.timelineLayout, instants)
    TableContext.of(access, path, config, timeline)
  }

  /** Lives as long as a frame: what it opens is closed by the pool of `hudiidx.storage.FilePool`. */
  @transient lazy val snapshot: TableSnapshot =
    PinnedInstantCheck.asOf(context)(TableSnapshot.of(context, options, found = foundJustNow))

  /** The index as it was found when the table was opened, in that process; its files may be removed some time later. */
  @transient private var found: Current = _
  @transient private var foundAt = 0L

  /** Finds the index where the table's store is far, and fetches what opening it takes: for who will open it soon, and has other things
    * to ask.
    *
    *  @param keys its record index too, if that has few files
    */
  def findIndex(keys: Boolean): Unit =
    if (context.storage.isFar(path)) {
      val store = new IndexStore(context.storage, options.indexDir(path))
      def isOfKeys(f: IndexFile) = keys && RecordKind.All(f.kind)
      found = TableSnapshot.found(store, options, f => OpenIndex.needs(f) || isOfKeys(f)).orNull
      foundAt = System.nanoTime()
    }

  private def foundJustNow: Option[Current] = Option(found).filter(_ => isJustNow(foundAt))

  private def isJustNow(nanos: Long): Boolean = System.nanoTime() - nanos <= SharedTable.TrustedNanos

  /** The table's files as they lie on storage, under the same timeline. */
  @transient lazy val listing: TableListing =
    TableSnapshot.listingOf(context, snapshot.viewTimeline, damagedAsStock = options.damagedAsStock)

  /** What the index keeps of log blocks, if it does. */
  @transient private lazy val logIndex: Option[LogIndex] =
    snapshot.use.version.filter(LogIndex.isIn).flatMap { version =>
      withoutIfDamaged {
        LogIndex.open(new IndexStore(context.storage, options.indexDir(path)), version, context.access.cache)
      }
    }

  /** The tails that the index keeps of a file group's log blocks. DamagedIndex, in strict mode alone, if it cannot be read. */
  def keptTails(group: FileGroup): Option[KeptCells] =
    logIndex.flatMap(index => withoutIfDamaged(index.kept(group))).filterNot(_.isEmpty)

  private def withoutIfDamaged[A](read: => A): Option[A] =
    try Some(read)
    catch {
      case e: DamagedIndex if !options.strict =>
        if (!warned) {
          val remedy = IndexStore.command("add-index", path, options.indexDir(path), "logs").quoted
          SharedTable.log.warn(
            s"$path: log blocks are read without their index: ${e.getMessage}; $remedy makes it anew"
          )
        }
        warned = true
        None
    }

  @transient private var warned = false

  /** The table, if it can still be read as of its moment; see [[PinnedInstantCheck]]. It is not asked again within a second, so that a
    * query that opens and plans at once asks nothing.
    */
  def requireUnchanged(): SharedTable = synchronized {
    if (!isJustNow(seenUnchanged)) {
      PinnedInstantCheck.requireUnchanged(context)
      seenUnchanged = System.nanoTime()
    }
    this
  }

  /** When the table was last known to be as it was opened. Of this process. */
  @transient private var seenUnchanged = System.nanoTime()

  def damagedAsStock: Boolean = options.damagedAsStock

  def timeline: ActiveTimeline = context.timeline

  def contents: InstantContents = context.contents

  def view: FileSystemView = snapshot.view

  /** What is visible; known without opening the index. */
  @transient lazy val viewTimeline: ViewTimeline =
    PinnedInstantCheck.asOf(context)(
      ViewTimeline.load(config, timeline, contents, t => context.history.completionTime(t))
    )
}

object SharedTable {
  private val log = Log.of(classOf[SharedTable])
  private val TrustedNanos = 1000000000L

  /** Reads properties and timeline. NotAHudiTable, UnsupportedTable, DamagedTable as `TableConfig.read`. */
  def open(spark: SparkSession, path: String, options: IndexOptions): SharedTable = {
    val hadoop = spark.sessionState.newHadoopConf()
    of(hadoop, path, options, shared(spark, hadoop))
  }

  /** As of a moment at which the table was read, by a write of this session. */
  def of(spark: SparkSession, table: TableContext, options: IndexOptions): SharedTable =
    of(table, options, shared(spark, spark.sessionState.newHadoopConf()))

  /** As `open`, for this process alone. */
  def alone(hadoop: Configuration, path: String, options: IndexOptions): SharedTable =
    of(hadoop, path, options, new HeldConfiguration(new SerializableConfiguration(hadoop)))

  private def of(
      hadoop: Configuration,
      path: String,
      options: IndexOptions,
      shared: => Broadcast[SerializableConfiguration]
  ): SharedTable = {
    val base = Tables.qualified(path, hadoop)
    val (table, found) = TableSnapshot.opening(Tables.access(hadoop), base, options)
    val opened = of(table, options, shared)
    opened.found = found.orNull
    opened.foundAt = System.nanoTime()
    opened
  }

  private def of(
      table: TableContext,
      options: IndexOptions,
      shared: Broadcast[SerializableConfiguration]
  ): SharedTable = new SharedTable(table.tablePath, table.config, table.timeline.instants, options, shared)

  /** Settings for tasks. Sending them takes some milliseconds, so equal ones are sent once. */
  def shared(spark: SparkSession, conf: Configuration): Broadcast[SerializableConfiguration] = {
    val settings = new java.util.HashMap[String, String]
    conf.forEach(e => settings.put(e.getKey, e.getValue): Unit)
    val context = spark.sparkContext
    sent.getOrPut((context.applicationId, settings))(context.broadcast(new SerializableConfiguration(conf)))
  }

  // By application and what is in them: sessions make new ones for each query, and anybody may change the context's.
  private val sent =
    new RecentlyUsed[(String, java.util.Map[String, String]), Broadcast[SerializableConfiguration]](8)(_ => 1)
}
