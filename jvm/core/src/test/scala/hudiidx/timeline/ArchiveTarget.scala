package hudiidx.timeline

import hudiidx.fuzz.FuzzTarget
import hudiidx.log.MemoryStorage
import hudiidx.{DamagedTable, Fixtures}

/** A file of the archived timeline of layout 1, and the instants that it holds. */
object ArchiveTarget extends FuzzTarget {
  private val Dir = "/t/.hoodie/archived"

  override def seeds: Vector[Array[Byte]] =
    FuzzTarget.filesOf(Vector("v6-archived-cow", "v6-savepoint-restore").map(Fixtures.table), isArchive(_), 5) :+ deep

  private def isArchive(f: java.nio.file.Path): Boolean = f.getFileName.toString.startsWith(".commits_.archive")

  /** A record that holds itself, some thousands deep. */
  private[timeline] def deep: Array[Byte] = {
    val schema = """{"type":"record","name":"r","fields":[{"name":"next","type":["null","r"]}]}"""
    val record = Array.fill[Byte](30000)(2) :+ 0.toByte
    hudiidx.log.LogFiles.block(3, Seq(hudiidx.log.LogHeaderKey.Schema -> schema), content(record))
  }

  /** Version, number of records, length of the record. */
  private def content(record: Array[Byte]): Array[Byte] =
    java.nio.ByteBuffer.allocate(12 + record.length).putInt(3).putInt(1).putInt(record.length).put(record).array

  override protected def read(bytes: Array[Byte]): Unit = {
    val storage = new MemoryStorage(Map(s"$Dir/.commits_.archive.1_1-0-1" -> bytes))
    val archive = new ArchivedTimeline(storage, Dir)
    archive.completionTime("20261121001331411")
    archive.instantsFrom("").foreach { instant =>
      val content = instant.content
      Seq(() => content.commit, () => content.clean, () => content.rollback, () => content.savepoint).foreach { read =>
        try read(): Unit
        catch { case _: DamagedTable => () }
      }
    }
  }
}
