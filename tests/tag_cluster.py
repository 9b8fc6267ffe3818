"""Tags keys on a small cluster while one of its executors dies and slow tasks run twice; see test_tag.py.

Usage: tag_cluster.py TABLE. Prints one JSON document: the locations found in each run.
"""

import json
import sys
import threading
import time
from collections.abc import Iterator

from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession
from small_cluster import kill_one, small_cluster

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


def main(table: str, keys: list[str]) -> None:
    spark = small_cluster()
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
