package hudiidx.engine.column

import java.nio.file.{Files, Paths}

import hudiidx.column.segment.ColumnKind
import hudiidx.engine.{Tables, TimelineCut}
import hudiidx.engine.record.{HookedStorage, RecordFaultSuite}
import hudiidx.hfile.BlockCache
import hudiidx.sync._
import hudiidx.sync.build.Indexer
import hudiidx.{Fixtures, IndexNotFound}
import org.scalatest.funsuite.AnyFunSuite

/** Comparisons of indexes on columns with the files. */
class ColumnVerifierSuite extends AnyFunSuite {
  import ColumnDifferenceKind._

  private val all = ColumnOptions(range = Some("*"), bloom = Some("rider,n"), values = Some("city"))

  private def verified(path: String, samples: Int = 5): ColumnVerifyResult = {
    val access = ColumnPartSuite.access
    new ColumnVerifier(new SlottedEngine(access, 3), samples).verify(TableContext.load(access, path), IndexOptions())
  }

  for (name <- Seq("v6-cow-part", "v9-mor-part", "v9-mor-types", "v9-cow-evolution", "v9-partial-updates"))
    test(s"$name: of an index in order nothing is wrong, and all is compared") {
      val path = Fixtures.copy(name)
      val columns = new TableFiles(path).columns.all.map(_._1).toSet
      ColumnPartSuite.create(path, all.copy(bloom = Some(Seq("rider", "n").filter(columns).mkString(","))))
      val found = verified(path)
      assert(found.ok && found.counts.values.forall(_ == 0) && found.samples.isEmpty, found)
      assert(found.files === new TableFiles(path).files.size && found.uncovered === 0 && found.equal > found.files)
    }

  // Files of these hold deletes alone, or are older than a column; then an integer column becomes a long.
  for (name <- Seq("v9-vectors-mor", "v9-mor-evolution"))
    test(s"$name: nothing is wrong with what files without values had before their column was widened") {
      val path = Fixtures.copy(name)
      val cut = new TimelineCut(path)
      // Its metadata table knows files of the writes that are hidden.
      def indexer: Indexer = {
        val part = new ColumnPart(new SlottedEngine(ColumnPartSuite.access, 2), ColumnOptions(range = Some("*")))
        new Indexer(ColumnPartSuite.access, path, IndexOptions(source = "listing"), LocalScanner, Vector(part))
      }
      cut.showFirst(1)
      indexer.create()
      (2 to cut.size).foreach { n =>
        cut.showFirst(n)
        indexer.update()
        val found = verified(path)
        assert(found.ok && found.counts(Wider) === 0 && found.counts(Unproven) === 0, s"$n: ${found.samples}")
      }
    }

  test("a file whose statistics, filters and values are another one's is found, with samples of each kind") {
    val path = Fixtures.copy("v9-cow-part")
    val files = new TableFiles(path).files.filter(_.fileName.endsWith(".parquet")).sortBy(_.fileName)
    val (victim, other) = (files.head, files.find(_.partitionPath != files.head.partitionPath).get)
    val lying =
      new HookedStorage(instead = p => if (p.endsWith(victim.fileName)) FileColumns.pathOf(path, other) else p)
    val access = Tables.access(lying, new BlockCache(1 << 20))
    val part = new ColumnPart(new SlottedEngine(access, 2), all)
    new Indexer(access, path, IndexOptions(), LocalScanner, Vector(part)).create()
    val found = verified(path, samples = 2)
    assert(!found.ok && found.counts(StatsWrong) > 2 && found.counts(RecordWrong) > 0 && found.counts(Unusable) === 0)
    assert(
      found.samples.map(d => (d.file, d.partitionPath)).distinct === Vector((victim.fileName, victim.partitionPath))
    )
    assert(found.samples.count(_.kind == StatsWrong) === 2 && found.samples.forall(_.detail.contains("by the file")))
    assert(found.samples.exists(d => d.kind == RecordWrong && d.column.contains("(")))
  }

  test("files that came after the index are told apart") {
    val behind = Fixtures.copy("v6-no-mdt-cow")
    val cut = new TimelineCut(behind)
    cut.showFirst(cut.size / 2)
    ColumnPartSuite.create(behind, all)
    cut.showAll()
    val found = verified(behind)
    assert(found.ok && found.uncovered > 0 && found.files > 0)
  }

  test("a column file that is gone, or cut, is a difference; no index on columns is an error") {
    for (cut <- Seq(true, false)) {
      val path = ColumnFaultSuite.indexed()
      val victim = RecordFaultSuite.current(path).get.files.find(f => ColumnKind.All(f.kind)).get
      val file = Paths.get(path, ".hoodie/hudiidx", victim.name)
      if (cut) Files.write(file, Files.readAllBytes(file).dropRight(9)) else Files.delete(file)
      val found = verified(path)
      assert(!found.ok && found.counts(Unusable) === 1 && found.samples.head.detail.contains(victim.name))
    }
    val path = Fixtures.copy("v9-cow-part")
    ColumnPartSuite.create(path, ColumnOptions())
    intercept[IndexNotFound](verified(path))
  }
}
