"""hudiidx's record index as a user of PySpark sees it: records.py TABLE FACTS OUT.

Makes the index of a key table with Spark tasks on local[2] (driver of 1 GiB), looks keys up, tags DataFrames.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from key_batches import batch
from pyspark.sql import SparkSession

from hudiidx import HudiIndex, configure_spark


class Report:
    """One JSON object a line, as the other benchmarks write them."""

    def __init__(self, out: pathlib.Path, table: str) -> None:
        self.out, self.table = out, table

    def add(
        self, what: str, state: str, values: list[float], unit: str = "ms", system: str = "hudiidx"
    ) -> None:
        figure = {
            "table": self.table,
            "system": system,
            "what": what,
            "where": "table",
            "state": state,
            "value": median(values),
            "best": min(values),
            "unit": unit,
            "repeats": len(values),
        }
        line = json.dumps(figure)
        print(line, flush=True)
        with self.out.open("a") as out:
            out.write(line + "\n")


def millis(call: Callable[[], Any]) -> float:
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1000


def record_bytes(table: pathlib.Path) -> int:
    """Bytes of the record index's files that the newest version names."""
    newest = max((table / ".hoodie" / "hudiidx" / "versions").glob("*.json"))
    files = json.loads(newest.read_text())["files"]
    return sum(f["size"] for f in files if f["kind"].startswith("record_"))


def create(spark: SparkSession, table: pathlib.Path, facts: dict[str, Any], report: Report) -> None:
    index = HudiIndex(spark, table)
    index.drop()
    report.add("create", "", [millis(lambda: index.create(record="global"))])
    report.add("bytes a mapping", "created", [record_bytes(table) / facts["rows"]], "bytes")


def look_up(spark: SparkSession, table: pathlib.Path, facts: dict[str, Any], report: Report) -> None:
    keys: list[str] = facts["existing"]
    cold = [millis(lambda i=i: HudiIndex(spark, table, strict=True).lookup([keys[i]])) for i in range(8)]
    report.add("open", "cold", cold[1:])
    index = HudiIndex(spark, table, strict=True)
    for n, name in ((1, "lookup 1 key"), (1000, "lookup 1000 keys"), (10000, "lookup 10000 keys")):
        times = []
        repeats = 600 if n == 1 else 60
        for i in range(repeats):
            asked = [keys[(i * 997 + k * 31) % len(keys)] for k in range(n)]
            times.append(millis(lambda asked=asked: index.lookup(asked)))
        report.add(name, "warm", times[repeats // 3 :])


def tag(spark: SparkSession, table: pathlib.Path, facts: dict[str, Any], report: Report) -> None:
    index = HudiIndex(spark, table, strict=True)
    for n in (1000, 100_000, 1_000_000):
        times = []
        for salt in range(5):
            keys = batch(spark, facts, n, salt).persist()  # as the peers' keys are
            keys.count()
            times.append(
                millis(lambda k=keys: index.tag_location(k, key="key").write.format("noop").mode("overwrite").save())
            )
            keys.unpersist()
        report.add(f"tag {n} keys", "warm", times[2:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=pathlib.Path)
    parser.add_argument("facts", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    args = parser.parse_args()
    facts = json.loads(args.facts.read_text())
    builder = configure_spark(
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "1g")
        .config("spark.ui.enabled", "false")
        .config("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
    )
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    report = Report(args.out, facts["shape"])
    create(spark, args.table, facts, report)
    look_up(spark, args.table, facts, report)
    tag(spark, args.table, facts, report)
    spark.stop()


if __name__ == "__main__":
    main()
