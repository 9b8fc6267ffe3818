"""Tags keys on a small cluster while one of its executors dies and slow tasks run twice; see test_tag.py.

Usage: tag_cluster.py TABLE. Prints one JSON document: the locations found in each run.
"""

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession

from hudiidx import HudiIndex, configure_spark

PARTS = 12
SLOW_PART = 3


def slowly(rows: Iterator[str]) -> Iterator[tuple[str]]:
    """Takes its time, and in the first attempt of one task so much that Spark runs it twice."""
    task = TaskContext.get()
    first_of_slow = task is not None and task.partitionId() == SLOW_PART and task.attemptNumber() == 0
    time.sleep(6 if first_of_slow else 0.3)
    for row in rows:
        yield (row,)


def executors(application: str) -> list[int]:
    """Processes of the application's executors, by what the kernel knows."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().decode().split("\0")
        except (OSError, UnicodeDecodeError):
            continue
        if (
            application in words
            and any("CoarseGrainedExecutorBackend" in w for w in words)
            and "java" in words[0]
        ):
            found.append(int(entry.name))
    return found


def kill_one(application: str) -> None:
    os.kill(min(executors(application)), signal.SIGKILL)


def tag(spark: SparkSession, table: str, keys: list[str], strategy: str) -> DataFrame:
    frame = spark.createDataFrame(
        spark.sparkContext.parallelize(keys, PARTS).mapPartitions(slowly), "key string"
    )
    options = {"hudiidx.tag.strategy": strategy}
    return HudiIndex(spark, table, strict=True, **options).tag_location(frame, "key")


def main(table: str, keys: list[str]) -> None:
    builder = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.executor.memory", "1g")
        .config("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
        .config("spark.speculation", "true")
        .config("spark.speculation.interval", "100ms")
        .config("spark.speculation.multiplier", "1.2")
        .config("spark.speculation.quantile", "0.3")
        .config("spark.sql.shuffle.partitions", "4")
    )
    spark = configure_spark(builder).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    application = spark.sparkContext.applicationId
    answers = {}
    for strategy in ("direct", "shuffle"):
        killer = threading.Timer(2.0, kill_one, [application])
        killer.start()
        rows = tag(spark, table, keys, strategy).collect()
        killer.join()
        answers[strategy] = sorted([r.key, r.partition_path, r.file_id] for r in rows if r.file_id)
        answers[strategy + " absent"] = sorted(r.key for r in rows if not r.file_id)
    print(json.dumps(answers))
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.stdin.read()))
