package hudiidx.record

import hudiidx.DamagedIndex
import hudiidx.hfile.BlockCache
import hudiidx.record.page.EntryFlag
import hudiidx.storage.BytesReader
import hudiidx.table.FileGroup
import java.nio.file.{Files, Path}
import org.scalatest.funsuite.AnyFunSuite

/** Nothing wrong with a file of the record index goes unnoticed, and every error names the file and what to do. */
class RecordDamageSuite extends AnyFunSuite {
  private val changes = (0 until 60).flatMap { i =>
    Seq(
      (s"$i", 1, 0, 0),
      (f"user-$i%05d", 2, 3, 0),
      (s"account:${i * 7919L % 1000},item:${i % 5}", i % 4, 0, 0),
      (f"7b3f0c9e-1f2a-4000-8000-0000000000$i%02x", 0, 0, 0),
      (s"text$i" * 3, 3, 0, 2)
    )
  }

  private def withModel[A](use: RecordModel => A): A = {
    val model = new RecordModel(RecordModel.Tiny, RecordPlan(deltaPercent = 1000), 1)
    try {
      model.addGroups(Vector.tabulate(4)(i => FileGroup("p", s"f$i")))
      model.create(changes, 1 << 20)
      model.update(Seq(("12", 1, 0, EntryFlag.Remove), ("new", 1, 0, 0)))
      use(model)
    } finally model.delete()
  }

  private def readAll(model: RecordModel): Unit = {
    val index = model.open(new BlockCache(0))
    try {
      index.lookup(model.truth.keys.toVector)
      val cursor = index.scan(0)
      while (cursor.next()) index.dictionary(cursor.ordinal)
      index.dictionary.find(FileGroup("p", "f2"))
      cursor.close()
    } finally index.close()
  }

  private def refused(model: RecordModel, path: Path, what: String): Unit = {
    val error = intercept[DamagedIndex](readAll(model))
    assert(error.getMessage.contains(path.getFileName.toString), what)
    assert(error.getMessage.contains("hudiidx create"), what)
  }

  test("any flipped byte of a base, a delta or a dictionary segment is noticed by name") {
    withModel { model =>
      (model.groups.flatMap(_.files) ++ model.segments).foreach { file =>
        val path = model.dir.resolve(file.name)
        val whole = Files.readAllBytes(path)
        // The trailer is 4,096 bytes, nearly all zero: a sample of it will do.
        val places = whole.indices.filter(i => i % 5 == 0 && (i < whole.length - 3800 || i % 295 == 0))
        places.foreach { i =>
          val broken = whole.clone()
          broken(i) = (broken(i) ^ (1 << (i % 8))).toByte
          Files.write(path, broken)
          refused(model, path, s"${file.kind} byte $i of ${whole.length}")
        }
        Files.write(path, whole)
      }
      readAll(model)
    }
  }

  test("a file that is gone, cut or longer than its version says is noticed by name") {
    withModel { model =>
      (model.groups.flatMap(_.files) ++ model.segments).foreach { file =>
        val path = model.dir.resolve(file.name)
        val whole = Files.readAllBytes(path)
        Seq(0, 1, whole.length / 2, whole.length - 1).foreach { n =>
          Files.write(path, whole.take(n))
          refused(model, path, s"cut to $n")
        }
        Files.write(path, whole :+ 0.toByte)
        refused(model, path, "one byte more")
        Files.delete(path)
        refused(model, path, "gone")
        Files.write(path, whole)
      }
    }
  }

  test("any flipped byte and any cut of a run file is noticed, and its inputs come back") {
    withModel { model =>
      val path = model.runs(changes, 1 << 20).head
      val whole = Files.readAllBytes(path)
      def drain(bytes: Array[Byte]): Vector[(Seq[Byte], Int)] = {
        val run = RunFile.open(new BytesReader(path.toString, bytes))
        assert(run.inputs === Vector("input 0") && run.previous === Vector.empty)
        val cursor = run.section(0)
        val out = Vector.newBuilder[(Seq[Byte], Int)]
        while (cursor.next()) out += cursor.keyBytes.toSeq -> cursor.ordinal
        out.result()
      }
      assert(drain(whole).toSet === changes.map(c => c._1.getBytes.toSeq -> c._2).toSet)
      whole.indices.foreach { i =>
        val broken = whole.clone()
        broken(i) = (broken(i) ^ (1 << (i % 8))).toByte
        assert(intercept[DamagedIndex](drain(broken)).getMessage.contains(path.getFileName.toString), s"byte $i")
        if (i % 7 == 0) assertThrows[DamagedIndex](drain(whole.take(i)))
      }
    }
  }

  test("a version whose hash ranges do not tile, or whose names cannot be read, is damaged") {
    withModel { model =>
      val version = model.version()
      val file = version.files.head
      val half = HashRange.All.split._1
      Seq(
        version.copy(files = Vector(file.copy(name = file.name.replace(HashRange.All.name, half.name)))),
        version.copy(files = version.files :+ file),
        version.copy(files = Vector(file.copy(name = "strange.record_base"))),
        version.copy(files = Vector.empty)
      ).foreach(v => assertThrows[DamagedIndex](RecordIndex.open(v, model.store, new BlockCache)))
      val none = version.copy(properties = Map.empty)
      assertThrows[hudiidx.IndexNotFound](RecordIndex.open(none, model.store, new BlockCache))
    }
  }
}
