package hudiidx.column.segment

import hudiidx.DamagedIndex
import hudiidx.bytes.{PackedInput, PackedOutput}
import hudiidx.column.{ColumnType, IndexedColumn}
import hudiidx.hfile.{BlockCache, HFileCursor, HFileReader, HFileWriter}
import hudiidx.manifest.PartitionKey
import hudiidx.storage.RandomReader
import java.io.OutputStream
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import scala.collection.mutable

/** Kinds of the column index's files in an index version. */
object ColumnKind {

  /** A segment of statistics, written by [[SegmentWriter]]. */
  val Stats = "column_stats"

  /** Records of other kinds of index, one for each file and column, written by [[RecordsWriter]]. */
  val Records = "column_records"
  val All: Set[String] = Set(Stats, Records)

  /** Name of a file in the index folder.
    *
    * @param prefix an instant, or in a work folder the name of a share
    */
  def fileName(prefix: String, token: String, kind: String): String = s"$prefix.$token.$kind"
}

/** What a column file holds.
  *
  *  @param columns columns, or groups of columns, and kinds
  */
final case class ColumnFileCounts(files: Int, partitions: Int, columns: Int)

/** Columns that are indexed together, all of one kind and one only unless the kind looks at several, and their number in a
  * column file.
  */
final case class ColumnEntry(columns: Vector[IndexedColumn], number: Int)

/** What column files have in common: files by partition, cells of columns, names of columns. docs/format.md, "Column files". */
private[column] final class ColumnFileWriter(out: OutputStream, kind: String, shape: SegmentShape) {
  private val file = new HFileWriter(out, shape.hfile)
  private val paths = mutable.ArrayBuffer.empty[String]
  private val counts = mutable.ArrayBuffer.empty[Int]
  private val fingerprints = mutable.ArrayBuffer.empty[Long]
  private val entries = mutable.LinkedHashMap.empty[Vector[IndexedColumn], ColumnEntry]
  private var laidOut: SegmentLayout = _

  /** Partitions come in the order of their keys, before columns. */
  def partition(path: String, files: IndexedSeq[CoveredFile]): Unit =
    partition(path, files.map(f => (NameDigest.of(f.name), f.sizeBytes)).toArray, files.map(_.rows).toArray)

  /** @param files digests of their names, with their sizes */
  def partition(path: String, files: Array[(NameDigest, Long)], rows: Array[Long]): Unit = {
    val (digests, sizes) = (files.map(_._1), files.map(_._2))
    require(laidOut == null, s"partition $path behind columns")
    append(ColumnFile.filesKey(path), FileTable.encode(digests, sizes, rows))
    paths += path
    counts += digests.length
    fingerprints += FileTable.fingerprint(digests, sizes)
  }

  /** Of all partitions: none can follow. */
  def layout: SegmentLayout = {
    if (laidOut == null) laidOut = SegmentLayout(counts.toVector, shape.filesPerPage)
    laidOut
  }

  def begin(columns: Vector[IndexedColumn]): Int = {
    require(columns.nonEmpty && columns.map(_.kind).distinct.size == 1, s"columns $columns are not of one kind")
    require(!entries.contains(columns), s"$columns twice")
    layout
    val entry = ColumnEntry(columns, entries.size)
    entries(columns) = entry
    entry.number
  }

  /** Cells of a column in ascending order of `sub`, unsigned. */
  def cell(number: Int, sub: Int, bytes: Array[Byte]): Unit = append(ColumnFile.cellKey(number, sub), bytes)

  private def append(key: Array[Byte], value: Array[Byte]): Unit = file.append(key, value)

  def close(): ColumnFileCounts = {
    val starts = layout.counts.scanLeft(0)(_ + _).toArray
    append(
      ColumnFile.DirectoryKey,
      new PartitionDirectory(paths.toArray, starts, fingerprints.toArray).encode
    )
    val byPath = new java.util.TreeMap[Array[Byte], Vector[ColumnEntry]](PartitionKey.Order)
    entries.values.foreach { e =>
      e.columns.map(c => ColumnFile.nameKey(c.path)).foreach { key =>
        val before = byPath.get(key)
        byPath.put(key, if (before == null) Vector(e) else if (before.contains(e)) before else before :+ e)
      }
    }
    byPath.forEach((key, found) => append(key, ColumnFile.encodeNames(found)))
    val head = new PackedOutput(32)
    head.byte(ColumnFile.Version)
    head.string(kind)
    Seq(layout.files, paths.size, entries.size, shape.filesPerPage).foreach(n => head.varint(n.toLong))
    file.putFileInfo(ColumnFile.Info, head.toBytes)
    file.close()
    ColumnFileCounts(layout.files, paths.size, entries.size)
  }
}

private[column] object ColumnFile {
  val Version = 1
  val Info = "hudiidx.COLUMN"
  private val FilesPrefix = 'a'.toByte
  private val CellPrefix = 'c'.toByte
  private val NamePrefix = 'n'.toByte
  val DirectoryKey: Array[Byte] = Array('d'.toByte)

  def filesKey(partition: String): Array[Byte] = FilesPrefix +: PartitionKey.encode(partition)

  def cellKey(number: Int, sub: Int): Array[Byte] =
    ByteBuffer.allocate(9).put(CellPrefix).putInt(number).putInt(sub).array

  def nameKey(path: String): Array[Byte] = NamePrefix +: path.getBytes(UTF_8)

  def isNameKey(key: Array[Byte]): Boolean = key.length > 0 && key(0) == NamePrefix

  def encodeNames(entries: Vector[ColumnEntry]): Array[Byte] = {
    val out = new PackedOutput(64)
    out.varint(entries.size.toLong)
    entries.foreach { e =>
      out.varint(e.number.toLong)
      out.string(e.columns.head.kind)
      out.varint(e.columns.size.toLong)
      e.columns.foreach { c =>
        out.string(c.path)
        out.string(c.columnType.text)
      }
    }
    out.toBytes
  }

  /** Columns of types that a later version added are left out. */
  def decodeNames(in: PackedInput): Vector[ColumnEntry] = Vector
    .fill(in.count(32)) {
      val number = in.varint()
      require(number >= 0 && number <= Int.MaxValue, s"column $number")
      val kind = in.string()
      val columns = Vector.fill(in.count(16)) {
        val path = in.string()
        ColumnType.of(in.string()).map(IndexedColumn(path, _, kind))
      }
      if (columns.forall(_.isDefined)) Some(ColumnEntry(columns.flatten, number.toInt)) else None
    }
    .flatten

  def damaged(path: String, what: String, cause: Throwable = null): DamagedIndex =
    new DamagedIndex(s"$path: $what; `hudiidx create` makes a new index", cause)

  /** Turns what malformed content raises into DamagedIndex. */
  def guard[A](path: String, where: => String)(read: => A): A =
    try read
    catch {
      case e @ (_: IllegalArgumentException | _: IndexOutOfBoundsException | _: ArithmeticException |
          _: NegativeArraySizeException) =>
        throw damaged(path, s"$where cannot be decoded (${e.getMessage})", e)
    }
}

/** An open column file. Safe for several threads. */
private[column] final class ColumnFileReader private (
    val file: HFileReader,
    val path: String,
    val counts: ColumnFileCounts,
    val filesPerPage: Int
) {
  val pages: Int = SegmentLayout.pages(counts.files, filesPerPage)

  lazy val directory: PartitionDirectory = {
    val found = ColumnFile.guard(path, "list of partitions")(PartitionDirectory.decode(cell(ColumnFile.DirectoryKey)))
    if (found.count != counts.partitions || found.files != counts.files)
      throw ColumnFile.damaged(path, s"${found.files} files in ${found.count} partitions, its file info says $counts")
    found
  }

  def fileTable(partition: Int): FileTable = {
    val name = directory.paths(partition)
    val found = ColumnFile.guard(path, s"files of partition $name") {
      val bytes = cell(ColumnFile.filesKey(name)).mostlyOwn
      FileTable.decode(bytes, detail => ColumnFile.damaged(path, s"files of partition $name: $detail"))
    }
    if (found.count != directory.starts(partition + 1) - directory.starts(partition))
      throw ColumnFile.damaged(path, s"partition $name has ${found.count} files, the list of partitions differs")
    found
  }

  /** What is indexed that has to do with a column path. */
  def entries(columnPath: String): Vector[ColumnEntry] = {
    val value = file.get(ColumnFile.nameKey(columnPath))
    if (value == null) Vector.empty
    else ColumnFile.guard(path, s"column $columnPath")(ColumnFile.decodeNames(input(value)))
  }

  /** All that is indexed, by number. */
  def allEntries: Vector[ColumnEntry] = {
    val cursor = file.scan(ColumnFile.nameKey(""))
    val found = Vector.newBuilder[ColumnEntry]
    while (cursor.next())
      found ++= ColumnFile.guard(path, "list of columns")(ColumnFile.decodeNames(ColumnFileReader.value(cursor)))
    found.result().distinct.sortBy(_.number)
  }

  def cell(key: Array[Byte]): PackedInput = {
    val value = file.get(key)
    if (value == null) throw ColumnFile.damaged(path, s"no cell ${key.map(b => f"$b%02x").mkString}")
    input(value)
  }

  private def input(value: ByteBuffer): PackedInput = {
    val from = value.arrayOffset + value.position()
    new PackedInput(value.array, from, from + value.remaining)
  }
}

private[column] object ColumnFileReader {

  /** DamagedIndex for anything but a whole file of this kind and a known format. The reader stays the caller's to close. */
  def open(reader: RandomReader, cache: BlockCache, kind: String): ColumnFileReader = {
    val file = HFileReader.open(reader, cache, what => new DamagedIndex(s"$what; `hudiidx create` makes a new index"))
    val info = file.fileInfo.getOrElse(
      ColumnFile.Info,
      throw ColumnFile.damaged(reader.path, s"file info has no ${ColumnFile.Info}")
    )
    ColumnFile.guard(reader.path, "file info") {
      val in = new PackedInput(info)
      val version = in.byte()
      require(
        version == ColumnFile.Version,
        s"format $version, this hudiidx reads ${ColumnFile.Version}: a later hudiidx wrote it"
      )
      val found = in.string()
      require(found == kind, s"it holds $found, not $kind")
      def int(): Int = {
        val n = in.varint()
        require(n >= 0 && n <= Int.MaxValue, s"count $n")
        n.toInt
      }
      val counts = ColumnFileCounts(int(), int(), int())
      val filesPerPage = int()
      require(filesPerPage > 0 && filesPerPage <= SegmentShape.MostFilesPerPage, s"pages of $filesPerPage files")
      // The digests of files' names do not compress.
      require(counts.files <= reader.sizeBytes, s"${counts.files} files in ${reader.sizeBytes} bytes")
      val mostPartitions = math.min(StatsPage.MaxFiles.toLong, reader.sizeBytes)
      require(counts.partitions <= mostPartitions, s"${counts.partitions} partitions in ${reader.sizeBytes} bytes")
      new ColumnFileReader(file, reader.path, counts, filesPerPage)
    }
  }

  /** The cursor's value. */
  def value(cursor: HFileCursor): PackedInput =
    new PackedInput(cursor.valueBytes, cursor.valueOffset, cursor.valueOffset + cursor.valueLength)
}
