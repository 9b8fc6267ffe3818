package hudiidx.spark

import java.nio.file.attribute.PosixFilePermissions
import java.nio.file.{Files, Path, Paths}

import scala.collection.JavaConverters._

import hudiidx.Fixtures
import hudiidx.hadoop.TimelineCut
import hudiidx.spark.api.HudiIdxApi
import hudiidx.storage.LocalStorage
import org.apache.logging.log4j.Level

/** Who may read an index folder, and what lies in it: nobody who may not read the table. */
final class IndexRightsSuite extends SparkSuite {
  private val kinds = Map(
    "hudiidx.columns" -> "*",
    "hudiidx.bloom.columns" -> "rider",
    "hudiidx.record.mode" -> "global",
    "hudiidx.logs" -> "true",
    ReadOptions.ReadHistory -> "true"
  )

  private def below(folder: Path): Vector[Path] = {
    val walk = Files.walk(folder)
    try walk.iterator.asScala.toVector
    finally walk.close()
  }

  private def set(path: Path, rights: String): Unit =
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(rights)): Unit

  /** A table whose folders and files have these rights. */
  private def table(folders: String, files: String): Path = {
    val root = Paths.get(Fixtures.copy("v9-mor-part"))
    below(root).reverse.foreach(p => set(p, if (Files.isDirectory(p)) folders else files))
    root
  }

  private def modes(folder: Path): Set[(Boolean, String)] =
    below(folder)
      .map(p => Files.isDirectory(p) -> PosixFilePermissions.toString(Files.getPosixFilePermissions(p)))
      .toSet

  private def deeds(table: Path, index: Path): Unit = {
    val options = kinds + ("hudiidx.index.path" -> index.toString)
    val api = new HudiIdxApi(spark, table.toString, options.asJava)
    api.create(): Unit
    read(table.toString, options.toSeq: _*).where("qty > 3").count()
    api.exportSymlinks(null, true, true): Unit
    api.create(): Unit
  }

  test("an index is no more open than the table's folders and files, in the table and elsewhere, whatever is made") {
    Seq(
      ("rwx------", "rw-------", Set(true -> "rwx------", false -> "rw-------")),
      ("rwxr-x---", "rw-r-----", Set(true -> "rwxr-x---", false -> "rw-r-----")),
      ("rwxr-xr-x", "rw-------", Set(true -> "rwx------", false -> "rw-------")),
      ("rwxr-xr-x", "rw-r--r--", Set(true -> "rwxr-xr-x", false -> "rw-r--r--"))
    ).foreach { case (folders, files, wanted) =>
      val root = table(folders, files)
      val elsewhere = Fixtures.newFolder("index").resolve("deep").resolve("index")
      val within = if (files == "rw-r-----") Seq(root.resolve(".hoodie").resolve("hudiidx")) else Nil
      (within :+ elsewhere).foreach { index =>
        deeds(root, index)
        assert(Files.isDirectory(index.resolve("versions")) && Files.isDirectory(index.resolve("scans")))
        assert(modes(index) === wanted, s"$folders $files $index")
      }
      assert(LocalStorage.access(elsewhere.getParent.toString) === LocalStorage.access(elsewhere.toString))
    }
  }

  test("an index folder that is there and more open than the table is warned of, one that is not more open is not") {
    def told(rights: String, folders: String = "rwx------"): Vector[String] = {
      val root = table(folders, "rw-------")
      val index = Fixtures.newFolder("index").resolve("i")
      // Folders of tests are their owner's alone: these above are passed by everybody.
      Files.createDirectory(index)
      set(index.getParent, "rwxr-xr-x")
      set(index, rights)
      val said = LogLines.of(Level.WARN) {
        new HudiIdxApi(spark, root.toString, Map("hudiidx.index.path" -> index.toString).asJava).create()
      }
      assert(PosixFilePermissions.toString(Files.getPosixFilePermissions(index)) === rights)
      said.filter(_.contains("more users can read or change this index folder"))
    }
    assert(told("rwx------").isEmpty)
    assert(told("rwxr-xr-x").size === (if (isReachable) 1 else 0))
    assert(told("rwx--x--x").size === (if (isReachable) 1 else 0))
    // The table's folders are passed by all, its data files are not.
    assert(told("rwx------", "rwxr-xr-x").isEmpty)
    val ofData = told("rwxr-xr-x", "rwxr-xr-x")
    assert(ofData.size === (if (isReachable) 1 else 0) && ofData.forall(_.contains("than data files of the table")))
  }

  test(
    "an update that takes something in warns once of an index folder that became more open since, and of each change"
  ) {
    Seq(true, false).foreach { isWithin =>
      val root = table("rwxr-x---", "rw-r-----")
      val cut = new TimelineCut(root.toString)
      cut.showFirst(cut.size - 2)
      val index = if (isWithin) root.resolve(".hoodie/hudiidx") else Fixtures.newFolder("index").resolve("i")
      // Folders of tests are their owner's alone: all above are passed by everybody here.
      val above = Seq(root.getParent, index.getParent).flatMap(p => Seq(p, p.getParent))
      if (!isWithin) above.distinct.foreach(set(_, "rwxr-xr-x"))
      def told(deed: HudiIdxApi => Any): Int = {
        val api = new HudiIdxApi(spark, root.toString, Map("hudiidx.index.path" -> index.toString).asJava)
        LogLines.of(Level.WARN)(deed(api)).count(_.contains("more users can read or change this index folder"))
      }
      // Within the table nobody passes its folder who may not read it.
      val reached = if (!isWithin && isReachable) 1 else 0
      assert(told(_.create()) === 0)
      cut.showFirst(cut.size - 1)
      assert(told(_.update()) === 0)
      set(index, "rwxrwxrwx")
      assert(told(_.update()) === 0, "nothing is taken in")
      cut.showAll()
      assert(told(_.update()) === reached)
      assert(told(_.addColumns("range(n)", true)) === 0, "it was told")
      set(index, "rwxr-xr-x")
      assert(told(_.addColumns("range(n)", true)) === reached, "it was told of other rights")
      set(index, "rwxr-x---")
      assert(told(_.addColumns("range(n)", true)) === 0)
    }
  }

  /** Whether others may come to the folders of tests at all. */
  private def isReachable: Boolean =
    Iterator
      .iterate(Fixtures.newFolder("index").getParent)(_.getParent)
      .takeWhile(_ != null)
      .forall(p => LocalStorage.access(p.toString).exists(a => (a.mode & 1) != 0))
}
