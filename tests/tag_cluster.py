"""Tags keys on a small cluster while one of its executors dies and slow tasks run twice; see test_tag.py.

Usage: tag_cluster.py TABLE WORK. Prints one JSON document: the locations found in each run, how many
executors died meanwhile (``killed``), and how many tasks ran twice (``twice``). WORK takes what the cluster
writes.
"""

import json
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession
from small_cluster import kill_one, small_cluster, tasks_run_twice

from hudiidx import HudiIndex

PARTS = 12
SLOW_PART = 3


def slowly(rows: Iterator[str]) -> Iterator[tuple[str]]:
    """Takes its time, and in the first attempt of one task so much that Spark runs it twice."""
    task = TaskContext.get()
    first_of_slow = task is not None and task.partitionId() == SLOW_PART and task.attemptNumber() == 0
    time.sleep(6 if first_of_slow else 0.3)
    for row in rows:
        yield (row,)


def tag(spark: SparkSession, table: str, keys: list[str], strategy: str) -> DataFrame:
    frame = spark.createDataFrame(
        spark.sparkContext.parallelize(keys, PARTS).mapPartitions(slowly), "key string"
    )
    options = {"hudiidx.tag.strategy": strategy}
    return HudiIndex(spark, table, strict=True, **options).tag_location(frame, "key")


def tag_twice(spark: SparkSession, table: str, keys: list[str]) -> dict[str, Any]:
    """Each way of tagging, an executor dying meanwhile."""
    application = spark.sparkContext.applicationId
    answers: dict[str, Any] = {}
    killed = []
    for strategy in ("direct", "shuffle"):
        killer = threading.Timer(2.0, lambda: killed.append(kill_one(application)))
        killer.start()
        rows = tag(spark, table, keys, strategy).collect()
        assert killed, "the keys were tagged before an executor died"
        killer.join()
        answers[strategy] = sorted([r.key, r.partition_path, r.file_id] for r in rows if r.file_id)
        answers[strategy + " absent"] = sorted(r.key for r in rows if not r.file_id)
    return {**answers, "killed": len(killed)}


def main(table: str, work: Path, keys: list[str]) -> None:
    with small_cluster(work) as spark:
        answers = tag_twice(spark, table, keys)
    print(json.dumps({**answers, "twice": tasks_run_twice(work)}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), json.loads(sys.stdin.read()))
