package hudiidx.engine.record

import hudiidx.Fixtures
import hudiidx.storage.LocalStorage
import hudiidx.store.IndexVersion
import hudiidx.sync.RecordOptions
import java.nio.file.{Files, Paths}
import java.util.zip.{ZipEntry, ZipOutputStream}

/** Keeps a table with an index as the hudiidx of today writes it, in tests/fixtures/parts: one for each format that ever was.
  * `build/sbt "engine/Test/runMain hudiidx.engine.record.KeptIndex"`
  */
object KeptIndex {
  def name(format: Int): String = s"keyed-index-$format"

  def main(args: Array[String]): Unit = {
    val kept = name(IndexVersion.FormatVersion)
    val target = Fixtures.dir.resolve("parts").resolve(s"$kept.zip")
    require(!Files.exists(target), s"$target is there: what a format wrote stays as it is")
    val table = new KeyedTable(Fixtures.newFolder("kept"))
    val options = RecordOptions(Some("global"), windowDays = Some(30))
    table.write(Seq(KeyWrite("a", -1, log = false, (1 to 2200).map(KeyedTable.uuid).toVector, 0)))
    RecordPartSuite.indexer(table.path, options).create()
    table.write(
      Seq(KeyWrite("b", -1, log = false, Vector("17", "a,b:c"), 0), KeyWrite("a", 0, log = true, Vector("18"), 2))
    )
    RecordPartSuite.indexer(table.path).update()
    val out = new ZipOutputStream(Files.newOutputStream(target))
    try
      Fixtures.filesBelow(table.path).filterNot(_.endsWith(".crc")).foreach { f =>
        out.putNextEntry(new ZipEntry(s"$kept/$f"))
        out.write(LocalStorage.readAll(Paths.get(table.path).resolve(f).toString))
        out.closeEntry()
      }
    finally out.close()
  }
}
