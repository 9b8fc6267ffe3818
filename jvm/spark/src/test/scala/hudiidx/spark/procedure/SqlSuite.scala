package hudiidx.spark.procedure

import java.net.URI

import scala.collection.JavaConverters._

import hudiidx.spark.{Answer, HudiIdxCatalog, HudiIdxExtensions, SparkSuite}
import hudiidx.spark.plan.HudiIdxScan
import hudiidx.{Fixtures, InvalidOption, UnsupportedTable}
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.{
  CatalogStorageFormat,
  CatalogTable,
  CatalogTablePartition,
  CatalogTableType
}
import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{AnalysisException, DataFrame, SparkSession}

/** A session with the extension and the catalog in front of its own: Hudi tables under their names, without any class of Hudi. */
final class SqlSuite extends SparkSuite {
  private val fixture = "v9-mor-event"

  private lazy val session: SparkSession = {
    val settings = Map(
      "spark.sql.extensions" -> classOf[HudiIdxExtensions].getName,
      "spark.sql.catalog.spark_catalog" -> classOf[HudiIdxCatalog].getName,
      "spark.sql.catalog.hudiidx" -> classOf[HudiIdxCatalog].getName
    )
    spark.range(1).count()
    SparkSession.clearActiveSession()
    SparkSession.clearDefaultSession()
    val made = settings
      .foldLeft(SparkSession.builder().withExtensions(new HudiIdxExtensions)) { case (b, (k, v)) => b.config(k, v) }
      .getOrCreate()
    SparkSession.setDefaultSession(spark)
    made.sql(s"CREATE DATABASE db LOCATION '${Fixtures.newFolder("warehouse")}'")
    val path = Fixtures.table(fixture)
    define(made, "trips", path, Map.empty)
    define(made, "trips_ro", path, Map("hoodie.query.as.ro.table" -> "true"))
    made
  }

  /** As Hudi's writers leave it in a metastore. */
  private def define(session: SparkSession, name: String, path: String, properties: Map[String, String]): Unit = {
    val storage = CatalogStorageFormat.empty.copy(locationUri = Some(new URI(s"file:$path")), properties = properties)
    val columns: StructType = read(path).schema
    val table = CatalogTable(
      TableIdentifier(name, Some("db")),
      CatalogTableType.EXTERNAL,
      storage,
      columns,
      provider = Some("hudi")
    )
    session.sessionState.catalog.createTable(table, ignoreIfExists = false)
  }

  test("a table of a name is truncated by a commit, and replaced in one step or not at all") {
    val path = Fixtures.newFolder("named").resolve("own").toString
    val rows = spark.range(5).selectExpr("id")
    val storage = CatalogStorageFormat.empty.copy(locationUri = Some(new URI(s"file:$path")))
    val name = TableIdentifier("own", Some("db"))
    val managed = CatalogTable(name, CatalogTableType.MANAGED, storage, rows.schema, provider = Some("hudi"))
    session.sessionState.catalog.createTable(managed, ignoreIfExists = false)
    val options = Map("hoodie.table.name" -> "own", "hoodie.datasource.write.recordkey.field" -> "id")
    rows.write.format("hudiidx").options(options).mode("append").save(path)
    val replace = intercept[UnsupportedOperationException](sql("REPLACE TABLE db.own USING hudiidx AS SELECT 1L AS id"))
    assert(replace.getMessage.contains("in one step") && read(path).count() === 5)
    val before = read(path).select("_hoodie_commit_time").head().getString(0)
    sql("TRUNCATE TABLE db.own")
    assert(read(path).count() === 0 && read(path, "as.of.instant" -> before).count() === 5)
    sql(s"INSERT OVERWRITE db.own SELECT id FROM db.own VERSION AS OF '$before' WHERE id < 2")
    assert(read(path).count() === 2)
    session.sessionState.catalog.dropTable(name, ignoreIfNotExists = false, purge = false)
  }

  test("what Spark itself would remove of a table's files is refused, and all rows stay") {
    val path = Fixtures.newFolder("named").resolve("parted").toString
    val rows = spark.range(6).selectExpr("id", "concat('c', id % 2) AS city")
    val name = TableIdentifier("parted", Some("db"))
    val storage = CatalogStorageFormat.empty.copy(locationUri = Some(new URI(s"file:$path")))
    val managed = CatalogTable(
      name,
      CatalogTableType.MANAGED,
      storage,
      rows.schema,
      provider = Some("hudi"),
      partitionColumnNames = Seq("city"),
      tracksPartitionsInCatalog = true
    )
    val catalog = session.sessionState.catalog
    catalog.createTable(managed, ignoreIfExists = false)
    val options = Map(
      "hoodie.table.name" -> "parted",
      "hoodie.datasource.write.recordkey.field" -> "id",
      "hoodie.datasource.write.partitionpath.field" -> "city",
      "hoodie.datasource.write.hive_style_partitioning" -> "true"
    )
    rows.write.format("hudiidx").options(options).mode("append").save(path)
    val parts = Seq("c0", "c1").map { c =>
      val at = storage.copy(locationUri = Some(new URI(s"file:$path/city=$c")))
      CatalogTablePartition(Map("city" -> c), at)
    }
    catalog.createPartitions(name, parts, ignoreIfExists = false)
    Seq(
      "TRUNCATE TABLE db.parted PARTITION (city = 'c0')",
      "ALTER TABLE db.parted DROP PARTITION (city = 'c0')",
      "ALTER TABLE db.parted DROP PARTITION (city = 'c1') PURGE",
      "ALTER TABLE db.parted PARTITION (city = 'c0') RENAME TO PARTITION (city = 'c2')"
    ).foreach { statement =>
      assert(intercept[UnsupportedTable](sql(statement)).getMessage.contains("DELETE FROM"), statement)
    }
    assert(read(path).count() === 6)
    sql("DELETE FROM db.parted WHERE city = 'c0'")
    assert(read(path).count() === 3)
    catalog.dropTable(name, ignoreIfNotExists = false, purge = false)
  }

  private def sql(text: String): DataFrame = session.sql(text)

  private def snapshot: String = Fixtures.json(fixture).get("snapshot").get("checksum").asText

  private def isOurs(frame: DataFrame): Boolean =
    frame.queryExecution.optimizedPlan
      .collect { case r: DataSourceV2ScanRelation => r.scan }
      .exists(_.isInstanceOf[HudiIdxScan])

  Vector("db.trips", "spark_catalog.db.trips", "hudiidx.db.trips").foreach { name =>
    test(s"$name has stock Hudi's rows, read by hudiidx") {
      val found = sql(s"SELECT * FROM $name")
      assert(isOurs(found))
      assert(Answer.of(found).checksum === snapshot)
      assert(Answer.of(session.table(name)).checksum === snapshot)
    }
  }

  test("a name of base files alone is read so") {
    val base = session.read
      .format("hudiidx")
      .option("hoodie.datasource.query.type", "read_optimized")
      .load(Fixtures.table(fixture))
    assert(Answer.of(sql("SELECT * FROM db.trips_ro")).checksum === Answer.of(base).checksum)
    assert(Answer.of(base).checksum !== snapshot)
  }

  test("names in views, subqueries, joins and after USE") {
    val count = session.table("db.trips").count()
    val both = count + session.table("db.trips_ro").count()
    sql("USE db")
    try {
      sql(
        "CREATE VIEW seen AS SELECT _hoodie_record_key AS k FROM trips UNION ALL SELECT _hoodie_record_key FROM db.trips_ro"
      )
      assert(sql("SELECT * FROM seen").count() === both)
      assert(sql("SELECT * FROM trips").count() === count)
      assert(sql("WITH trips AS (SELECT 1) SELECT * FROM trips").count() === 1)
      assert(
        sql(
          "SELECT * FROM trips t WHERE EXISTS (SELECT 1 FROM trips u WHERE u._hoodie_record_key = t._hoodie_record_key)"
        ).count() === count
      )
      assert(sql("SELECT trips._hoodie_record_key FROM db.trips").columns === Array("_hoodie_record_key"))
      session.range(3).createOrReplaceTempView("trips")
      assert(sql("SELECT * FROM trips").count() === 3)
      assert(sql("SELECT * FROM db.seen").count() === both)
    } finally {
      session.catalog.dropTempView("trips"): Unit
      sql("USE default"): Unit
    }
  }

  test("time travel by name is stock Hudi's") {
    val points = Fixtures.json(fixture).get("time_travel").elements.asScala.filter(_.has("checksum")).toVector
    assert(points.nonEmpty)
    points.foreach { p =>
      val found = sql(s"SELECT * FROM db.trips VERSION AS OF '${p.get("as_of").asText}'")
      assert(Answer.of(found).checksum === p.get("checksum").asText)
    }
  }

  test("what is known about a table is tables behind its name") {
    val views = Vector("db.trips", "hudiidx.db.trips", s"hudiidx.`${Fixtures.table(fixture)}`")
    def rows(name: String): Vector[String] = sql(s"SELECT * FROM $name").collect().map(_.toString).toVector.sorted
    Vector("files", "partitions", "timeline", "log_blocks").foreach { view =>
      val direct = session.read.format("hudiidx").option("view", view).load(Fixtures.table(fixture))
      val expected = direct.collect().map(_.toString).toVector.sorted
      assert(expected.nonEmpty)
      views.foreach(name => withClue(s"$name.$view: ")(assert(rows(s"$name.$view") === expected)))
    }
    assert(
      intercept[InvalidOption](sql(s"SELECT * FROM hudiidx.`${Fixtures.table(fixture)}`.nothing")).getMessage
        .contains("files")
    )
  }

  test("other tables and commands stay with the catalog behind") {
    sql("CREATE TABLE db.plain USING parquet AS SELECT id FROM range(5)")
    sql("INSERT INTO db.plain VALUES (7)")
    sql("ALTER TABLE db.plain SET TBLPROPERTIES ('a' = 'b')")
    sql("ANALYZE TABLE db.plain COMPUTE STATISTICS")
    assert(sql("SELECT * FROM db.plain").count() === 6)
    assert(sql("SHOW TABLES IN hudiidx.db").collect().map(_.getString(1)).toSet === Set("trips", "trips_ro"))
    assert(sql("SHOW TABLES IN db").collect().map(_.getString(1)).toSet.intersect(Set("trips", "plain")).size === 2)
    sql("ALTER TABLE db.trips SET TBLPROPERTIES ('keeper' = 'ops')")
    val stored = session.sessionState.catalog.getTableMetadata(TableIdentifier("trips", Some("db")))
    assert(
      stored.provider.contains("hudi") && stored.properties("keeper") === "ops" && !stored.properties.contains(
        "hudiidx.read"
      )
    )
    val described = sql("DESCRIBE TABLE EXTENDED db.trips").collect().map(r => r.getString(0) -> r.getString(1)).toMap
    assert(described("Provider") === "hudi" && described.contains("_hoodie_record_key"))
    assert(sql("DESCRIBE TABLE hudiidx.db.trips").collect().map(_.getString(0)).contains("_hoodie_record_key"))
    intercept[UnsupportedOperationException](sql("DROP TABLE hudiidx.db.trips"))
    sql("DROP TABLE db.plain")
  }

  test("statements change tables under their own names, and may read them too") {
    val path = Fixtures.newFolder("named").resolve("t").toString
    session
      .sql(
        s"CREATE TABLE hudiidx.`$path` USING hudiidx PARTITIONED BY (p) TBLPROPERTIES (primaryKey = 'id', preCombineField = 'n') " +
          "AS SELECT id, concat('p', id % 2) AS p, id AS n FROM range(4)"
      )
    define(session, "changed", path, Map.empty)
    define(session, "changed_ro", path, Map("hoodie.query.as.ro.table" -> "true"))
    def rows: Set[(Long, String, Long)] = sql("SELECT id, p, n FROM db.changed")
      .collect()
      .map(r => (r.getLong(0), r.getString(1), r.getLong(2)))
      .toSet
    sql("INSERT INTO db.changed VALUES (10, 'p1', 10)")
    sql("UPDATE db.changed SET n = n + 100 WHERE id = 10")
    sql("DELETE FROM hudiidx.db.changed WHERE id = (SELECT min(id) FROM hudiidx.db.changed)")
    assert(rows === Set((1L, "p1", 1L), (2L, "p0", 2L), (3L, "p1", 3L), (10L, "p1", 110L)))
    Vector("db.changed" -> 20, "spark_catalog.db.changed" -> 40, "hudiidx.db.changed" -> 80, s"hudiidx.`$path`" -> 160)
      .foreach { case (name, shift) =>
        sql(s"INSERT INTO $name SELECT id + $shift, p, n FROM $name WHERE id = 3")
      }
    sql(
      "MERGE INTO db.changed t USING (SELECT id + 1 AS id, p, n FROM db.changed) s ON t.id = s.id WHEN MATCHED THEN DELETE"
    )
    assert(rows.map(_._1) === Set(1L, 10L, 23L, 43L, 83L, 163L))
    assert(rows.filter(_._1 > 20).forall(r => r._2 == "p1" && r._3 == 3L))
    assert(intercept[InvalidOption](sql("DELETE FROM db.changed_ro")).getMessage.contains("plain name"))
    val copyOnWrite = Fixtures.table("v9-cow-part")
    assert(intercept[UnsupportedTable](sql(s"DELETE FROM hudiidx.`$copyOnWrite`")).getMessage.contains("copy-on-write"))
    sql("USE db")
    try {
      sql("INSERT INTO changed SELECT id + 1000, p, n FROM changed WHERE id = 1")
      sql("DELETE FROM changed WHERE id < 100")
      session.range(2).createOrReplaceTempView("changed")
      intercept[Exception](sql("INSERT INTO changed VALUES (7)"))
    } finally {
      session.catalog.dropTempView("changed"): Unit
      sql("USE default"): Unit
    }
    assert(rows.map(_._1) === Set(163L, 1001L))
  }

  test("CALL makes, asks, checks and removes an index") {
    val path = Fixtures.copy(fixture)
    val keys = read(path).select("_hoodie_record_key", "_hoodie_partition_path").collect().take(3)
    val made =
      sql(s"CALL system.create_index('$path', record => 'global', columns => array('_hoodie_record_key'))").head()
    assert(made.getAs[Long]("files") > 0 && made.getAs[Boolean]("published"))
    val asked = keys.map(k => s"'${k.getString(0)}'").mkString("array(", ", ", ")")
    val found = sql(s"CALL hudiidx.system.lookup(table => '$path', keys => $asked)").collect()
    assert(
      found.map(r => (r.getString(0), r.getString(1))).toSet === keys.map(r => (r.getString(0), r.getString(1))).toSet
    )
    assert(sql(s"CALL system.lookup('$path', 'no such key')").count() === 0)
    assert(sql(s"CALL system.verify('$path', record => true, columns => true)").head().getBoolean(0))
    assert(sql(s"CALL system.update_index('$path')").head().getAs[Boolean]("published") === false)
    val filter = s"_hoodie_record_key = '${keys(0).getString(0)}'"
    assert(sql(s"""CALL system.prune('$path', where => "$filter")""").count() >= 1)
    assert(sql(s"CALL system.add_index('$path', bloom => '_hoodie_record_key')").head().getAs[Boolean]("published"))
    assert(sql(s"CALL system.add_index('$path', logs => true)").head().getAs[Boolean]("published"))
    assert(sql(s"CALL system.index_info('$path')").head().getString(0).contains("READY"))
    val expired = sql(s"CALL system.expire_index_versions('$path', retain_last => 1, older_than_minutes => 0)")
    assert(expired.collect().map(_.getString(0)).count(_.endsWith(".json")) === 2)
    assert(sql(s"CALL system.expire_index_versions(table => '$path')").count() === 0)
    val exported = sql(s"CALL system.export_symlink_manifest('$path', read_optimized => true)").head()
    assert(exported.getAs[Long]("files") > 0 && exported.getAs[String]("path").endsWith("symlink_manifest"))
    sql(s"CALL system.drop_index('$path', record => true, logs => true, columns => array('_hoodie_record_key'))")
    sql(s"CALL system.drop_index('$path')")
    assert(!sql(s"CALL system.index_info('$path')").head().getString(0).contains("READY"))
    Vector("db.trips", "spark_catalog.db.trips", "hudiidx.db.trips").foreach { name =>
      assert(sql(s"CALL system.index_info(table => '$name')").count() === 1, name)
    }
  }

  test("functions of tables stand in queries") {
    val path = Fixtures.table(fixture)
    val keys = read(path).select("_hoodie_record_key", "_hoodie_partition_path").collect().take(3)
    val asked = keys.map(k => s"'${k.getString(0)}'").mkString("array(", ", ", ")")
    Vector(path, "db.trips").foreach { table =>
      val found = sql(
        s"SELECT l.partition_path, count(*) FROM hudiidx_lookup('$table', $asked) l JOIN db.trips t " +
          "ON l.record_key = t._hoodie_record_key GROUP BY 1"
      )
      assert(found.collect().map(r => r.getString(0) -> r.getLong(1)).toMap === keys.groupBy(_.getString(1)).map {
        case (p, ks) => p -> ks.length.toLong
      })
    }
    val files = sql(s"SELECT count(*) FROM hudiidx_prune('db.trips', 'true')").head().getLong(0)
    assert(files === sql("CALL system.prune('db.trips', where => 'true')").count() && files > 0)
    val instants = sql("SELECT requested_time FROM db.trips.timeline WHERE action = 'deltacommit'")
      .collect()
      .map(_.getString(0))
      .sorted
    val (begin, end) = (instants(instants.length - 3), instants(instants.length - 2))
    val reader = session.read.format("hudiidx").option("hoodie.datasource.query.type", "incremental")
    val since = reader.option("hoodie.datasource.read.begin.instanttime", begin)
    assert(
      Answer.of(sql(s"SELECT * FROM hudiidx_changes('db.trips', '$begin')")).checksum === Answer
        .of(since.load(path))
        .checksum
    )
    val between = since.option("hoodie.datasource.read.end.instanttime", end).load(path)
    assert(
      Answer.of(sql(s"SELECT * FROM hudiidx_changes('$path', '$begin', '$end')")).checksum === Answer
        .of(between)
        .checksum
    )
    assert(
      intercept[InvalidOption](sql("SELECT * FROM hudiidx_changes('db.trips')")).getMessage.contains("begin is needed")
    )
    assert(
      intercept[InvalidOption](sql("SELECT * FROM hudiidx_prune('db.trips', rand())")).getMessage
        .contains("not a constant")
    )
  }

  test("a CALL that does not fit is refused and says how") {
    def refused(text: String): String = intercept[Exception](sql(text)) match {
      case e: InvalidOption     => e.getMessage
      case e: AnalysisException => Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null).mkString(" ")
      case other                => throw other
    }
    // Spark 4 looks at arguments itself, with errors of its own for them.
    val own = org.apache.spark.SPARK_VERSION.startsWith("3.")
    def says(text: String, ours: String, sparks: String): Unit =
      assert(refused(text).contains(if (own) ours else sparks), text)
    assert(refused("CALL system.nothing('t')").contains("create_index"))
    says("CALL system.lookup(table => 'db.trips')", "keys is needed", "named `keys` is required")
    says("CALL system.lookup(table => 'db.trips', keys => 'a', how => 'b')", "it has no parameter how", "named `how`")
    says("CALL system.lookup('db.trips', 'a', 'b', 'c')", "4 arguments", "actual number is 4")
    says("CALL system.lookup('db.trips', table => 'db.trips', keys => 'a')", "table twice", "parameter name `table`")
    if (own) assert(refused("CALL system.verify('db.trips', record => 'yes')").contains("true or false"))
    Vector("db.none", "other.db.trips").foreach { name =>
      assert(refused(s"CALL system.update_index('$name')").contains("not a Hudi table"), name)
    }
    if (own) intercept[ParseException](sql("CALL other.lookup('t')"))
    else assert(refused("CALL other.lookup('t')").contains("unknown procedure"))
  }

  test("a delegate that is not there is refused") {
    val catalog = new HudiIdxCatalog
    val options = Map("delegate" -> "no.such.Catalog").asJava
    catalog.initialize("spark_catalog", new org.apache.spark.sql.util.CaseInsensitiveStringMap(options))
    val behind = session.sessionState.catalogManager.currentCatalog
    assert(intercept[InvalidOption](catalog.setDelegateCatalog(behind)).getMessage.contains("no.such.Catalog"))
  }

  test("CALL system.compact_table merges logs into base files") {
    val path = Fixtures.copy("v9-no-mdt-mor")
    val before = Answer.of(read(path)).rows
    val planned = sql(s"CALL system.compact_table(table => '$path', op => 'schedule')").collect()
    assert(planned.length === 1 && planned.head.isNullAt(1))
    val done = sql(s"CALL system.compact_table('$path')").collect()
    assert(done.map(_.getString(0)) === planned.map(_.getString(0)) && done.head.getLong(2) > 0)
    assert(Answer.of(read(path, "hoodie.datasource.query.type" -> "read_optimized")).rows === before)
    assert(sql(s"CALL system.compact_table('$path')").count() === 0)
  }
}
