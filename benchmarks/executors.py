"""How making a record index and tagging get faster with executors: executors.py TABLE ROWS [ROUNDS].

TABLE is a table of `make bench` (its keys are UUIDs of 0 to ROWS - 1). One, two and four executors by turns, each a process of its own that
gets a fourth of a core by a cgroup: so each is a slow machine, and the driver has a core left. The index lies in a folder of its own beside
the table. Needs root on Linux. The table is a section of RESULTS.md.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests")]

EXECUTORS = (1, 2, 4)
SHARE = 0.25  # of a core, that an executor has
PERIOD = 100_000  # microseconds
WARM = 3
CREATE, TAG = "record index made", "1,000,000 keys tagged"


def main(table: str, rows: int, rounds: int) -> None:
    """One process for each number of executors and round."""
    found: dict[tuple[str, int], list[float]] = {}
    for _ in range(rounds):
        for executors in EXECUTORS:
            command = [sys.executable, __file__, "--one", table, str(rows), str(executors)]
            said = json.loads(subprocess.check_output(command, text=True).splitlines()[-1])
            for what, seconds in said.items():
                found.setdefault((what, executors), []).append(seconds)
    from results_page import PAGE, made, replace_sections

    rows_of_table = [f"| {what} | " + " | ".join(cell(found, what, n) for n in EXECUTORS) + " |" for what in (CREATE, TAG)]
    text = "\n".join(
        [
            "## Executors",
            "",
            f"A table of {rows:,} UUID keys. Each executor has {SHARE:g} of a core, as a slow machine of its own; medians, how much faster than one.",
            "",
            "| seconds | " + " | ".join(str(n) for n in EXECUTORS) + " |",
            "|---|" + "--:|" * len(EXECUTORS),
            *rows_of_table,
            "",
            made(f"`benchmarks/executors.py TABLE {rows} {rounds}`"),
        ]
    )
    print(text)
    replace_sections(PAGE, [text])


def cell(found: dict[tuple[str, int], list[float]], what: str, executors: int) -> str:
    first, here = (statistics.median(found[what, n]) for n in (EXECUTORS[0], executors))
    return f"{here:.2f}" + ("" if executors == EXECUTORS[0] else f", {first / here:.1f} x")


@contextmanager
def on_slow_machines(application: str, executors: int) -> Iterator[None]:
    """Every executor of the application in a group of its own, until the block ends."""
    from small_cluster import executors as processes

    until = time.monotonic() + 60
    while len(found := processes(application)) < executors and time.monotonic() < until:
        time.sleep(0.2)
    assert len(found) == executors, f"{len(found)} executors of {executors}"
    groups = [group_of(pid) for pid in found]
    try:
        yield
    finally:
        for group, parent in groups:
            for pid in (group / "cgroup.procs").read_text().split():
                (parent / "cgroup.procs").write_text(pid)
            group.rmdir()


def group_of(pid: int) -> tuple[Path, Path]:
    """A group that gets SHARE of a core, with the process in it, and the group above."""
    top = Path("/sys/fs/cgroup")
    parent = top / "cpu" if (top / "cpu").is_dir() else top
    group = parent / f"hudiidx-executor-{pid}"
    group.mkdir()
    quota = int(SHARE * PERIOD)
    if parent == top:
        (group / "cpu.max").write_text(f"{quota} {PERIOD}")
    else:
        (group / "cpu.cfs_period_us").write_text(str(PERIOD))
        (group / "cpu.cfs_quota_us").write_text(str(quota))
    (group / "cgroup.procs").write_text(str(pid))
    return group, parent


def one(table: str, rows: int, executors: int) -> None:
    """Seconds of each operation, in a session on so many executors."""
    from bench.data import Data
    from hudiidx import HudiIndex, configure_spark
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(f"local-cluster[{executors},1,1536]")
    settings = {
        "spark.ui.enabled": "false",
        "spark.executor.memory": "1200m",
        "spark.sql.shuffle.partitions": "4",
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = configure_spark(builder).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    spark.range(0, 4_000_000, 1, 4).selectExpr("sum(hash(id))").collect()
    folder = Path(table).parent / f"index-of-{executors}"
    shutil.rmtree(folder, ignore_errors=True)
    index = HudiIndex(spark, table, index_path=str(folder))
    seconds: dict[str, float] = {}

    def timed(what: str, work: Any) -> None:
        """The last of some: executors have compiled what runs by then."""
        for _ in range(WARM + 1):
            start = time.monotonic()
            work()
            seconds[what] = time.monotonic() - start

    data = Data(Path("unused"), rows=rows, batch=1_000_000, files=4)
    keys = data.batch_rows(spark, 1).select("key").cache()
    keys.count()
    tagged = "count(file_id)", "sum(hash(file_id))"
    with on_slow_machines(spark.sparkContext.applicationId, executors):
        timed(CREATE, lambda: index.create(record="global"))
        timed(TAG, lambda: index.tag_location(keys, key="key").selectExpr(*tagged).collect())
    shutil.rmtree(folder)
    print(json.dumps(seconds), flush=True)
    spark.stop()


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        one(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 5)
