package hudiidx.spark

import java.nio.file.{Files, Paths}

import scala.collection.JavaConverters._

import hudiidx.engine.{Tables, TimelineCut}
import hudiidx.hfile.BlockCache
import hudiidx.spark.api.HudiIdxApi
import hudiidx.storage.LocalStorage
import hudiidx.sync.{IndexInfo, IndexOptions}
import hudiidx.{DamagedTable, Fixtures, TableChanged, UnsupportedTable}

/** Brings a copied table's index, with all of its parts, into the states in which a query may meet it. */
trait IndexStates { self: SparkSuite =>

  protected def api(table: String, options: (String, String)*): HudiIdxApi =
    new HudiIdxApi(spark, table, options.toMap.asJava)

  protected def create(table: String): Unit = {
    val parts = Seq("hudiidx.columns" -> "*", "hudiidx.logs" -> "true", "hudiidx.record.mode" -> "global")
    api(table, parts: _*).create(): Unit
  }

  /** The index of a table whose later instants are hidden; one that a clean has taken files from since was no table. */
  private def createAt(cut: TimelineCut, table: String, steps: Seq[Int]): Int = steps
    .find { n =>
      cut.showFirst(n)
      try { create(table); true }
      catch { case _: DamagedTable | _: TableChanged | _: UnsupportedTable => false }
    }
    .getOrElse(fail("no instant at which the table is whole"))

  private def makeStale(table: String): Unit = {
    val cut = new TimelineCut(table)
    createAt(cut, table, (cut.size / 2) to cut.size)
    cut.showAll()
  }

  /** No byte of its files is as it was, but those of its versions. */
  private def makeDamaged(table: String): Unit = {
    create(table)
    val files = Fixtures.filesBelow(s"$table/.hoodie/hudiidx").filterNot(_.startsWith("versions/"))
    assert(files.nonEmpty)
    files.map(Paths.get(table, ".hoodie", "hudiidx", _)).foreach { file =>
      val damaged = Files.readAllBytes(file).map(b => (~b).toByte)
      Files.delete(file)
      Files.write(file, damaged)
    }
  }

  private def makeStepwise(table: String): Unit = {
    val cut = new TimelineCut(table)
    val from = createAt(cut, table, 1 to cut.size)
    ((from + 1) to cut.size).foreach { n =>
      cut.showFirst(n)
      try api(table).update(): Unit
      catch { case _: DamagedTable | _: TableChanged if n < cut.size => () }
    }
    val options = IndexOptions(strict = true)
    assert(IndexInfo.of(Tables.access(LocalStorage, new BlockCache(0)), table, options).state === IndexInfo.Ready)
  }
}

object IndexStates {
  private val strict = Seq("hudiidx.index.strict" -> "true")

  final case class State(name: String, options: Seq[(String, String)], prepare: (IndexStates, String) => Unit)

  val States: Vector[State] = Vector(
    State("none", Nil, (_, _) => ()),
    State("fresh", strict, (suite, table) => suite.create(table)),
    State("stale", strict, (suite, table) => suite.makeStale(table)),
    State("brought up instant by instant", strict, (suite, table) => suite.makeStepwise(table)),
    State("damaged", Nil, (suite, table) => suite.makeDamaged(table))
  )
}
