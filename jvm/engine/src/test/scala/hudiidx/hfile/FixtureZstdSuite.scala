package hudiidx.hfile

import java.nio.file.{Files, Paths}

import hudiidx.Fixtures
import hudiidx.engine.Tables
import hudiidx.engine.record.RecordPart
import hudiidx.storage.LocalStorage
import hudiidx.sync._
import hudiidx.sync.build.Indexer
import org.scalatest.funsuite.AnyFunSuite

/** The two zstd libraries on the bytes that indexes are made of. */
final class FixtureZstdSuite extends AnyFunSuite {

  test("each library reads what the other made of every index file of the fixtures") {
    val tables = Fixtures.sampled(this)
    var files = 0
    tables.foreach { name =>
      indexFiles(Fixtures.table(name)).foreach { file =>
        val bytes = Files.readAllBytes(file)
        for (from <- Vector(NativeZstd, JavaZstd); to <- Vector(NativeZstd, JavaZstd))
          withClue(s"$name, $file: ")(ZstdLibraries.roundTrip(bytes, from, to))
        files += 1
      }
    }
    assert(files > 4 * tables.size)
  }

  /** Those of an index with record keys, in a folder of its own. */
  private def indexFiles(table: String): Vector[java.nio.file.Path] = {
    val folder = Fixtures.newFolder("index").toString
    val access = Tables.access(LocalStorage, new BlockCache(4 << 20))
    val options = IndexOptions(indexPath = Some(folder), source = "listing")
    val part = new RecordPart(new LocalEngine(access), RecordOptions(mode = Some(IndexOptions.GlobalMode)))
    new Indexer(access, table, options, LocalScanner, Vector(part)).create()
    Fixtures.filesBelow(folder).map(Paths.get(folder, _))
  }
}
