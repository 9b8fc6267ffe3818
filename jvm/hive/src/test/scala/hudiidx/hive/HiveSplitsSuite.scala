package hudiidx.hive

import hudiidx.parquet.{ParquetLayout, ParquetTables}
import hudiidx.parquet.StorageInputFile
import hudiidx.rows.{BatchRows, ParquetBatches, ValueType}
import hudiidx.storage.LocalStorage
import hudiidx.{Fixtures, InvalidOption, NotAHudiTable, TestSettings}
import org.apache.hadoop.fs.Path
import org.apache.hadoop.mapred.{FileSplit, JobConf, Reporter}
import org.apache.parquet.column.ParquetProperties.WriterVersion
import org.apache.parquet.example.data.Group
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** However a table is cut into splits, and whichever folders name it, each row comes once. */
final class HiveSplitsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private def texts(job: JobConf, wanted: Int = 1): Vector[String] =
    HiveTables.rows(job, wanted).map(_.mkString("|")).sorted

  test("a file in pieces of any size has the rows of the whole file, each once") {
    val schema = "message t { required int64 n; optional binary s (UTF8); }"
    val rows = (0 until 4000).map { i => (g: Group) =>
      g.append("n", i.toLong)
      if (i % 3 > 0) g.append("s", "s" * (i % 50)): Unit
    }
    val layout =
      ParquetLayout(CompressionCodecName.UNCOMPRESSED, WriterVersion.PARQUET_1_0, dictionary = false, 256, 4096)
    val file = ParquetTables.write(schema, layout, rows)
    val size = LocalStorage.status(file).get.sizeBytes
    val whole =
      SlicePiece("", Some((file, "20240101000000000")), 0L, Long.MaxValue, Vector.empty, size, Array.emptyByteArray)
    forAll(Gen.choose(1L, size * 2)) { pieceBytes =>
      val pieces = TablePlanner.split(whole, math.max(pieceBytes, size / 200))
      assert(pieces.map(_.bytes).sum === size)
      assert(pieces.flatMap(numbers) === (0L until 4000L))
    }
  }

  private def numbers(piece: SlicePiece): Vector[Long] = {
    val wanted = ValueType.Struct(Vector(ValueType.Field("n", ValueType.Int64), ValueType.Field("s", ValueType.Text)))
    val file = new StorageInputFile(LocalStorage, piece.path)
    val rows = new ParquetBatches(file, piece.path, wanted, floatsByText = true, Some((piece.start, piece.end)))
    BatchRows.all(rows).map(_(0).asInstanceOf[Long])
  }

  TestSettings
    .some(2)(Vector("v6-cow-part", "v9-mor-part", "v9-cow-complex", "v9-mor-log-only", "v9-virtual-mor"))
    .foreach { name =>
      test(s"$name: any number of splits gives the same rows, and none has no length") {
        val table = Seq(Fixtures.table(name))
        val whole = texts(HiveTables.job(table))
        forAll(Gen.choose(1, 300), Gen.choose(1L, 1L << 20), minSuccessful(10)) { (wanted, most) =>
          val job = HiveTables.job(table, "mapreduce.input.fileinputformat.split.maxsize" -> most.toString)
          assert(HiveTables.splits(job, wanted).forall(_.getLength > 0))
          assert(texts(job, wanted) === whole)
        }
      }

      test(s"$name: the partitions' folders give the rows of the table, in one job or in one for each") {
        val table = Fixtures.table(name)
        val partitions = partitionsOf(name)
        val folders = partitions.map(p => if (p.isEmpty) table else s"$table/$p")
        val whole = texts(HiveTables.job(Seq(table)))
        assert(texts(HiveTables.job(folders)) === whole)
        assert(folders.flatMap(f => texts(HiveTables.job(Seq(f)))).sorted === whole)
      }
    }

  private def partitionsOf(name: String): Vector[String] = {
    val found = Vector.newBuilder[String]
    Fixtures.json(name).get("listing").get("partitions").forEach(p => found += p.asText)
    found.result()
  }

  test("a folder of several partitions gives theirs, and one that is none gives no row") {
    val table = Fixtures.table("v9-cow-complex")
    val top = partitionsOf("v9-cow-complex").map(_.takeWhile(_ != '/')).distinct
    assert(top.length > 1)
    val all = top.flatMap(t => texts(HiveTables.job(Seq(s"$table/$t"))))
    assert(all.sorted === texts(HiveTables.job(Seq(table))))
    assert(texts(HiveTables.job(Seq(s"$table/no=such"))).isEmpty)
  }

  test("two tables in one job give the rows of both") {
    val (a, b) = (Fixtures.table("v9-cow-part"), Fixtures.table("v6-cow-part"))
    assert(texts(HiveTables.job(Seq(a, b))).length === Seq(a, b).map(t => texts(HiveTables.job(Seq(t))).length).sum)
  }

  test("a folder of no table, and a split of another format, are refused by name") {
    val folder = Fixtures.newFolder("plain").toString
    assert(intercept[NotAHudiTable](texts(HiveTables.job(Seq(folder)))).getMessage.contains(folder))
    val split = new FileSplit(new Path("/data/t/f.parquet"), 0L, 10L, Array.empty[String])
    val refused =
      intercept[InvalidOption](
        new HudiIdxInputFormat().getRecordReader(split, HiveTables.job(Seq(folder)), Reporter.NULL)
      )
    assert(refused.getMessage.contains("hive.input.format"))
  }
}
