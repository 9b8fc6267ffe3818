package hudiidx.hive

import java.io.{
  ByteArrayInputStream,
  ByteArrayOutputStream,
  InputStream,
  ObjectInputFilter,
  ObjectInputStream,
  ObjectOutputStream,
  ObjectStreamClass
}
import java.util.zip.{DeflaterOutputStream, InflaterInputStream}

import hudiidx.table.{LatestSchema, TableConfig, ViewTimeline}

/** What a task must know of a table beside its slice: the moment that splits were made at, whatever is written since.
  *
  * @param timeline of pieces with logs alone: it tells which log blocks count
  * @param asOf     requested time of the query's instant; None: the latest
  * @param schema   the table's, with its meta columns
  * @param keys     rows of these record keys alone
  * @param baseFilesOnly of a merge-on-read table
  */
private[hive] final case class ReadPlan(
    config: TableConfig,
    timeline: Option[ViewTimeline],
    asOf: Option[String],
    schema: LatestSchema,
    damagedAsStock: Boolean,
    mergesAs11: Boolean,
    keys: Option[Set[String]],
    baseFilesOnly: Boolean
) {

  /** As splits carry it. */
  def encoded: Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    val out = new ObjectOutputStream(new DeflaterOutputStream(bytes))
    out.writeObject(this)
    out.close()
    bytes.toByteArray
  }
}

private[hive] object ReadPlan {
  def decode(bytes: Array[Byte]): ReadPlan =
    new OwnClasses(new InflaterInputStream(new ByteArrayInputStream(bytes))).readObject().asInstanceOf[ReadPlan]

  /** The loader that a stream takes by itself may be that of Scala's collections, which need not know our classes. */
  private final class OwnClasses(in: InputStream) extends ObjectInputStream(in) {
    setObjectInputFilter(Plain)

    override def resolveClass(described: ObjectStreamClass): Class[_] =
      try Class.forName(described.getName, false, ReadPlan.getClass.getClassLoader)
      catch { case _: ClassNotFoundException => super.resolveClass(described) }
  }

  /** Where Scala's classes are; the jar for clusters has its own. */
  private val Scala = classOf[Option[_]].getName.stripSuffix("Option")

  /** What plans are made of: classes of ours, values and collections. No lambdas, nor what computes when it is read. */
  private val Plain = ObjectInputFilter.Config.createFilter(
    Seq(
      // Sets of sets take twice as long with each level.
      "maxdepth=20",
      s"maxarray=${1 << 24}",
      "maxrefs=20000000",
      s"maxbytes=${1 << 28}",
      s"!${Scala}collection.immutable.Stream*",
      s"!${Scala}collection.immutable.LazyList*",
      "hudiidx.table.*",
      "hudiidx.timeline.*",
      "hudiidx.log.*",
      "hudiidx.storage.*",
      "hudiidx.TableFormat",
      "hudiidx.StockReader*",
      "hudiidx.hive.ReadPlan",
      s"${Scala}collection.immutable.*",
      s"${Scala}collection.generic.*",
      s"${Scala}Some",
      s"${Scala}None$$",
      s"${Scala}Option",
      s"${Scala}Tuple2",
      "java.lang.*",
      "java.time.*",
      "java.util.*",
      "!*"
    ).mkString(";")
  )
}
