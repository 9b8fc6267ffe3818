package hudiidx.hive

import scala.collection.mutable.ArrayBuffer

import hudiidx.rows.BatchLimits
import hudiidx.{Fixtures, TestSettings}
import org.apache.hadoop.io.Writable
import org.scalatest.funsuite.AnyFunSuite

/** However large the batches are in which a slice is read, its rows are the same in the same order. */
final class HiveBatchesSuite extends AnyFunSuite {
  private val tables = Fixtures.good.filterNot(_.endsWith("zero-rows")).filter { n =>
    Fixtures.json(n).has("schema") && !Fixtures.mergedByHudi(n) &&
    Fixtures.json(n).get("table_type").asText == "MERGE_ON_READ"
  }

  private def rowsOf(name: String, limits: BatchLimits): Vector[String] = {
    val job = HiveTables.job(Seq(Fixtures.table(name)))
    HiveTables.splits(job).flatMap { split =>
      val piece = split.asInstanceOf[PieceSplit].piece
      val rows = PieceRows.open(job, piece, HiveLayout.plain(_, ReadSettings.of(job), piece.path), limits)
      val found = ArrayBuffer.empty[String]
      try {
        var row = rows.next()
        while (row != null) {
          found += row.map(shown).mkString("|")
          row = rows.next()
        }
        assert(rows.next() == null)
      } finally rows.close()
      found
    }
  }

  private def shown(value: Writable): String = value match {
    case all: org.apache.hadoop.io.ArrayWritable => all.get.map(shown).mkString("[", ",", "]")
    case other                                   => String.valueOf(other)
  }

  Fixtures.sampled(this, tables).foreach { name =>
    test(s"$name: batches of any size") {
      val whole = rowsOf(name, BatchLimits.Usual)
      assert(whole.nonEmpty)
      val sizes = if (TestSettings.isLong) Vector(1, 2, 3, 5, 7, 50) else Vector(1, 3)
      sizes.foreach(n => assert(rowsOf(name, BatchLimits(n, Long.MaxValue)) === whole, s"$n rows"))
      Vector(1L, 300L).foreach(n => assert(rowsOf(name, BatchLimits(1024, n)) === whole, s"$n bytes"))
    }
  }
}
