package hudiidx.store

import hudiidx.InvalidOption
import hudiidx.storage.Storage
import org.scalatest.funsuite.AnyFunSuite

/** What becomes, on any store, of files that lie in an index folder and are not of an index. */
trait IndexFolderContract extends AnyFunSuite {

  def storage: Storage

  /** A new, empty folder. */
  def newFolder(): String

  private val token = "0123456789"
  private val ours = Vector(
    s"20260101.$token.master_manifest",
    s"20260101.$token._partition_.idx",
    s"20260102_20260101.$token.delta_manifest",
    s"1767225600000.$token.30.building",
    s"00000000-ffffffff.20260101.$token.record_base",
    s"00000000-7fffffff.20260101.$token.record_delta",
    s"0.20260101.$token.record_groups",
    s"20260101.$token.log_index",
    s"20260101.$token.column_stats",
    s"20260101.$token.column_records",
    s".20260101.$token.log_index.01234567-89ab-cdef-0123-456789abcdef.tmp",
    "versions/.00000000000000000001.json.01234567-89ab-cdef-0123-456789abcdef.tmp",
    "versions/.01234567-89ab-cdef-0123-456789abcdef.01234567-89ab-cdef-0123-456789abcdef.claim",
    s"record-build/$token.plan.json",
    s"record-build/0-1.$token.record_run",
    s"record-update-$token/7.$token.record_run",
    s"record-verify-$token/probe",
    s"column-build-0az/10abc.$token.column_stats"
  )
  private val scans = Vector(s"scans/001767225600000.$token.7.json")
  private val others = Vector(
    "part-0.parquet",
    "id_rsa",
    "notes.master_manifest",
    "20260101.tooshort.log_index",
    ".profile",
    "manifest",
    "versions/readme.json",
    "versions/1.json",
    "versions/old/00000000000000000001.json",
    "scans/report.json",
    "record-build/mine.txt",
    "record-build/more/f",
    "record-update-of-may/f",
    "record-verify-my-notes/probe",
    "column-build/f",
    s"folder/20260101.$token.log_index",
    "symlink_manifest/p/data.csv"
  )

  private def fill(dir: String, names: Seq[String]): Unit = names.foreach(n => storage.write(s"$dir/$n")(_.write(1)))

  private def below(dir: String): Set[String] = {
    def walk(path: String): Vector[String] =
      storage.list(path).flatMap(f => if (f.isDirectory) walk(f.path) else Vector(f.path))
    walk(dir).map(_.stripPrefix(dir + "/")).toSet
  }

  private def publish(store: IndexStore): Unit = {
    val coverage = Coverage("", Vector.empty, Vector.empty)
    val version =
      IndexVersion(
        store.nextNumber(),
        TableIdentity("t", "COPY_ON_WRITE"),
        coverage,
        Vector.empty,
        Map.empty,
        0,
        "test"
      )
    assert(store.publish(version))
  }

  test("expiring removes what has a name of ours, and nothing else, however old it is") {
    val store = new IndexStore(storage, newFolder())
    publish(store)
    fill(store.dir, ours ++ scans ++ others)
    val removed = store.expire(1, Retention(1, 0, 0), System.currentTimeMillis() + 3600000L)
    assert(below(store.dir) === (others ++ scans :+ "versions/00000000000000000001.json").toSet)
    assert(
      removed.toSet === ours
        .map(n =>
          if (n.contains("-build") || n.contains("record-")) n.takeWhile(_ != '/') else n.stripPrefix("versions/")
        )
        .toSet
    )
  }

  test("a drop removes all that is of an index, and folders only if nothing else is in them") {
    val store = new IndexStore(storage, newFolder())
    val manifests =
      Vector("symlink_manifest/p/q/manifest", "symlink_manifest/manifest", "symlink_manifest/_hudiidx_symlink.json")
    publish(store)
    fill(store.dir, ours ++ scans ++ manifests)
    assert(store.drop() && storage.status(store.dir).isEmpty && !store.drop())
    publish(store)
    fill(store.dir, ours ++ scans ++ manifests ++ others)
    assert(store.drop() && below(store.dir) === others.toSet && !store.drop())
  }

  test("no index is made among files of others, but where a killed creation left its own") {
    others.foreach { other =>
      val store = new IndexStore(storage, newFolder())
      fill(store.dir, Seq(other))
      if (!other.contains('/') || !IndexNames.isFolder(other.takeWhile(_ != '/'))) {
        val said = intercept[InvalidOption](store.requireUnused()).getMessage
        assert(
          said.contains(store.dir) && said.contains(other.takeWhile(_ != '/')) && said.contains("hudiidx.index.path")
        )
      }
      publish(store)
      store.requireUnused()
    }
    val killed = new IndexStore(storage, newFolder())
    fill(killed.dir, ours)
    killed.requireUnused()
  }

  test("the folder of a table, or one above it, is none for its index, in whatever spelling") {
    val table = newFolder() + "/a/b"
    storage.write(s"$table/f")(_.write(1))
    Seq("", "/", "/.", "/..", "/../..", "/c/..").foreach { way =>
      val store = new IndexStore(storage, s"$table$way".stripSuffix("/"))
      assert(intercept[InvalidOption](store.requireOwn(table)).getMessage.contains("hudiidx.index.path"))
    }
    Seq("/.hoodie/hudiidx", "-index", "/../c").foreach(way => new IndexStore(storage, table + way).requireOwn(table))
  }
}
