"""How making a record index and tagging get faster with executors: executors.py TABLE ROWS [ROUNDS].

TABLE is a table of `make bench` (its keys are UUIDs of 0 to ROWS - 1). One executor and two, each of one core and a process of its own, by
turns; the index lies in a folder of its own beside the table. Prints one table.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

WARM = 3
CREATE, TAG = "record index made", "1,000,000 keys tagged"


def main(table: str, rows: int, rounds: int) -> None:
    """One process for each number of executors and round."""
    found: dict[tuple[str, int], list[float]] = {}
    for _ in range(rounds):
        for executors in (1, 2):
            command = [sys.executable, __file__, "--one", table, str(rows), str(executors)]
            said = json.loads(subprocess.check_output(command, text=True).splitlines()[-1])
            for what, seconds in said.items():
                found.setdefault((what, executors), []).append(seconds)
    print("| seconds | 1 executor | 2 executors | faster |\n|---|--:|--:|--:|")
    for what in (CREATE, TAG):
        one, two = (found[what, n] for n in (1, 2))
        ratio = statistics.median(one) / statistics.median(two)
        cells = [f"{statistics.median(s):.2f} ({min(s):.2f})" for s in (one, two)]
        print(f"| {what} | {' | '.join(cells)} | {ratio:.2f} |")


def one(table: str, rows: int, executors: int) -> None:
    """Seconds of each operation, in a session on so many executors."""
    from bench.data import Data
    from hudiidx import HudiIndex, configure_spark
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(f"local-cluster[{executors},1,2048]")
    settings = {
        "spark.ui.enabled": "false",
        "spark.executor.memory": "1600m",
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

    timed(CREATE, lambda: index.create(record="global"))
    data = Data(Path("unused"), rows=rows, batch=1_000_000, files=4)
    keys = data.batch_rows(spark, 1).select("key").cache()
    keys.count()
    tagged = "count(file_id)", "sum(hash(file_id))"
    timed(TAG, lambda: index.tag_location(keys, key="key").selectExpr(*tagged).collect())
    shutil.rmtree(folder)
    print(json.dumps(seconds), flush=True)
    spark.stop()


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        one(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 5)
