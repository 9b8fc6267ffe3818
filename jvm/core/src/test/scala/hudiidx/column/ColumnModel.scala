package hudiidx.column

import hudiidx.column.segment.{ColumnIndex, ColumnKind, CoveredFile, EncodedPage, SegmentShape, SegmentWriter}
import hudiidx.hfile.{BlockCache, Codec, HFileOptions}
import hudiidx.manifest.PartitionKey
import hudiidx.storage.{LocalStorage, Storage}
import hudiidx.store._
import hudiidx.table.{BaseFile, FileSlice, LogFile}
import java.nio.file.{Files, Path}

/** A file and what some segments know of it. */
final case class ModelFile(partition: String, name: String, sizeBytes: Long, rows: Long)

/** What one segment holds: for its columns statistics of each of its files. */
final case class ModelSegment(columns: Vector[IndexedColumn], stats: Map[ModelFile, Vector[ColumnStats]]) {
  def files: Vector[ModelFile] = stats.keys.toVector
}

/** Column files in a folder of their own, beside a plain evaluation of conditions over what they should hold. */
final class ColumnModel(shape: SegmentShape, storage: Storage = LocalStorage) {
  val dir: Path = Files.createTempDirectory("column")
  val store = new IndexStore(storage, dir.toString)

  def write(segment: ModelSegment): IndexFile =
    store.write(ColumnKind.fileName("20260101000000000", IndexStore.newToken(), ColumnKind.Stats), ColumnKind.Stats) {
      out =>
        val writer = new SegmentWriter(out, shape)
        val ordered = PartitionKey.sorted(segment.files.map(_.partition).distinct).flatMap { p =>
          val files = segment.files.filter(_.partition == p).sortBy(f => (f.name.hashCode, f.name, f.sizeBytes))
          writer.partition(p, files.map(f => CoveredFile(f.name, f.sizeBytes, f.rows)))
          files
        }
        val layout = writer.layout
        segment.columns.indices.foreach { c =>
          writer.column(
            segment.columns(c),
            Iterator.range(0, layout.pages).map { page =>
              val files = ordered.slice(layout.from(page), layout.until(page))
              EncodedPage.of(
                segment.columns(c).columnType,
                files.map(segment.stats(_)(c)).toArray,
                files.map(_.rows).toArray,
                layout.runs(page)
              )
            }
          )
        }
        writer.close(): Unit
    }

  def version(
      files: Vector[IndexFile],
      choice: Map[String, Vector[String]] = Map(IndexKind.Range -> Vector("*")),
      complete: Boolean = true
  ): IndexVersion = IndexVersion(
    1,
    TableIdentity("t", "COPY_ON_WRITE"),
    Coverage("", Vector.empty, Vector.empty),
    files,
    ColumnChoice(choice).properties + (ColumnProperty.Complete -> complete.toString),
    0,
    "test"
  )

  def open(version: IndexVersion, cache: BlockCache = new BlockCache): ColumnIndex =
    ColumnIndex.open(store, version, cache)

  def opened[A](version: IndexVersion)(use: ColumnIndex => A): A = {
    val index = open(version)
    try use(index)
    finally index.close()
  }

  def delete(): Unit = LocalStorage.delete(dir.toString): Unit
}

object ColumnModel {

  /** Three files a page, blocks of about a page. */
  val Tiny: SegmentShape = SegmentShape(3, HFileOptions(Codec.None, 256))

  def slice(files: Seq[ModelFile]): FileSlice = {
    val (bases, logs) = files.partition(!_.name.startsWith("."))
    FileSlice(
      files.head.partition,
      "f",
      "1",
      bases.headOption.map(f => BaseFile(f.partition, "f", "1", f.name, f.sizeBytes)),
      logs.map(f => LogFile(f.name, f.sizeBytes, 1)).toVector
    )
  }

  /** The rule to the letter: a leaf holds of a slice if it holds of a file, of a file if all that is known allows it. */
  def mightMatch(condition: ColumnCondition, files: Seq[ModelFile], segments: Seq[ModelSegment]): Boolean =
    condition match {
      case ColumnCondition.Anything(_) => true
      case ColumnCondition.Nothing     => false
      case ColumnCondition.And(all)    => all.forall(mightMatch(_, files, segments))
      case ColumnCondition.Or(any)     => any.exists(mightMatch(_, files, segments))
      case in: ColumnCondition.In      =>
        files.exists { file =>
          val known = for {
            s <- segments
            all <- s.stats.get(file).toSeq
            (column, stats) <- s.columns.zip(all) if column.path == in.path
          } yield LeafTest.of(in, column.columnType).mightMatch(stats)
          known.forall(identity)
        }
    }
}
