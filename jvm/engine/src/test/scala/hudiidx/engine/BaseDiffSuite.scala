package hudiidx.engine

import hudiidx.parquet.ParquetTables
import hudiidx.parquet.ParquetLayout
import hudiidx.engine.record.KeySink
import hudiidx.engine.record.BaseDiff
import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.mutable

import hudiidx.parquet.{BaseFileKeys, KeyColumns}
import hudiidx.storage.LocalStorage
import hudiidx.sync.TouchedRows
import hudiidx.table.BaseFile
import org.apache.parquet.column.ParquetProperties.WriterVersion
import org.apache.parquet.example.data.Group
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** The keys that left a base file are told whatever became of the order of its rows, in any memory. */
class BaseDiffSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 60)

  private val schema =
    "message m { optional binary _hoodie_commit_time (STRING); optional binary _hoodie_record_key (STRING); }"
  private val layout =
    ParquetLayout(CompressionCodecName.UNCOMPRESSED, WriterVersion.PARQUET_1_0, false, 1 << 20, 1 << 20)
  private val columns = KeyColumns(None, storedKeys = true)

  private def write(rows: Seq[(String, String)]): BaseFile = {
    val fill = rows.map { case (key, time) =>
      (row: Group) => {
        row.append("_hoodie_commit_time", time).append("_hoodie_record_key", key): Unit
      }
    }
    BaseFile("p", "f", "1", ParquetTables.write(schema, layout, fill), 1)
  }

  /** A file's rows, and those of a file made of it: some dropped, some new ones, sometimes in another order. */
  private val rewrites: Gen[(Seq[String], Seq[(String, String)])] = for {
    old <- Gen.listOf(Gen.choose(0, 60).map(n => s"k$n"))
    kept <- Gen.listOfN(old.size, Gen.frequency(5 -> true, 1 -> false))
    inserted <- Gen.listOf(Gen.choose(40, 90).map(n => s"k$n"))
    shuffled <- Gen.frequency(3 -> Gen.const(false), 1 -> Gen.const(true))
    rows = old.zip(kept).collect { case (key, true) => key -> "20240101000000000" } ++
      inserted.map(_ -> "20240202000000000")
    mixed <- if (shuffled) Gen.long.map(new scala.util.Random(_).shuffle(rows)) else Gen.const(rows)
  } yield (old, mixed)

  test("keys of the old file that the new one lacks are removed, wanted rows of the new one added") {
    val wants = Gen.oneOf(TouchedRows.None, TouchedRows.Every, TouchedRows.OfInstants(Set("20240202000000000")))
    forAll(rewrites, Gen.oneOf(1L, 1000L, 1L << 20), wants) { case ((old, rows), budget, wanted) =>
      val (added, removed) = (mutable.ArrayBuffer.empty[String], mutable.Set.empty[String])
      val sink = new KeySink {
        override def add(bytes: Array[Byte], from: Int, length: Int, day: Int, mayBeDeleted: Boolean): Unit =
          added += new String(bytes, from, length, UTF_8)
        override def remove(bytes: Array[Byte], from: Int, length: Int): Unit =
          removed += new String(bytes, from, length, UTF_8)
      }
      val open = (base: BaseFile, read: KeyColumns) => BaseFileKeys.open(LocalStorage, base.fileName, read)
      new BaseDiff(open, budget).run(write(old.map(_ -> "20240101000000000")), write(rows), wanted, columns, sink)
      assert(removed === old.toSet -- rows.map(_._1))
      assert(added === (wanted match {
        case TouchedRows.None  => Nil
        case TouchedRows.Every => rows.map(_._1)
        case _                 => rows.collect { case (key, "20240202000000000") => key }
      }))
    }
  }
}
