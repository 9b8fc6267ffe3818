"""Creation and planning as a user of Spark sees them: planning.py TABLE FACTS OUT [--create SOURCE,...].

Makes the index of a generated table through `HudiIndex`, with Spark tasks on local[2], once from each source; then
plans `load(table).where(day = one partition)` for many partitions. "ours" is what hudiidx spent, as the plan says it;
"load" and "where" are whole calls, Spark's analysis and optimisation included.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import re
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from pyspark.sql import SparkSession

from hudiidx import HudiIndex, configure_spark

PLANNED = re.compile(r"partitions (\d+) of (\d+).*?planned in (\d+) ms")
REPEATS = 20


class Report:
    """One JSON object a line, as the other benchmarks write them."""

    def __init__(self, out: pathlib.Path, table: str) -> None:
        self.out, self.table = out, table

    def add(self, what: str, state: str, millis: list[float]) -> None:
        figure = {
            "table": self.table,
            "system": "hudiidx",
            "what": what,
            "where": "table",
            "state": state,
            "value": median(millis),
            "best": min(millis),
            "unit": "ms",
            "repeats": len(millis),
        }
        line = json.dumps(figure)
        print(line)
        with self.out.open("a") as out:
            out.write(line + "\n")


def millis(call: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    answer = call()
    return (time.perf_counter() - started) * 1000, answer


def create(spark: SparkSession, table: str, source: str, report: Report) -> None:
    index = HudiIndex(spark, table, source=source, strict=True)
    index.drop()
    taken, _ = millis(index.create)
    report.add(f"create from {source}, Spark", "", [taken])


def plan(spark: SparkSession, table: str, days: list[str], report: Report) -> None:
    ours, load, where = [], [], []
    for day in days:
        load_millis, frame = millis(lambda: spark.read.format("hudiidx").load(table))
        where_millis, text = millis(
            lambda day=day, frame=frame: frame.where(f"day = '{day}'")._jdf.queryExecution().executedPlan().toString()
        )
        found = PLANNED.search(text)
        if found is None or found.group(1) != "1":
            raise SystemExit(f"{table}: the plan of day = {day} does not say that one partition is kept: {text}")
        ours.append(float(found.group(3)))
        load.append(load_millis)
        where.append(where_millis)
    report.add("planning, one partition", "first in session", ours[:1])
    report.add("planning, one partition", "ours", ours[1:])
    report.add("planning, one partition", "load() in all", load[1:])
    report.add("planning, one partition", "where() to physical plan in all", where[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table")
    parser.add_argument("facts", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--create", default="", help="listing, metadata or both with a comma; default: keep the index")
    args = parser.parse_args()
    facts = json.loads(args.facts.read_text())
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "1g").config("spark.ui.enabled", "false")
    spark = configure_spark(builder).getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    report = Report(args.out, facts["shape"])
    for source in filter(None, args.create.split(",")):
        create(spark, args.table, source, report)
    days = [p["path"] for p in facts["average_partitions"]]
    plan(spark, args.table, (days * REPEATS)[: REPEATS + 1], report)
    spark.stop()


if __name__ == "__main__":
    main()
