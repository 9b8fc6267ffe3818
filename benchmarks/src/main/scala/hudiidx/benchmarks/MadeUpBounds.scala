package hudiidx.benchmarks

import java.nio.charset.StandardCharsets.UTF_8
import java.time.LocalDate
import java.util.SplittableRandom

import hudiidx.column._
import hudiidx.column.segment.{ColumnIndex, ColumnKind, CoveredFile, EncodedPage, SegmentLayout, SegmentWriter}
import hudiidx.engine.Tables
import hudiidx.manifest.PartitionKey
import hudiidx.store.{IndexStore, IndexVersion}
import hudiidx.sync._
import hudiidx.sync.build.Indexer
import org.apache.hadoop.conf.Configuration

/** Makes the index of a generated table, whose files are empty, with bounds of columns that are made up: of a time that grows with
  * the partitions' days, of a number that is sorted within each partition, and of a text that is mixed.
  *
  * `MadeUpBounds TABLE`
  */
object MadeUpBounds {

  def main(args: Array[String]): Unit = {
    val access = Tables.access(new Configuration())
    new Indexer(access, args(0), IndexOptions(), LocalScanner, Vector(new MadeUpPart)).create(): Unit
  }
}

private final class MadeUpPart extends IndexPart {
  private val random = new SplittableRandom(9)
  private val rows = 500000L
  private val columns = Vector(
    IndexedColumn("event_time", ColumnType.Timestamp, IndexKind.Range),
    IndexedColumn("trip_number", ColumnType.Int64, IndexKind.Range),
    IndexedColumn("rider", ColumnType.Text, IndexKind.Range)
  )

  override def owns(file: hudiidx.store.IndexFile): Boolean = ColumnKind.All(file.kind)
  override def owns(property: String): Boolean = property.startsWith(ColumnProperty.Prefix)
  override def isIn(version: IndexVersion): Boolean = ColumnIndex.isIn(version)

  override def build(state: IndexState, before: Option[IndexVersion]): PartFiles = {
    val partitions = PartitionKey.sorted(state.view.partitions)
    val files = partitions.map(p => p -> state.view.source.files(p).sortBy(_.fileId))
    val name = ColumnKind.fileName(state.instant, IndexStore.newToken(), ColumnKind.Stats)
    val file = state.store.write(name, ColumnKind.Stats) { out =>
      val writer = new SegmentWriter(out)
      files.foreach { case (p, all) =>
        writer.partition(p, all.toVector.map(f => CoveredFile(f.fileName, f.sizeBytes, rows)))
      }
      val places = files.flatMap { case (p, all) => all.indices.map(i => (p, i.toDouble / all.length)) }
      columns.foreach(c => writer.column(c, pages(c, writer.layout, places)))
      writer.close(): Unit
    }
    val choice = ColumnChoice(Map(IndexKind.Range -> columns.map(_.path)))
    val specs = IndexSpec(IndexKind.Range, columns.map(_.path)).text
    val properties = choice.properties ++ Map(IndexSpec.Property -> specs, ColumnProperty.Complete -> "true")
    PartFiles(Vector(file), properties, Vector.empty)
  }

  override def update(state: IndexState, before: IndexVersion, unseen: Vector[UnseenInstant]): PartFiles =
    throw new UnsupportedOperationException("made-up bounds are not brought up")

  private def pages(
      column: IndexedColumn,
      layout: SegmentLayout,
      places: Vector[(String, Double)]
  ): Iterator[EncodedPage] = Iterator.range(0, layout.pages).map { p =>
    val stats = (layout.from(p) until layout.until(p)).map(i => ColumnStats(rows, 0, bounds(column, places(i)))).toArray
    EncodedPage.of(column.columnType, stats, Array.fill(stats.length)(rows), layout.runs(p))
  }

  /** @param place partition, and how far in it the file stands */
  private def bounds(column: IndexedColumn, place: (String, Double)): Bounds = column.columnType match {
    case ColumnType.Timestamp =>
      val from = LocalDate.parse(place._1.takeRight(10)).toEpochDay * 86400000000L
      Bounds.LongRange(from + random.nextInt(3600) * 1000000L, from + 86400000000L - 1, exact = true)
    case ColumnType.Int64 =>
      val from = (place._2 * 1e9).toLong
      Bounds.LongRange(from, from + 200000000L, exact = true)
    case _ => Bounds.TextRange(rider(random.nextInt(50)), rider(950 + random.nextInt(50)), exact = true)
  }

  private def rider(n: Int): Array[Byte] = f"rider-$n%03d".getBytes(UTF_8)
}
