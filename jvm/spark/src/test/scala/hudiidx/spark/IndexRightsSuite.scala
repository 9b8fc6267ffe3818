package hudiidx.spark

import java.nio.file.attribute.PosixFilePermissions
import java.nio.file.{FileSystemException, Files, Path, Paths}

import scala.collection.JavaConverters._

import hudiidx.Fixtures
import hudiidx.engine.TimelineCut
import hudiidx.spark.api.HudiIdxApi
import hudiidx.spark.options.ReadOptions
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
    opened(root.getParent)
    below(root).reverse.foreach(p => set(p, if (Files.isDirectory(p)) folders else files))
    root
  }

  private def opened(folder: Path): Path = {
    set(folder, "rwxr-xr-x")
    folder
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
      val index = opened(Fixtures.newFolder("index")).resolve("i")
      Files.createDirectory(index)
      set(index, rights)
      val said = LogLines.of(Level.WARN) {
        new HudiIdxApi(spark, root.toString, Map("hudiidx.index.path" -> index.toString).asJava).create()
      }
      assert(PosixFilePermissions.toString(Files.getPosixFilePermissions(index)) === rights)
      said.filter(_.contains("more users can read or change this index folder"))
    }
    passed {
      assert(told("rwx------").isEmpty)
      assert(told("rwxr-xr-x").size === 1)
      assert(told("rwx--x--x").size === 1)
      // The table's folders are passed by all, its data files are not.
      assert(told("rwx------", "rwxr-xr-x").isEmpty)
      val ofData = told("rwxr-xr-x", "rwxr-xr-x")
      assert(ofData.size === 1 && ofData.forall(_.contains("than data files of the table")))
    }
    assert(told("rwxr-xr-x").isEmpty, "nobody passes the folders above it")
  }

  test(
    "an update that takes something in warns once of an index folder that became more open since, and of each change"
  ) {
    for (isWithin <- Seq(true, false)) passed {
      val root = table("rwxr-x---", "rw-r-----")
      val cut = new TimelineCut(root.toString)
      cut.showFirst(cut.size - 2)
      val index = if (isWithin) root.resolve(".hoodie/hudiidx") else opened(Fixtures.newFolder("index")).resolve("i")
      def told(deed: HudiIdxApi => Any): Int = {
        val api = new HudiIdxApi(spark, root.toString, Map("hudiidx.index.path" -> index.toString).asJava)
        LogLines.of(Level.WARN)(deed(api)).count(_.contains("more users can read or change this index folder"))
      }
      // Within the table nobody passes its folder who may not read it; its group may.
      val read = if (isWithin) 0 else 1
      assert(told(_.create()) === 0)
      cut.showFirst(cut.size - 1)
      assert(told(_.update()) === 0)
      set(index, "rwxrwxrwx")
      assert(told(_.update()) === 0, "nothing is taken in")
      cut.showAll()
      assert(told(_.update()) === 1, "its group may change the index, and not the table")
      assert(told(_.addColumns("range(n)", true)) === 0, "it was told")
      set(index, "rwxr-xr-x")
      assert(told(_.addColumns("range(n)", true)) === read, "it was told of other rights")
      set(index, "rwxr-x---")
      assert(told(_.addColumns("range(n)", true)) === 0)
    }
  }

  /** With all folders above those of tests passed by everybody: many are their owner's alone. */
  private def passed(body: => Unit): Unit = {
    val above = Iterator.iterate(Fixtures.newFolder("index").getParent)(_.getParent).takeWhile(_ != null).toVector
    val closed = above.filterNot(p => LocalStorage.access(p.toString).exists(a => (a.mode & 9) == 9))
    val before = closed.map(p => p -> PosixFilePermissions.toString(Files.getPosixFilePermissions(p)))
    try {
      before.foreach { case (p, rights) =>
        try set(p, (0 until 9).map(i => if (i % 3 == 2) 'x' else rights.charAt(i)).mkString)
        catch { case _: FileSystemException => cancel(s"$p: only its owner may open it") }
      }
      body
    } finally
      before.foreach { case (p, rights) =>
        try set(p, rights)
        catch { case _: FileSystemException => () }
      }
  }
}
