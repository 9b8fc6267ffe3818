package hudiidx.engine.column

import java.io.OutputStream
import java.math.BigInteger
import java.security.MessageDigest

import hudiidx.column._
import hudiidx.column.segment.{ColumnKind, CoveredFile, EncodedPage, RecordsWriter, SegmentWriter}
import hudiidx.storage.{CarriedFiles, EndsAhead}
import hudiidx.store.{IndexFile, IndexStore}
import hudiidx.sync.{TableAccess, TaskEngine}
import hudiidx.table.FileEntry

/** Files that one task reads, all of a partition behind each other.
  *
  *  @param name names the files: column files in the making that begin with it are of just these
  */
private[column] final case class ColumnShare(files: Vector[FileEntry], name: String)

private[column] object ColumnShare {

  /** Facts that a task holds. */
  private val MostFacts = 400000
  private val PerSlot = 3
  private val LeastFiles = 8

  /** Cut where names of files say so: a file that comes in between changes one share, not all that follow.
    *
    *  @param files of one partition after the other
    */
  def cut(files: Vector[FileEntry], work: ColumnWork, slots: Int): Vector[ColumnShare] = {
    val most = math.max(1, MostFacts / work.width)
    val even = files.size / (slots * PerSlot) + 1
    val usual = math.max(1, math.min(most / 2, math.max(LeastFiles, Integer.highestOneBit(even))))
    val shares = Vector.newBuilder[ColumnShare]
    var share = Vector.empty[FileEntry]
    files.foreach { f =>
      share :+= f
      if (share.size >= most || Math.floorMod(f.fileName.hashCode, usual) == 0) {
        shares += ColumnShare(share, nameOf(share))
        share = Vector.empty
      }
    }
    if (share.nonEmpty) shares += ColumnShare(share, nameOf(share))
    shares.result()
  }

  private def nameOf(files: Vector[FileEntry]): String = {
    val digest = MessageDigest.getInstance("SHA-256")
    def add(text: String): Unit = digest.update((text + "\n").getBytes("UTF-8"))
    files.foreach { f =>
      add(f.partitionPath)
      add(f.fileName)
      add(f.sizeBytes.toString)
    }
    new BigInteger(1, digest.digest()).toString(36).take(24)
  }
}

/** Column files of one share.
  *
  *  @param carried content of those that no store has, by their paths
  */
private[column] final case class WrittenColumns(
    stats: Option[IndexFile],
    records: Option[IndexFile],
    carried: Map[String, Array[Byte]] = Map.empty
)

/** The tasks that read columns. Made here, so that they carry what they need and nothing else. */
private[column] object ColumnTasks {
  private val BytesOfFact = 64

  /** Writes the column files of each share into a folder.
    *
    *  @param folder of an index store
    *  @param prefix what names of a share's files begin with; a task that runs again has names of its own
    *  @param done   is told of how many files columns are read, again and again
    *  @param carries small files are not stored, but handed back
    */
  def write(
      engine: TaskEngine,
      work: ColumnWork,
      folder: String,
      shares: Vector[ColumnShare],
      prefix: ColumnShare => String,
      done: Int => Unit,
      carries: Boolean = false
  ): Vector[WrittenColumns] =
    if (shares.isEmpty) Vector.empty
    else
      engine.runShowing(
        s"read columns of ${shares.map(_.files.size).sum} files",
        shares.map(s => s -> prefix(s)),
        places => done(places.map(shares(_).files.size).sum)
      )(writing(work, folder, carries))

  private def writing(
      work: ColumnWork,
      folder: String,
      carries: Boolean
  ): (TableAccess, (ColumnShare, String)) => WrittenColumns = { case (access, (share, prefix)) =>
    val store = new IndexStore(access.storage, folder)
    val token = IndexStore.newToken()
    val ahead = new EndsAhead(access.storage)
    val read = ahead.over(share.files)(work.fileOf).map(work.read(ahead, _)).toVector
    val carrying = new CarriedFiles(access.storage, Map.empty)
    val isCarried = carries && CarriedFiles.isSmall(bytesOf(read))
    def written(kind: String)(content: OutputStream => Unit): Option[IndexFile] = {
      val name = ColumnKind.fileName(prefix, token, kind)
      Some(
        if (isCarried) new IndexStore(carrying, folder).writeScratch(name, kind)(content)
        else store.write(name, kind)(content)
      )
    }
    val files = WrittenColumns(
      if (work.hasRanges) written(ColumnKind.Stats)(stats(read, _)) else None,
      if (work.hasRecords) written(ColumnKind.Records)(records(read, _)) else None
    )
    files.copy(carried = carrying.made)
  }

  /** About what the files of these take. */
  private def bytesOf(read: Vector[ReadFile]): Long =
    read.map(r => r.facts.size.toLong * BytesOfFact + r.records.map(_.bytes.length.toLong).sum).sum

  private def stats(read: Vector[ReadFile], out: OutputStream): Unit = {
    val writer = new SegmentWriter(out)
    partitions(read).foreach { case (path, files) => writer.partition(path, files) }
    val layout = writer.layout
    val rows = read.map(_.rows).toArray
    val byColumn = new java.util.LinkedHashMap[IndexedColumn, Array[ColumnStats]]
    read.indices.foreach { i =>
      read(i).facts.foreach { fact =>
        byColumn.computeIfAbsent(fact.column, _ => Array.fill(read.size)(ColumnStats.Unknown))(i) = fact.stats
      }
    }
    byColumn.forEach { (column, all) =>
      writer.column(
        column,
        Iterator.range(0, layout.pages).map { page =>
          val (from, until) = (layout.from(page), layout.until(page))
          EncodedPage.of(column.columnType, all.slice(from, until), rows.slice(from, until), layout.runs(page))
        }
      )
    }
    writer.close(): Unit
  }

  private def records(read: Vector[ReadFile], out: OutputStream): Unit = {
    val writer = new RecordsWriter(out)
    partitions(read).foreach { case (path, files) => writer.partition(path, files) }
    writer.layout
    read.flatMap(_.records.map(_.columns)).distinct.foreach { columns =>
      writer.columns(columns)
      read.indices.foreach(i => read(i).records.filter(_.columns == columns).foreach(r => writer.record(i, r.bytes)))
    }
    writer.close(): Unit
  }

  /** In the order in which they come: that of partitions' keys. */
  private def partitions(read: Vector[ReadFile]): Vector[(String, Vector[CoveredFile])] = {
    var out = Vector.empty[(String, Vector[CoveredFile])]
    var left = read
    while (left.nonEmpty) {
      val path = left.head.file.partitionPath
      val (same, others) = left.span(_.file.partitionPath == path)
      out :+= path -> same.map(r => CoveredFile(r.file.fileName, r.file.sizeBytes, r.rows))
      left = others
    }
    out
  }
}
