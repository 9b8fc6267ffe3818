package hudiidx.engine

import hudiidx.slice.LogReaders
import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import hudiidx.Fixtures
import hudiidx.bytes.ByteSlice
import hudiidx.parquet.{ParquetBlockRows, StorageInputFile}
import hudiidx.hfile.BlockCache
import hudiidx.log._
import hudiidx.storage.{LocalStorage, Storage}
import hudiidx.sync.{IndexOptions, TableSnapshot}
import hudiidx.table.{FileSlice, StockAnswers, TableMergeRules}
import java.nio.charset.StandardCharsets.UTF_8
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.mutable

/** The keys of base files and what our log reader says of the log give the keys that stock Hudi reads, file group by file
  * group, in every merge-on-read fixture: now and as of every instant that stock answered for.
  */
class LogKeysFixtureSuite extends AnyFunSuite {
  import LogKeysFixtureSuite._

  for (name <- Fixtures.sampled(this) if Fixtures.json(name).path("table_type").asText() == "MERGE_ON_READ") {
    test(s"$name: base keys merged with the log's are stock Hudi's keys and file groups") {
      withTable(name) { table =>
        val rows = table.liveKeys(None)
        val answers = Fixtures.json(name)
        assert(rows.size === answers.path("snapshot").path("count").asInt)
        if (answers.has("key_location")) {
          val stock = keyLocations(answers.path("key_location"))
          val ours = rows.map(r => (r.key, r.partition, r.fileId))
          if (stock.size == rows.size) assert(ours.sorted === stock.sorted)
          else assert(stock.toSet -- ours === Set.empty)
        }
        stockKeys(answers.path("snapshot").path("rows")).foreach(stock =>
          assert(rows.map(_.key).sorted === stock.sorted)
        )
        stockKeys(answers.path("snapshot").path("sample_rows")).foreach { stock =>
          assert(stock.diff(rows.map(_.key)) === Vector.empty)
        }
      }
    }

    test(s"$name: as of every instant there are as many keys as stock Hudi has rows") {
      withTable(name) { table =>
        StockAnswers.elements(Fixtures.json(name).path("time_travel")).filter(_.has("count")).foreach { answer =>
          val asOf = answer.path("as_of").asText()
          assert(table.liveKeys(Some(asOf)).size === answer.path("count").asInt, s"as of $asOf")
        }
      }
    }
  }

  for (name <- Vector("v6-mor-rollback", "v6-virtual-mor", "v8-moved-mor", "v9-mor-part", "v9-mor-bucket-parquet"))
    test(
      s"$name: keys touched by some instants are those of the whole log that these instants wrote, with their states"
    ) {
      withTable(name) { table =>
        table.slices(None).filter(_.logFiles.nonEmpty).foreach { slice =>
          val blocks = table.blocks(slice, None)
          val all = table.logged(blocks, None)
          blocks.flatMap(_.block.instantTime).distinct.foreach { instant =>
            val own = table.logged(blocks.filter(_.block.instantTime.contains(instant)), None).map(textOf).toSet
            val touched = table.logged(blocks, Some(Set(instant)))
            assert(touched.map(stateOf) === all.filter(k => own(textOf(k))).map(stateOf))
          }
        }
      }
    }

  test("commit times of logged keys are those of stock Hudi's rows") {
    for (name <- Vector("v6-mor-log-only", "v9-mor-log-only", "v6-mor-bucket", "v9-mor-bucket-parquet"))
      withTable(name) { table =>
        val stock = rowsOf(Fixtures.json(name).path("snapshot"))
          .map(r => r.path("_hoodie_record_key").asText() -> r.path("_hoodie_commit_time").asText())
          .toMap
        val logged = table.slices(None).flatMap(s => table.logged(table.blocks(s, None), None))
        val live = logged.filter(_.state == KeyState.Live)
        assert(live.exists(k => stock.contains(textOf(k))), name)
        // Where the base row has the greater ordering value, the commit time is the base row's.
        live.foreach(k => stock.get(textOf(k)).foreach(t => assert(k.commitTime.exists(_ >= t), textOf(k))))
        if (name.endsWith("log-only"))
          assert(live.filter(k => stock.contains(textOf(k))).forall(k => k.commitTime === stock.get(textOf(k))))
      }
  }
}

private object LogKeysFixtureSuite {
  final case class Row(key: String, partition: String, fileId: String)

  private val mapper = new ObjectMapper

  def textOf(k: LoggedKey): String = new String(k.keyUtf8, UTF_8)

  def stateOf(k: LoggedKey): (String, String, Option[String]) = (textOf(k), k.state.toString, k.commitTime)

  def keyLocations(answer: JsonNode): Vector[(String, String, String)] = {
    def name(list: String, number: Int) = answer.path(list).get(number).asText()
    StockAnswers
      .elements(answer.path("rows"))
      .map(r => (r.get(0).asText(), name("partitions", r.get(1).asInt), name("fileIds", r.get(2).asInt)))
  }

  def rowsOf(snapshot: JsonNode): Vector[JsonNode] =
    StockAnswers
      .elements(if (snapshot.path("rows").size > 0) snapshot.path("rows") else snapshot.path("sample_rows"))
      .map(r => if (r.isTextual) mapper.readTree(r.asText()) else r)

  /** Keys of stored rows; None if none are stored. A table with virtual keys has none in its rows: its key is `id`. */
  def stockKeys(rows: JsonNode): Option[Vector[String]] =
    if (rows.size == 0) None
    else
      Some(StockAnswers.elements(rows).map { r =>
        val row = if (r.isTextual) mapper.readTree(r.asText()) else r
        if (row.has("_hoodie_record_key") && !row.get("_hoodie_record_key").isNull)
          row.get("_hoodie_record_key").asText()
        else row.get("id").asText()
      })

  def withTable[A](name: String)(use: OpenTable => A): A = {
    val access = Tables.access(LocalStorage, new BlockCache(4 << 20))
    val path = Fixtures.table(name)
    val snapshot = TableSnapshot.open(access, path, IndexOptions(enabled = false))
    try use(new OpenTable(path, snapshot))
    finally snapshot.close()
  }

  final class OpenTable(path: String, snapshot: TableSnapshot) {
    private val rules = TableMergeRules.of(snapshot.config)

    def slices(asOf: Option[String]): Vector[FileSlice] =
      snapshot.view.partitions.flatMap(snapshot.view.latestMergedFileSlices(_, asOf))

    def blocks(slice: FileSlice, asOf: Option[String]): Vector[CountedBlock] = {
      val files = slice.logFiles.map(f => Storage.join(Storage.join(path, slice.partitionPath), f.fileName))
      SliceLog.countedBlocks(LocalStorage, files, TableMergeRules.blocks(snapshot.config, snapshot.viewTimeline, asOf))
    }

    /** With a budget of a few keys, so that fixtures spill. */
    def logged(blocks: Vector[CountedBlock], touched: Option[Set[String]]): Vector[LoggedKey] = {
      val options = LogKeysOptions(budgetBytes = 2000)
      val keys = touched match {
        case Some(instants) => LogKeys.touchedBy(instants, LocalStorage, blocks, rules, LogReaders.all, options)
        case None           => LogKeys.of(LocalStorage, blocks, rules, LogReaders.all, options)
      }
      try keys.toVector
      finally keys.close()
    }

    def liveKeys(asOf: Option[String]): Vector[Row] = slices(asOf).flatMap { slice =>
      liveKeys(slice, asOf).map(Row(_, slice.partitionPath, slice.fileId))
    }

    /** As stock: a base row takes the log's entry of its key with it, and a second row of the key passes unmerged. */
    private def liveKeys(slice: FileSlice, asOf: Option[String]): Vector[String] = {
      val log = mutable.LinkedHashMap(logged(blocks(slice, asOf), None).map(k => textOf(k) -> k.state): _*)
      val live = Vector.newBuilder[String]
      slice.baseFile.foreach { base =>
        baseRows(Storage.join(Storage.join(path, slice.partitionPath), base.fileName)).foreach { case (key, ordering) =>
          log.remove(key) match {
            case Some(KeyState.Deleted)                                            => ()
            case Some(d: KeyState.DeletedUnlessBaseIsNewer) if !d.spares(ordering) => ()
            case _                                                                 => live += key
          }
        }
      }
      live ++= log.collect { case (key, KeyState.Live) => key }
      live.result()
    }

    private val readBefore = mutable.HashMap.empty[String, Vector[(String, OrderingValue)]]

    private def baseRows(file: String): Vector[(String, OrderingValue)] =
      readBefore.getOrElseUpdate(file, readBase(file))

    private def utf8(row: RowFields): String = {
      val key = new ByteSlice
      row.utf8(0, key)
      key.text
    }

    private def built(form: RecordKeyForm, row: RowFields): String = {
      val key = new RecordKeyBuilder(form)
      key.start()
      form.fields.indices.foreach(row.addTo(_, key))
      new String(key.bytes, 0, key.length, UTF_8)
    }

    private def readBase(file: String): Vector[(String, OrderingValue)] = {
      val keys = rules.keyForm.map(_.fields).getOrElse(Vector("_hoodie_record_key"))
      val found = Vector.newBuilder[(String, OrderingValue)]
      ParquetBlockRows.rows(new StorageInputFile(LocalStorage, file), file, keys ++ rules.orderingFields) { row =>
        val key = rules.keyForm.fold(utf8(row))(form => built(form, row))
        val ordering =
          OrderingValue.ofSeveral(rules.orderingFields.indices.map(i => row.ordering(keys.size + i)).toVector)
        found += key -> ordering
      }
      found.result()
    }
  }
}
