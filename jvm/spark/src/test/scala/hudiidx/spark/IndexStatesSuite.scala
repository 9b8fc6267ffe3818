package hudiidx.spark

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.JsonNode
import hudiidx.engine.Tables
import hudiidx.hfile.BlockCache
import hudiidx.record.{PackedKeys, PackedLocations}
import hudiidx.spark.api.AnswerPieces
import hudiidx.storage.LocalStorage
import hudiidx.sync.{IndexOptions, TableSnapshot}
import hudiidx.table.StockAnswers
import hudiidx.{Fixtures, HudiIdxException, UnsupportedTable}
import org.apache.spark.sql.functions.{col, regexp_extract}

/** Tables of Hudi 1.2.0 answer as stock Hudi does in every state of the index: there is none, it is fresh, it is stale, it was
  * brought up instant by instant, or it is damaged; with all of its parts.
  */
final class IndexStatesSuite extends SparkSuite with IndexStates {
  import IndexStates.States
  import IndexStatesSuite._

  private val tables = Fixtures.newest.filter(Fixtures.json(_).has("listing"))

  /** And those that have a folder of their own, of which a short form has one. */
  private val taken = (Fixtures.sampled(this, tables, oneOf = 3) ++ tables.filter(_.startsWith("types/"))).distinct

  for (name <- taken; state <- States)
    test(s"$name: files, rows, filters, time travel, ranges and keys are stock Hudi's, index: ${state.name}") {
      val table = Fixtures.copy(name)
      state.prepare(this, table)
      val asked = new Asked(name, table, state.options)
      asked.files()
      asked.rows()
      asked.ranges()
      asked.keys(inIndex = state.options.nonEmpty)
    }

  test(
    "a frame that is planned long after it was made takes the index as it is then, though it looked at the table a moment ago"
  ) {
    val table = Fixtures.copy("v9-mor-part")
    create(table)
    val rows = read(table).count()
    val frame = read(table, IndexOptions.Strict -> "true")
    Thread.sleep(1200) // so long the table is taken to be as it was
    val gone = Seq("hudiidx.expire.retain.last" -> "1", "hudiidx.expire.older.than.minutes" -> "0")
    api(table, gone :+ ("hudiidx.expire.orphan.minutes" -> "0"): _*).create()
    assert(frame.count() === rows)
  }

  /** The questions, with stock's answers. */
  private final class Asked(name: String, table: String, options: Seq[(String, String)]) {
    private val stock = Fixtures.json(name)
    private val isCustom = Fixtures.mergedByHudi(name)

    private def asked(more: (String, String)*) = read(table, options ++ more: _*)

    def files(): Unit = {
      val snapshot = TableSnapshot.open(
        Tables.access(LocalStorage, new BlockCache(4 << 20)),
        table,
        IndexOptions(strict = options.nonEmpty, source = "listing")
      )
      try StockAnswers.compare(name, snapshot.source, snapshot.view)
      finally snapshot.close()
    }

    def rows(): Unit = {
      if (stock.has("read_optimized"))
        Answer.expect(stock.get("read_optimized"), Answer.of(asked(QueryType -> "read_optimized")))
      if (isCustom) intercept[UnsupportedTable](asked().count())
      else {
        Answer.expect(stock.get("snapshot"), Answer.of(asked()))
        stock.get("time_travel").forEach { point =>
          val asOf = point.get("as_of").asText
          def found = Answer.of(asked("as.of.instant" -> asOf))
          if (point.has("error")) assert(intercept[HudiIdxException](found).getMessage.contains(asOf))
          else withClue(s"as of $asOf: ")(Answer.expect(point, found))
        }
        stock.get("filters").forEach { f =>
          val where = f.get("where").asText
          withClue(s"$where: ")(assert(asked().where(where).count() === f.get("count").asLong))
        }
      }
    }

    def ranges(): Unit = stock.get("incremental").forEach { point =>
      val end = Option(point.get("end").asText(null)).map(Instants.format("end") -> _)
      val bounds = Seq(QueryType -> "incremental", Instants.format("begin") -> point.get("begin").asText) ++ end
      withClue(s"$bounds: ") {
        if (isCustom || point.has("error")) intercept[UnsupportedTable](asked(bounds: _*).count())
        else Answer.expect(point, Answer.of(Answer.asIncremental(name, asked(bounds: _*))))
      }
    }

    /** Keys by a filter, and by the record index. */
    def keys(inIndex: Boolean): Unit = {
      val told = stockKeys(stock.path("key_location"))
      if (told.nonEmpty) {
        val some = told.map(_._1).distinct.zipWithIndex.collect { case (key, i) if i % 7 == 0 => key }.take(30)
        val wanted = told.filter(t => some.contains(t._1))
        if (!isCustom) {
          val file = regexp_extract(col("_hoodie_file_name"), "^([^_]+)", 1)
          val found = asked()
            .where(col("_hoodie_record_key").isin(some :+ "absent": _*))
            .select(col("_hoodie_record_key"), col("_hoodie_partition_path"), file)
            .collect()
            .map(r => (r.getString(0), r.getString(1), r.getString(2)))
          assert(found.toVector.sorted === wanted)
        }
        if (inIndex) {
          val all = told.map(_._1).distinct :+ "absent"
          assert(located(all) === told)
        }
      }
    }

    private def located(keys: Vector[String]): Vector[(String, String, String)] = {
      val bytes = api(table, options: _*).lookup(PackedKeys.encode(keys), null, null) match {
        case whole: Array[Byte]   => whole
        case pieces: AnswerPieces => (0 until pieces.count).toArray.flatMap(pieces.piece(_).asInstanceOf[Array[Byte]])
      }
      PackedLocations.decode(bytes).records(PackedKeys.of(keys)).map(l => (l.key, l.partitionPath, l.fileId)).sorted
    }
  }
}

private object IndexStatesSuite {
  val QueryType = "hoodie.datasource.query.type"

  val Instants = "hoodie.datasource.read.%s.instanttime"

  /** Key, partition path and file id of each row that stock names. */
  def stockKeys(told: JsonNode): Vector[(String, String, String)] =
    told
      .path("rows")
      .elements
      .asScala
      .toVector
      .map { row =>
        val (partition, id) = (row.get(1).asInt, row.get(2).asInt)
        (row.get(0).asText, told.path("partitions").get(partition).asText, told.path("fileIds").get(id).asText)
      }
      .sorted
}
