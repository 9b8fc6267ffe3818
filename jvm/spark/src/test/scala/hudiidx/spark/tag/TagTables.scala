package hudiidx.spark.tag

import hudiidx.spark.options.TagStrategy
import scala.collection.JavaConverters._

import hudiidx.Fixtures
import hudiidx.engine.record.RecordPartSuite
import hudiidx.spark.api.HudiIdxApi
import org.apache.spark.sql.{DataFrame, SparkSession}

/** Tagging as callers do it, and stock Hudi's answers. */
object TagTables {

  /** A key's location by stock Hudi's account: partition path and file id. */
  type Place = (String, String)

  def tag(
      spark: SparkSession,
      table: String,
      frame: DataFrame,
      strategy: String,
      keys: Seq[String] = Seq("key"),
      isText: Boolean = true,
      partition: String = null,
      options: Map[String, String] = Map.empty
  ): DataFrame = {
    val all = options + (TagStrategy.OptionName -> strategy)
    new HudiIdxApi(spark, table, all.asJava).tagLocation(frame, keys.asJava, isText, partition)
  }

  /** A copy of a fixture with a record index of three hash groups. */
  def indexed(name: String): String = {
    val table = Fixtures.copy(name)
    RecordPartSuite.create(table)
    table
  }

  /** Where stock Hudi finds each key. */
  def stock(name: String): Map[String, Set[Place]] = {
    val answer = Fixtures.json(name).path("key_location")
    def named(list: String, place: Int): String = answer.path(list).get(place).asText
    answer
      .path("rows")
      .elements
      .asScala
      .map(r => r.get(0).asText -> ((named("partitions", r.get(1).asInt), named("fileIds", r.get(2).asInt))))
      .toVector
      .groupBy(_._1)
      .map { case (key, rows) => key -> rows.map(_._2).toSet }
  }

  /** Rows of (id, key): every key of stock's, absent ones, a null; in several partitions unless they are to stay local. */
  def asked(spark: SparkSession, keys: Iterable[String], parts: Int): DataFrame = {
    import spark.implicits._
    val all = keys.toVector.sorted ++ Vector("", "no such key", "0", null, "k000000 ", null)
    val frame = all.zipWithIndex.map { case (k, i) => (i.toLong, k, i % 7) }.toDF("id", "key", "rest")
    if (parts == 0) frame else frame.repartition(parts)
  }

  /** Rows of a tagged frame by key: a set of places, empty where the location is null. */
  def places(tagged: DataFrame): Map[String, Set[Place]] = tagged
    .select("key", "partition_path", "file_id")
    .collect()
    .toVector
    .groupBy(_.getString(0))
    .map { case (key, rows) =>
      key -> rows.filterNot(_.isNullAt(2)).map(r => (r.getString(1), r.getString(2))).toSet
    }

  /** What tagging the frame of `asked` must give. */
  def expected(found: Map[String, Set[Place]]): Map[String, Set[Place]] =
    Map("" -> Set.empty[Place], "no such key" -> Set.empty[Place], "0" -> Set.empty[Place]) ++
      Map((null: String) -> Set.empty[Place], "k000000 " -> Set.empty[Place]) ++ found
}
