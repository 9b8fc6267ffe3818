package hudiidx.spark.write

import hudiidx.sync.TableContext
import hudiidx.table.FileSlice

/** What the commits of log files say of them. Where that takes more reads than the logs themselves nothing is known.
  *
  * @param slices whose logs are asked for
  */
final private[write] class LogFacts(table: TableContext, slices: Vector[FileSlice]) {
  private val logs = slices.flatMap(_.logFiles.map(_.fileName)).toSet

  /** Inserts and deletes by file. */
  private lazy val stats: Map[String, (Long, Long)] = {
    val oldest = slices.map(_.baseInstantTime).min
    val commits = table.timeline.completedWrites.filter(_.requestedTime >= oldest)
    if (commits.size > logs.size) Map.empty
    else {
      val all = for {
        commit <- commits
        stat <- table.contents.commit(commit).writeStats
        file <- stat.fileName if logs(file)
      } yield file -> ((stat.numInserts, stat.numDeletes))
      all.groupBy(_._1).map { case (file, found) => file -> ((found.map(_._2._1).sum, found.map(_._2._2).sum)) }
    }
  }

  /** May its logs delete records? */
  def mayDelete(slice: FileSlice): Boolean =
    slice.logFiles.nonEmpty && (!isTold(slice) || slice.logFiles.exists(f => stats.get(f.fileName).forall(_._2 > 0)))

  /** Are there records that its logs alone have? False also where nobody tells. */
  def hasOwnRecords(slice: FileSlice): Boolean =
    slice.logFiles.nonEmpty && (slice.baseFile.isEmpty || slice.logFiles.exists(f =>
      stats.get(f.fileName).exists(_._1 > 0)
    ))

  /** No commit of its logs is archived. Before version 8 several commits may have written one file. */
  private def isTold(slice: FileSlice): Boolean = table.timeline.start.exists(_ <= slice.baseInstantTime)
}
