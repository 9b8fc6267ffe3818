"""The record index while a table is written: steady.py TABLE FACTS OUT BUNDLE [COMMITS].

Stock Hudi 1.1.1 (its bundle for Spark 3.5 is BUNDLE) upserts batches of 50,000 rows, one in ten of them an insert, into a copy of
a key table (data files as links) and keeps its own record index in its metadata table; hudiidx is brought up behind each commit.
Local[2]. Sizes of both are taken before the first commit and behind the last: the files that the newest version of an index needs,
and all that lie in its folder.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import re
import shutil
from typing import Any

from key_batches import upsert_rows
from pyspark.sql import SparkSession
from records import Report, millis, record_bytes

from hudiidx import HudiIndex, configure_spark

ROWS = 50_000
STOCK = "Hudi 1.1.1 record index"
INDEX_FILE = re.compile(r"\.?(?P<group>[^_]+)_(?:\S+_)?(?P<instant>\d{17,20})(?P<kind>\.hfile|\.log\.\S+)$")


def copy_of(table: pathlib.Path) -> pathlib.Path:
    copy = table.with_name(table.name + "-steady")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(table, copy, copy_function=os.link, ignore=shutil.ignore_patterns(".hoodie"))
    shutil.copytree(table / ".hoodie", copy / ".hoodie", ignore=shutil.ignore_patterns("metadata", "hudiidx"))
    return copy


def upsert(spark: SparkSession, table: pathlib.Path, facts: dict[str, Any], salt: int) -> None:
    fields = facts["key_fields"]
    generator = "SimpleKeyGenerator" if len(fields) == 1 else "ComplexKeyGenerator"
    options = {
        "hoodie.table.name": facts["shape"],
        "hoodie.datasource.write.recordkey.field": ",".join(fields),
        "hoodie.datasource.write.partitionpath.field": "part",
        "hoodie.datasource.write.keygenerator.class": f"org.apache.hudi.keygen.{generator}",
        "hoodie.datasource.write.precombine.field": "ts",
        "hoodie.datasource.write.operation": "upsert",
        "hoodie.index.type": "RECORD_INDEX",
        "hoodie.metadata.enable": "true",
        "hoodie.metadata.global.record.level.index.enable": "true",
        "hoodie.metadata.index.column.stats.enable": "false",
        "hoodie.metadata.index.partition.stats.enable": "false",
        "hoodie.write.markers.type": "direct",
        "hoodie.embed.timeline.server": "false",
        "hoodie.upsert.shuffle.parallelism": "4",
    }
    rows = upsert_rows(spark, facts, ROWS, salt)
    rows.write.format("hudi").options(**options).mode("append").save(str(table))


def stock_bytes(table: pathlib.Path) -> tuple[int, int]:
    """Of the newest file slices of stock's record index, and of all files in its folder."""
    files = [f for f in (table / ".hoodie" / "metadata" / "record_index").iterdir() if not f.name.endswith(".crc")]
    matched = [(m, f.stat().st_size) for f in files if (m := INDEX_FILE.match(f.name))]
    bases: dict[str, str] = {}
    for m, _ in matched:
        if m["kind"] == ".hfile":
            bases[m["group"]] = max(m["instant"], bases.get(m["group"], ""))
    newest = sum(
        size
        for m, size in matched
        if (m["instant"] == bases.get(m["group"]) if m["kind"] == ".hfile" else m["instant"] > bases.get(m["group"], ""))
    )
    return newest, sum(f.stat().st_size for f in files)


def our_bytes(table: pathlib.Path) -> tuple[int, int]:
    folder = table / ".hoodie" / "hudiidx"
    kept = sum(f.stat().st_size for f in folder.iterdir() if f.is_file() and "record_" in f.name.rpartition(".")[2])
    return record_bytes(table), kept


def sizes(report: Report, table: pathlib.Path, state: str, mappings: int) -> None:
    for system, (newest, kept) in (("hudiidx", our_bytes(table)), (STOCK, stock_bytes(table))):
        report.add("bytes a mapping", state, [newest / mappings], "bytes", system)
        report.add("bytes a mapping on disk", state, [kept / mappings], "bytes", system)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=pathlib.Path)
    parser.add_argument("facts", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("bundle", help="jar of stock Hudi 1.1.1 for Spark 3.5")
    parser.add_argument("commits", type=int, nargs="?", default=50)
    args = parser.parse_args()
    facts = json.loads(args.facts.read_text())
    builder = configure_spark(
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "3g")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
        .config("spark.kryo.registrator", "org.apache.spark.HoodieSparkKryoRegistrar")
    )
    jars = ",".join(filter(None, [builder._options.get("spark.jars"), args.bundle]))
    spark = builder.config("spark.jars", jars).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    report = Report(args.out, facts["shape"])
    table = copy_of(args.table)
    index = HudiIndex(spark, table, strict=True)
    upsert(spark, table, facts, 0)  # makes stock's record index
    report.add("create", "beside stock's writer", [millis(lambda: index.create(record="global"))])
    inserts = ROWS // 10
    sizes(report, table, "created", facts["rows"] + inserts)
    writes, updates = [], []
    for commit in range(1, args.commits + 1):
        writes.append(millis(lambda salt=commit: upsert(spark, table, facts, salt)))
        updates.append(millis(index.update))
        ours, stocks = our_bytes(table)[0], stock_bytes(table)[0]
        print(
            f"{commit}: upsert {writes[-1]:.0f} ms, our update {updates[-1]:.0f} ms, {ours:,} bytes, stock's {stocks:,}",
            flush=True,
        )
    report.add("upsert 50000 rows", "with its record index", writes[1:], system=STOCK)
    report.add("update 50000 rows", "steady", updates[1:])
    sizes(report, table, f"{args.commits} upserts", facts["rows"] + inserts * (args.commits + 1))
    found = index.verify(record=True)
    if not found.ok:
        raise SystemExit(f"{table}: the record index differs from the table: {found}")
    shutil.rmtree(table)
    spark.stop()


if __name__ == "__main__":
    main()
