package hudiidx.spark

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}
import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import hudiidx.{Fixtures, TestSettings}
import hudiidx.record.PackedKeys
import hudiidx.spark.api.HudiIdxApi
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.{col, count, max, min}

/** Tables with rows whose partition column changed while they stayed in their partition: everything that asks for the column gets
  * the value that stock Hudi's rows have there, with an index of it and without.
  */
final class PathValuesSuite extends SparkSuite {
  private val mapper = new ObjectMapper

  // In incremental queries of version 6 stock takes the values of files.
  private val tables =
    TestSettings.some(4)(Seq("v9-path-values-mor", "v6-path-values-cow", "v8-path-values-cow", "v9-path-values-cow"))

  private def stockRows(name: String): Vector[(String, String)] = {
    val rows = Vector.newBuilder[(String, String)]
    Fixtures.json(name).get("snapshot").get("rows").forEach { text =>
      val row: JsonNode = mapper.readTree(text.asText)
      rows += row.get("id").asText -> row.get("city").asText
    }
    rows.result().sorted
  }

  private def pairs(frame: DataFrame): Vector[(String, String)] =
    frame.select("id", "city").collect().map(r => (r.getString(0), r.getString(1))).toVector.sorted

  /** The table's partition is under another path, and its files stay as they are. */
  private def moved(table: String, from: String, to: String): Unit = {
    val folder = Paths.get(table, ".hoodie")
    Files.move(Paths.get(table, from), Paths.get(table, to))
    Files.list(folder).filter(f => f.toString.endsWith(".commit") || f.toString.endsWith(".inflight")).forEach { file =>
      val text = new String(Files.readAllBytes(file), UTF_8).replaceAll("\"" + from + "([\"/])", "\"" + to + "$1")
      Files.write(file, text.getBytes(UTF_8)): Unit
    }
    val properties = folder.resolve("hoodie.properties")
    val kept = Files.readAllLines(properties).asScala.filterNot(_.startsWith("hoodie.table.metadata.partitions"))
    Files.write(properties, kept.asJava): Unit
  }

  private def indexed(name: String, change: String => Unit = _ => ()): String = {
    val table = Fixtures.copy(name)
    change(table)
    val options =
      java.util.Map.of("hudiidx.columns", "*", "hudiidx.bloom.columns", "city", "hudiidx.record.mode", "global")
    new HudiIdxApi(spark, table, options).create()
    table
  }

  private def same(table: String, stock: Vector[(String, String)], options: (String, String)*): Unit = {
    def rows = read(table, options: _*)
    assert(pairs(rows) === stock)
    val cities = stock.map(_._2).distinct :+ "rome" :+ "lima"
    cities.foreach { city =>
      val wanted = stock.filter(_._2 == city)
      assert(pairs(rows.where(col("city") === city)) === wanted, city)
      assert(pairs(rows.where(s"upper(city) = '${city.toUpperCase}' or id is null")) === wanted, city)
      assert(pairs(rows.where(s"city = '$city' and n >= 0")) === wanted, city)
      assert(rows.where(col("city") === city).count() === wanted.length, city)
      assert(pairs(rows.where(s"city = '$city' or n < 0")) === wanted, city)
    }
    val groups = rows.groupBy("city").agg(count("*"), min("n"), max("city")).collect()
    val ofStock = stock.groupBy(_._2).map { case (city, all) => city -> all.length.toLong }
    assert(groups.map(r => r.getString(0) -> r.getLong(1)).toMap === ofStock)
    assert(groups.forall(r => r.getString(0) == r.getString(3)))
    val whole = rows.agg(count("city"), min("city"), max("city")).head()
    assert(
      (whole.getLong(0), whole.getString(1), whole.getString(2)) === ((80L, stock.map(_._2).min, stock.map(_._2).max))
    )
    val joined = rows.join(spark.createDataFrame(Seq(Tuple1("rome"), Tuple1("sf"))).toDF("city"), "city")
    assert(pairs(joined) === stock.filter(r => r._2 == "rome" || r._2 == "sf")): Unit
  }

  tables.foreach { name =>
    test(s"$name: rows, filters, groups and joins have the partition's value, index on and off") {
      val stock = stockRows(name)
      assert(stock.length === 80 && stock.map(_._2).toSet === Set("sf", "nyc", "oslo", "lima"))
      same(Fixtures.table(name), stock)
      val table = indexed(name)
      same(table, stock)
      same(table, stock, "hudiidx.read.partition.filters" -> "false")
      assert(pairs(read(table).where("id = 'k000001'")) === stock.filter(_._1 == "k000001"))
      val keys = stock.take(25).map(_._1)
      val found = new HudiIdxApi(spark, table, java.util.Map.of()).lookupRows(PackedKeys.encode(keys), null, null)
      assert(pairs(found) === stock.take(25))
    }
  }

  test(
    "the values of files are there where a key generator formats paths, and those of paths where they are asked for"
  ) {
    val table = Fixtures.copy("v9-path-values-cow")
    val file = Paths.get(table, ".hoodie", "hoodie.properties")
    val text = new String(Files.readAllBytes(file), UTF_8).replaceAll("hoodie.table.checksum=.*", "")
    val timed = text.replaceAll("hoodie.table.keygenerator.type=.*", "hoodie.table.keygenerator.type=TIMESTAMP")
    assert(timed != text)
    Files.write(file, timed.getBytes(UTF_8))
    val ofFiles = pairs(read(table))
    val ofPaths = stockRows("v9-path-values-cow")
    assert(ofFiles.map(_._1) === ofPaths.map(_._1) && ofFiles.map(_._2).contains("rome"))
    Seq("rome", "sf").foreach { city =>
      assert(pairs(read(table).where(col("city") === city)) === ofFiles.filter(_._2 == city))
    }
    new HudiIdxApi(spark, table, java.util.Map.of("hudiidx.columns", "*")).create()
    assert(pairs(read(table).where("city = 'rome'")) === ofFiles.filter(_._2 == "rome"))
    same(table, ofPaths, "hoodie.datasource.read.extract.partition.values.from.path" -> "true")
  }

  test("files none of whose rows hold the partition's value are read for it, whatever an index has of them") {
    val name = "v6-path-values-cow"
    val table = indexed(name, moved(_, "lima", "zurich"))
    val stock = stockRows(name).map { case (id, city) => id -> (if (city == "lima") "zurich" else city) }
    same(table, stock)
    same(table, stock, "hudiidx.read.partition.filters" -> "false")
  }

  test("as of an instant before the first commit there are no rows, and the table's columns") {
    Seq("v6-path-values-cow", "v9-path-values-cow", "v9-path-values-mor", "v9-mor-event").foreach { name =>
      val before = read(Fixtures.table(name), "as.of.instant" -> "20000101000000")
      assert(before.count() === 0, name)
      assert(before.collect().isEmpty && before.schema === read(Fixtures.table(name)).schema, name)
    }
  }
}
