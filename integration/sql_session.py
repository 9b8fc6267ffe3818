"""A Spark session with Hudi's SQL and ours: sql_session.py EXTENSIONS WAREHOUSE HUDI_JAR.

Prints what each step answers as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession

from hudiidx import configure_spark


def overwritten(spark: SparkSession, version: str, path: str) -> dict[str, object]:
    """A table of ours that is overwritten with rows that stock's own relation reads of it meanwhile."""
    options = {
        "hoodie.table.name": "t",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "city",
        "hoodie.datasource.write.precombine.field": "ts",
        "hoodie.write.table.version": version,
        "hudiidx.write.create": "true",
    }

    def save(rows: DataFrame, mode: str) -> None:
        rows.write.format("hudiidx").options(**options).mode(mode).save(path)

    def read(name: str) -> list[list[object]]:
        found = spark.read.format(name).load(path).select("id", "fare", "city").collect()
        return sorted(map(list, found), key=str)

    values = (
        "VALUES (1, 1.5D, 1L, 'oslo'), (2, 2.5D, 1L, 'oslo'), (3, 3.5D, 1L, 'lima') AS v(id, fare, ts, city)"
    )
    save(spark.sql(f"SELECT * FROM {values}"), "append")
    save(
        spark.sql(f"SELECT * FROM {values} WHERE id > 1").selectExpr("id", "fare * 2 fare", "2L ts", "city"),
        "append",
    )
    own = spark.read.format("hudi").load(path)
    save(own.withColumn("fare", own.fare + 10).where("id != 1"), "overwrite")
    out: dict[str, object] = {"rows": read("hudiidx")}
    failing = (
        spark.read.format("hudi")
        .load(path)
        .selectExpr("id", "if(id = 3, raise_error('no fare'), fare) fare", "ts", "city")
    )
    try:
        save(failing, "overwrite")
    except Py4JJavaError as e:
        out["a failed one"] = "no fare" in str(e)
    out["rows behind it"] = read("hudiidx")
    out["by hudi's own reader"] = read("hudi")
    return out


def main(extensions: str, warehouse: str, jar: str) -> None:
    builder = SparkSession.builder.master("local[2]").config("spark.jars", jar)
    builder = builder.config("spark.driver.extraClassPath", jar)
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.driver.memory": "1g",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": warehouse,
        "spark.sql.extensions": extensions,
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
        "spark.sql.catalog.spark_catalog": "hudiidx.spark.HudiIdxCatalog",
        "spark.sql.catalog.spark_catalog.delegate": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
        "spark.sql.catalog.hudiidx": "hudiidx.spark.HudiIdxCatalog",
        "hoodie.embed.timeline.server": "false",
    }.items():
        builder = builder.config(key, value)
    spark = configure_spark(builder).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    out: dict[str, object] = {}

    def rows(text: str) -> list[list[object]]:
        return sorted([list(r) for r in spark.sql(text).collect()], key=str)

    def is_ours(text: str) -> bool:
        return "hudiidx" in spark.sql("EXPLAIN " + text).head()[0].lower()

    stock_path = f"{warehouse}/db.db/trips"
    spark.sql("CREATE DATABASE db")
    spark.sql(
        "CREATE TABLE db.trips (id INT, fare DOUBLE, ts BIGINT, city STRING) USING hudi "
        "PARTITIONED BY (city) TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts', type = 'mor')"
    )
    spark.sql("INSERT INTO db.trips VALUES (1, 1.5, 1, 'oslo'), (2, 2.5, 1, 'oslo'), (3, 3.5, 1, 'lima')")
    select = "SELECT id, fare, city FROM db.trips"
    out["inserted"] = rows(select)
    first = rows("SELECT max(_hoodie_commit_time) FROM db.trips")[0][0]
    out["read by hudiidx"] = is_ours(select)
    spark.sql("UPDATE db.trips SET fare = fare * 2 WHERE id = 2")
    spark.sql("DELETE FROM db.trips WHERE id = 1")
    spark.sql(
        "MERGE INTO db.trips t USING (SELECT 3 AS id, 9.5D AS fare, 5L AS ts, 'lima' AS city UNION ALL "
        "SELECT 4, 4.5D, 5L, 'nyc') s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * "
        "WHEN NOT MATCHED THEN INSERT *"
    )
    out["changed"] = rows(select)
    out["of hudi's own reader"] = sorted(
        [list(r) for r in spark.read.format("hudi").load(stock_path).select("id", "fare", "city").collect()],
        key=str,
    )
    named = ("db.trips", f"hudiidx.`{stock_path}`")
    out["as it was"] = [rows(f"SELECT id, fare, city FROM {t} VERSION AS OF '{first}' t") for t in named]
    out["as of a moment"] = [
        rows(f"SELECT id, fare, city FROM {t} TIMESTAMP AS OF current_timestamp()") for t in named
    ]
    spark.sql("ALTER TABLE db.trips ADD COLUMNS (tip DOUBLE)")
    spark.sql(
        "INSERT INTO db.trips SELECT id + 10, fare, ts, 1.0D AS tip, city FROM db.trips WHERE city = 'nyc'"
    )
    out["with a column more"] = rows("SELECT id, tip FROM db.trips")
    out["partitions"] = rows("SHOW PARTITIONS db.trips")
    spark.sql(
        "CREATE TABLE db.copied USING hudi TBLPROPERTIES (primaryKey = 'id') AS SELECT id, fare FROM db.trips"
    )
    out["copied"] = rows("SELECT id, fare FROM db.copied")
    out["provider"] = [r[1] for r in rows("DESCRIBE EXTENDED db.trips") if r[0] == "Provider"]
    out["files"] = len(rows("SELECT * FROM db.trips.files"))
    out["created"] = spark.sql("CALL system.create_index(table => 'db.trips', record => 'global')").head()[
        "published"
    ]
    out["looked up"] = [r[:2] for r in rows("CALL system.lookup('db.trips', array('4', '99'))")]
    out["verified"] = rows("CALL spark_catalog.system.verify(table => 'db.trips', record => true)")[0][0]
    out["hudi's commits"] = len(rows("CALL show_commits(table => 'db.trips', limit => 10)")) > 0
    for version in ("6", "9"):
        out[f"overwritten, version {version}"] = overwritten(spark, version, f"{warehouse}/t{version}")
    spark.sql("DROP TABLE db.copied")
    out["tables"] = [r[1] for r in rows("SHOW TABLES IN db")]
    spark.stop()
    print(json.dumps(out))


if __name__ == "__main__":
    assert Path(sys.argv[3]).exists(), f"{sys.argv[3]}: missing; run `make bundles`"
    main(*sys.argv[1:])
