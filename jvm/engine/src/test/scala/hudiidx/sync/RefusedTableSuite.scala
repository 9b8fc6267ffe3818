package hudiidx.sync

import hudiidx.{Fixtures, UnsupportedTable}
import hudiidx.storage.LocalStorage
import hudiidx.store.Retention
import hudiidx.symlink.{SymlinkPart, SymlinkSettings}
import hudiidx.sync.IndexerSuite.{accessOf, withTable}
import hudiidx.sync.build.Indexer
import java.lang.reflect.Modifier
import java.nio.file.{Files, StandardOpenOption}
import org.scalatest.funsuite.AnyFunSuite

/** A table that became one that is not read, as by an upgrade to version 10, keeps its index as it is. */
final class RefusedTableSuite extends AnyFunSuite {

  /** By the names of methods. */
  private val calls: Map[String, Indexer => Any] = Map(
    "create" -> (_.create()),
    "update" -> (_.update()),
    "addPart" -> (_.addPart(SymlinkPart)),
    "dropPart" -> (_.dropPart(SymlinkPart)),
    "setPart" -> (_.setPart(SymlinkPart)(_ => SymlinkPart.of(None))),
    "expire" -> (_.expire())
  )

  test("each call that changes an index is looked at here") {
    val methods = classOf[Indexer].getDeclaredMethods.filter(m => Modifier.isPublic(m.getModifiers))
    val own = methods.filterNot(m => Modifier.isStatic(m.getModifiers)).map(_.getName)
    assert(own.filterNot(_.contains('$')).toSet === calls.keySet)
  }

  for ((name, call) <- calls; more <- RefusedTableSuite.Properties)
    test(s"$name: a table with $more is refused, and its index stays as it is") {
      withTable(9) { table =>
        def write() = table.write(Seq(FakeWrite("a", -1, isLog = false, 10)), complete = true)
        val options = IndexOptions(retention = Retention(1, 0, 0))
        def indexer(of: IndexOptions) =
          new Indexer(accessOf(LocalStorage), table.path, of, LocalScanner, Vector(SymlinkPart))
        write()
        indexer(IndexOptions()).create()
        indexer(IndexOptions()).setPart(SymlinkPart)(_ => SymlinkPart.of(Some(SymlinkSettings("m", false))))
        write()
        indexer(IndexOptions()).update()
        val properties = table.dir.resolve(".hoodie/hoodie.properties")
        Files.writeString(properties, s"$more\n", StandardOpenOption.APPEND)
        def files =
          Fixtures.filesBelow(table.path).map(f => f -> LocalStorage.readAll(s"${table.path}/$f").toVector)
        val before = files
        val said = intercept[UnsupportedTable](call(indexer(options))).getMessage
        assert(said.contains("hoodie.properties: ") && said.contains(", which hudiidx does not read, since "))
        assert(files === before)
      }
    }
}

private object RefusedTableSuite {
  val Properties: Vector[String] = Vector(
    "hoodie.table.version=10",
    "hoodie.table.format=iceberg",
    "hoodie.table.storage.layout=lsm_tree",
    "hoodie.table.base.file.format=LANCE"
  )
}
