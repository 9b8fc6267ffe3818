package hudiidx.command

import java.io.OutputStream

import hudiidx.{Fixtures, OtherForms, UnsupportedTable}
import hudiidx.engine.Tables
import hudiidx.hfile.BlockCache
import hudiidx.storage.{FileInfo, LocalStorage, RandomReader, Storage}
import hudiidx.sync.IndexOptions
import hudiidx.sync.build.Indexer
import hudiidx.table.{PropertiesFile, TableConfig}
import org.scalatest.funsuite.AnyFunSuite

class DoctorSuite extends AnyFunSuite {
  private def findings(storage: Storage, table: String, laterMillis: Long = 0): Map[String, Finding] = {
    val doctor =
      new Doctor(
        Tables.access(storage, new BlockCache(0)),
        table,
        IndexOptions(),
        () => System.currentTimeMillis() + laterMillis
      )
    doctor.findings().map(f => f.check -> f).toMap
  }

  test("an indexed table on a good store is well, and nothing stays behind") {
    val table = Fixtures.copy("v6-cow-part")
    new Indexer(Tables.access(LocalStorage, new BlockCache), table, IndexOptions()).create()
    val before = LocalStorage.list(s"$table/.hoodie/hudiidx").map(_.name)
    val found = findings(LocalStorage, table)
    assert(found.values.forall(_.status == Finding.Ok), found)
    assert(found("index").found === "READY")
    assert(LocalStorage.list(s"$table/.hoodie/hudiidx").map(_.name) === before)
  }

  test("an index with a damaged file is not well, and the finding names the file and what reads do instead of it") {
    for (kind <- Seq("master_manifest", "_partition_.idx")) {
      val table = Fixtures.copy("v6-cow-part")
      new Indexer(Tables.access(LocalStorage, new BlockCache), table, IndexOptions()).create()
      val file = LocalStorage.list(s"$table/.hoodie/hudiidx").map(_.path).find(_.endsWith(kind)).get
      val bytes = LocalStorage.readAll(file)
      bytes(200) = (bytes(200) ^ 0x55).toByte
      LocalStorage.replace(file, bytes)
      val found = findings(LocalStorage, table)("index")
      assert(found.status === Finding.Failed && found.advice.contains("hudiidx create"), found)
      assert(found.found.startsWith("DAMAGED_INDEX: ") && found.found.contains(file), found)
    }
  }

  test("a table of which reads cannot read a clean or a plan is not well") {
    for (name <- Vector("20991231235959998_20991231235959999.clean", "20991231235959998.compaction.requested")) {
      val table = Fixtures.copy("v9-moved-mor")
      java.nio.file.Files.write(java.nio.file.Paths.get(s"$table/.hoodie/timeline/$name"), "{".getBytes("UTF-8"))
      val found = findings(LocalStorage, table)
      assert(found.keySet === Set("table"))
      assert(found("table").status === Finding.Failed && found("table").found.contains(name), found)
    }
  }

  test("properties of a table that are not known are a warning with their names") {
    val table = Fixtures.copy("v6-cow-part")
    val file = java.nio.file.Paths.get(TableConfig.propertiesFile(table))
    val properties = java.nio.file.Files.readString(file)
    val other =
      properties.linesIterator.toVector.filterNot(_.startsWith("hoodie.table.checksum")) :+ "hoodie.catalog.owner=me"
    java.nio.file.Files.writeString(file, other.mkString("", "\n", "\n"))
    val found = findings(LocalStorage, table)("table")
    assert(found.status === Finding.Warning && found.found.contains("does not know hoodie.catalog.owner;"), found)
    java.nio.file.Files.writeString(file, other.mkString("", "\n", "\n") + "hoodie.table.layout=x\n")
    val refused = findings(LocalStorage, table)("table")
    assert(refused.status === Finding.Failed && refused.found.contains("hoodie.table.layout"), refused)
  }

  test(
    "a table that is not read fails with the message of every other call, and so does one with files that are not known"
  ) {
    val table = Fixtures.copy("v6-cow-part")
    val file = java.nio.file.Paths.get(TableConfig.propertiesFile(table))
    val properties = java.nio.file.Files.readString(file)
    for (
      more <- Seq(
        "hoodie.table.version=10",
        "hoodie.table.format=iceberg",
        "hoodie.table.storage.layout=lsm_tree",
        "hoodie.table.base.file.format=LANCE",
        "hoodie.table.partitioning.scheme=x"
      )
    ) {
      java.nio.file.Files.writeString(file, s"$properties\n$more\n")
      val told = intercept[UnsupportedTable](TableConfig.read(LocalStorage, table)).getMessage
      assert(told.contains(", which hudiidx does not read, since "))
      assert(findings(LocalStorage, table) === Map("table" -> Finding("table", Finding.Failed, told, "")))
    }
    java.nio.file.Files.writeString(file, properties)
    OtherForms.write(table, ".lance")
    val found = findings(LocalStorage, table)
    assert(
      found("table").status === Finding.Failed && found("table").found.contains(".lance, which hudiidx does not read")
    )
  }

  test("a store that lists late, replaces files, or whose clock differs is told apart") {
    val table = Fixtures.copy("v6-cow-part")
    val late = findings(
      new Store {
        override def list(dir: String): Vector[FileInfo] =
          if (dir.endsWith("/hudiidx")) Vector.empty else LocalStorage.list(dir)
      },
      table
    )
    assert(late("store").status === Finding.Failed && late("store").found.contains("not there at once"))
    val replacing = findings(
      new Store {
        override def publish(path: String, content: Array[Byte]): Boolean = {
          LocalStorage.replace(path, content)
          true
        }
      },
      table
    )
    assert(replacing("store").status === Finding.Failed)
    assert(replacing("store").advice.contains("one process at a time"))
    assert(findings(LocalStorage, table, laterMillis = 60000)("clock").status === Finding.Warning)
    assert(LocalStorage.status(s"$table/.hoodie/hudiidx") === None)
  }

  test(
    "records that stand in logs alone are told, with what to do, unless the table says that all writers look there"
  ) {
    val (plain, logs) = (Fixtures.copy("v9-mor-part"), Fixtures.copy("v6-mor-log-only"))
    assert(findings(LocalStorage, plain)("new records").status === Finding.Ok)
    val found = findings(LocalStorage, logs)("new records")
    assert(found.status === Finding.Warning && found.advice.contains(s"hudiidx compact-table $logs"))
    PropertiesFile.update(LocalStorage, logs)(_ + (TableConfig.LogInserts -> "true"))
    assert(findings(LocalStorage, logs)("new records").status === Finding.Ok)
  }

  private class Store extends Storage {
    override def list(dir: String): Vector[FileInfo] = LocalStorage.list(dir)
    override def status(path: String): Option[FileInfo] = LocalStorage.status(path)
    override def open(path: String): RandomReader = LocalStorage.open(path)
    override def readAll(path: String): Array[Byte] = LocalStorage.readAll(path)
    override def write(path: String)(content: OutputStream => Unit): Unit = LocalStorage.write(path)(content)
    override def publish(path: String, content: Array[Byte]): Boolean = LocalStorage.publish(path, content)
    override def delete(path: String): Boolean = LocalStorage.delete(path)
  }
}
