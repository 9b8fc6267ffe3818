"""Compaction by stock Hudi 1.1.1 and by hudiidx: compaction.py all DIR BUNDLE ROWS.

Stock makes a merge-on-read table of version 9 (ROWS rows of some 200 bytes in 8 partitions, three upserts of 20 % each into logs,
every tenth of these a delete) and plans its compaction. Copies of it are compacted by both, each in a JVM of its own with local[2] and
3 GiB; the first round of each warms up and is told apart. CPU seconds are those of the JVM: they tell the work apart from what else
the machine does. Rows of the compacted copies must be the same.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from hudiidx import HudiIndex, configure_spark

ROUNDS = 3
SUMS = "count(1), sum(xxhash64(_hoodie_record_key, _hoodie_commit_time, ts, fare, note))"
WRITE = {
    "hoodie.table.name": "compaction",
    "hoodie.datasource.write.table.type": "MERGE_ON_READ",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.partitionpath.field": "part",
    "hoodie.datasource.write.precombine.field": "ts",
    "hoodie.metadata.enable": "false",
    "hoodie.compact.inline": "false",
    "hoodie.bulkinsert.shuffle.parallelism": "8",
    "hoodie.embed.timeline.server": "false",
    "hoodie.write.markers.type": "direct",
}


def session(bundle: str | None) -> SparkSession:
    builder = (
        SparkSession.builder.master("local[2]").appName("compaction").config("spark.ui.enabled", "false")
    )
    builder = builder.config("spark.driver.memory", "3g").config("spark.sql.shuffle.partitions", "8")
    if bundle is None:
        made = configure_spark(builder).getOrCreate()
    else:
        made = (
            builder.config("spark.jars", bundle)
            .config("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
            .config("spark.kryo.registrator", "org.apache.spark.HoodieSparkKryoRegistrar")
            .config("spark.sql.extensions", "org.apache.spark.sql.hudi.HoodieSparkSessionExtension")
            .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.hudi.catalog.HoodieCatalog")
            .getOrCreate()
        )
    made.sparkContext.setLogLevel("ERROR")
    return made


def make(table: Path, bundle: str, rows: int) -> None:
    spark = session(bundle)

    def write(first: int, step: int, when: int, operation: str) -> None:
        frame = spark.range(first, rows, step).selectExpr(
            "concat(md5(cast(id as string)), '-', id) as id",
            "concat('p', id % 8) as part",
            f"id + {when} * 1000000 as ts",
            f"rand({when}) * 100 as fare",
            f"concat(sha2(concat(id, {when}), 256), sha1(cast(id as string))) as note",
            f"{when} > 0 and (id div {step}) % 10 = 0 as _hoodie_is_deleted",
        )
        options = {**WRITE, "hoodie.datasource.write.operation": operation}
        frame.write.format("hudi").options(**options).mode("append").save(str(table))

    write(0, 1, 0, "bulk_insert")
    for n in (1, 2, 3):
        write(n, 5, n, "upsert")
    spark.sql(
        f"call run_compaction(op => 'schedule', path => '{table}', "
        "options => 'hoodie.compact.inline.max.delta.commits=1,hoodie.metadata.enable=false')"
    ).collect()
    spark.stop()


def cpu_seconds(spark: SparkSession) -> float:
    """That the session's JVM has had so far."""
    spent = Path(f"/proc/{spark.sparkContext._gateway.proc.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(spent[11]) + int(spent[12])) / os.sysconf("SC_CLK_TCK")


def compact(spark: SparkSession, who: str, table: Path) -> tuple[float, float]:
    """Seconds, and CPU seconds of the JVM."""
    began, worked = time.perf_counter(), cpu_seconds(spark)
    if who == "hudiidx":
        HudiIndex(spark, table).compact_table(op="execute")
    else:
        spark.sql(
            f"call run_compaction(op => 'run', path => '{table}', options => 'hoodie.metadata.enable=false')"
        ).collect()
    return time.perf_counter() - began, cpu_seconds(spark) - worked


def rounds(who: str, table: Path, bundle: str) -> None:
    """Compacts copies, one after the other, and prints seconds and the rows' sums."""
    spark = session(None if who == "hudiidx" else bundle)
    seconds: list[tuple[float, float]] = []
    sums: Any = None
    for n in range(ROUNDS):
        copy = table.with_name(f"{table.name}-{who.split()[0]}-{n}")
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(table, copy)
        seconds.append(compact(spark, who, copy))
        frame = spark.read.format("hudiidx" if who == "hudiidx" else "hudi").load(str(copy))
        sums = [str(v) for v in frame.selectExpr(*SUMS.split(", ", 1)).first()]
        shutil.rmtree(copy)
    print("figures " + json.dumps({"who": who, "seconds": seconds, "sums": sums}), flush=True)
    spark.stop()


def size(files: list[Path]) -> int:
    return sum(f.stat().st_size for f in files)


def main() -> None:
    what, where, bundle, rows = sys.argv[1:5]
    folder = Path(where)
    table = folder / f"compaction-{rows}"
    if what == "make":
        make(table, bundle, int(rows))
    elif what != "all":
        rounds(what, table, bundle)
    else:
        tell(folder, table, bundle, rows)


def tell(folder: Path, table: Path, bundle: str, rows: str) -> None:
    def run(what: str) -> list[str]:
        command = [sys.executable, __file__, what, str(folder), bundle, rows]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()

    if not table.exists():
        run("make")
    bases, logs = list(table.glob("*/*.parquet")), list(table.glob("*/.*.log.*"))
    logs = [f for f in logs if not f.name.endswith(".crc")]
    found = [
        json.loads(line[8:])
        for who in ("Hudi 1.1.1", "hudiidx")
        for line in run(who)
        if line.startswith("figures ")
    ]
    stock, ours = found
    if stock["sums"] != ours["sums"]:
        raise SystemExit(f"rows differ: {stock['sums']} and {ours['sums']}")
    megabytes = (size(bases) + size(logs)) / 1e6
    print(
        f"{int(rows):,} rows in {len(bases)} base files of {size(bases) / 1e6:.0f} MB, logs of {size(logs) / 1e6:.0f} MB"
    )
    print("| compaction | first, s | then, s | MB/s | CPU s | MB a CPU s |\n|---|---|---|---|---|---|")
    with (folder / "results" / "compaction.jsonl").open("a") as out:
        for one in found:
            wall, cpu = (statistics.median(s[i] for s in one["seconds"][1:]) for i in (0, 1))
            print(
                f"| {one['who']} | {one['seconds'][0][0]:.1f} | {wall:.1f} | {megabytes / wall:.1f} | {cpu:.1f} | "
                f"{megabytes / cpu:.1f} |"
            )
            out.write(
                json.dumps({**one, "rows": int(rows), "megabytes": megabytes, "cpus": os.cpu_count()}) + "\n"
            )


if __name__ == "__main__":
    main()
