"""Calls of Spark's own that fail in hudiidx: what each raises, as JSON. For `test_raised.py`.

Usage: raised.py before|after URL JAR FOLDER; hudiidx is imported before PySpark or after it, and nothing else
of it is called; a URL that begins with sc:// is a server of Spark Connect.
"""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

when, url, jar, folder = sys.argv[1:]
if when == "before":
    import hudiidx
from pyspark.sql import SparkSession  # noqa: E402

if url.startswith("sc://"):
    spark = SparkSession.builder.remote(url).getOrCreate()
else:
    builder = (
        SparkSession.builder.master(url)
        .config("spark.driver.extraClassPath", jar)
        .config("spark.ui.enabled", "false")
    )
    builder = builder.config("spark.sql.extensions", "hudiidx.spark.HudiIdxExtensions").config(
        "spark.driver.memory", "1g"
    )
    spark = builder.config("spark.sql.catalog.hudiidx", "hudiidx.spark.HudiIdxCatalog").getOrCreate()
if when == "after":
    import hudiidx  # noqa: F401

table = f"{folder}/t"
OPTIONS = {
    "hoodie.table.name": "t",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.precombine.field": "n",
}
NAME = f"hudiidx.`{table}`"
WRONG = "hudiidx.write.global"


def save(**more: str) -> None:
    """Upserts ten rows."""
    rows = spark.range(10).selectExpr("id", "id AS n")
    rows.write.format("hudiidx").options(**OPTIONS, **more).mode("append").save(table)


def stream() -> None:
    """A stream whose batches cannot be written."""
    spark.range(3).selectExpr("id", "id AS n").write.mode("overwrite").parquet(f"{folder}/rows")
    rows = spark.readStream.schema("id long, n long").parquet(f"{folder}/rows")
    written = rows.writeStream.format("hudiidx").options(**OPTIONS, **{WRONG: "perhaps"})
    written.option("checkpointLocation", f"{folder}/point").trigger(availableNow=True).start(
        table
    ).awaitTermination()


def wrong(sql: str) -> Callable[[], Any]:
    """The statement, under a setting that writes refuse."""

    def run() -> None:
        spark.conf.set(WRONG, "perhaps")
        try:
            spark.sql(sql).collect()
        finally:
            spark.conf.unset(WRONG)

    return run


def damaged() -> None:
    """A read whose tasks meet a file that is none."""
    for file in Path(table).glob("*.parquet"):
        file.write_bytes(b"PAR1" + bytes(file.stat().st_size - 8) + b"PAR1")
    spark.read.format("hudiidx").load(table).selectExpr("sum(n)").collect()


def refused(call: Callable[[], Any]) -> Callable[[], Any]:
    """The call, where the store takes no file that a write begins with."""

    def run() -> None:
        beats = Path(table, ".hoodie", ".heartbeat")
        shutil.rmtree(beats, ignore_errors=True)
        beats.write_text("a file where a folder is wanted")
        try:
            call()
        finally:
            beats.unlink()

    return run


save()
CALLS: dict[str, Callable[[], Any]] = {
    "save": lambda: save(**{WRONG: "perhaps"}),
    "read": lambda: spark.read.format("hudiidx").load(f"{folder}/none").collect(),
    "insert": wrong(f"INSERT INTO {NAME} SELECT 1, 2"),
    "update": wrong(f"UPDATE {NAME} SET n = 3 WHERE id = 1"),
    "delete": wrong(f"DELETE FROM {NAME} WHERE id = 1"),
    "merge": wrong(
        f"MERGE INTO {NAME} t USING (SELECT 7L AS id, 9L AS n) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET *"
    ),
    "stream": stream,
    "refused": refused(save),
    "refused statement": refused(lambda: spark.sql(f"DELETE FROM {NAME} WHERE id = 1")),
    "task": damaged,
    "spark": lambda: spark.sql("SELECT nothing FROM nowhere").collect(),
}
found = {}
for name, call in CALLS.items():
    try:
        call()
        found[name] = "nothing", ""
    except Exception as e:
        found[name] = f"{type(e).__module__}.{type(e).__name__}", str(e)
print(json.dumps(found))
spark.stop()
