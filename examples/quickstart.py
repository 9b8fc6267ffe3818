"""Indexes a small Hudi table, lists it and reads it; says what it does on the way."""

import re
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pyspark.sql import SparkSession

from hudiidx import HudiIndex, configure_spark

T = TypeVar("T")
QUIET = Path(__file__).with_name("log4j2.properties")
WHERE = "city = 'sf' and fare > 500"


def timed(title: str, work: Callable[[], T]) -> T:
    """Does the work and prints how long it took."""
    start = time.perf_counter()
    result = work()
    print(f"  {title:<58} {time.perf_counter() - start:8.3f} s", flush=True)
    return result


def start_spark() -> SparkSession:
    """A small local session with hudiidx's jar, and quiet."""
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.extraJavaOptions", f"-Dlog4j2.configurationFile=file:{QUIET}")
    )
    return configure_spark(builder).getOrCreate()


def list_table(index: HudiIndex) -> None:
    """Partitions, and the file slices of one."""
    partitions = timed("list partitions", index.partitions)
    slices = timed("list the latest file slices of 'sf'", lambda: index.latest_file_slices("sf"))
    print(f"\n  The table has {len(partitions)} partitions: {', '.join(partitions)}.")
    for s in slices:
        print(f"  In 'sf' the newest data of file group {s.file_id[:8]}... were written at instant")
        print(f"  {s.base_instant_time}: {s.base_file.file_name if s.base_file else 'log files only'}\n")


def read_table(spark: SparkSession, index: HudiIndex) -> None:
    """Rows of one partition; says how many files were left out."""
    frame = spark.read.format("hudiidx").load(index.path).where(WHERE)
    rows = timed(f"read rows where {WHERE}", lambda: frame.select("id", "rider", "fare").collect())
    told = index.explain(frame)
    partitions_read, partitions = kept("partitions", told)
    files_read, files = kept("files", told)
    print(
        f"\n  {len(rows)} rows. Of {partitions} partitions {partitions_read} was read; of {files} data files"
    )
    print(f"  {files_read} was read and {files - files_read} were skipped, those of other partitions.")
    for row in rows[:3]:
        print(f"    {row.id}  {row.rider:<9} {row.fare:8.2f}")


def kept(what: str, told: str) -> tuple[int, int]:
    """How many were left, of how many, as `HudiIndex.explain` tells it."""
    said = re.search(rf"{what}: (\d+) of (\d+)", told)
    if said is None:
        raise RuntimeError(f"explain does not say what the index did with {what}: {told}")
    return int(said[1]), int(said[2])


def main() -> None:
    """The whole tour, in a temporary folder that is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="hudiidx-quickstart-") as folder:
        print("\nhudiidx quickstart\n")
        print("  A table of trips, written by Apache Hudi 1.1.1, is unpacked from examples/trips.zip.\n")
        with zipfile.ZipFile(Path(__file__).with_name("trips.zip")) as z:
            z.extractall(folder)
        spark = timed("start Spark", start_spark)
        index = HudiIndex(spark, Path(folder) / "trips")
        done = timed("create the index, in trips/.hoodie/hudiidx/", index.create)
        print(f"\n  The index knows {done['files']} files in {done['partitions']} partitions.\n")
        list_table(index)
        read_table(spark, index)
        report = timed("verify the index against the table", index.verify)
        print(f"\n  Index and table {'agree' if report.ok else 'DIFFER: ' + str(report.differences)}.")
        print("\nNext: .venv/bin/hudiidx --help, or docs/python.md.\n")
        spark.stop()


if __name__ == "__main__":
    main()
