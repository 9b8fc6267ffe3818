"""What a session with secrets does, in the test's process or submitted to a cluster; see test_secrets.py.

Usage: secret_deeds.py COW MOR: two tables without an index, in which the deeds leave a base file behind that
is none, so that tasks have something to warn of.
"""

import sys
from pathlib import Path

from pyspark.sql import SparkSession

from hudiidx import HudiIndex

META = [f"_hoodie_{n}" for n in ("commit_time", "commit_seqno", "record_key", "partition_path", "file_name")]


def index_and_write(spark: SparkSession, cow: Path, mor: Path) -> None:
    """Indexes, lookups and reads of one table, a write of the other."""
    index = HudiIndex(spark, cow)
    index.create(record="global", columns=["fare"])
    key = spark.read.format("hudiidx").load(str(cow)).select("_hoodie_record_key").head()[0]
    index.lookup([key])
    index.tag_location(spark.createDataFrame([(key,)], "key string"), "key").collect()
    HudiIndex(spark, mor).create(record="global")
    rows = spark.read.format("hudiidx").load(str(mor)).limit(1).drop(*META)
    rows.write.format("hudiidx").mode("append").save(str(mor))
    HudiIndex(spark, mor).update()


def warn_in_tasks(spark: SparkSession, table: Path) -> None:
    """A column index is made beside a base file that cannot be read, which is the task's to tell."""
    next(table.rglob("*.parquet")).write_bytes(b"no Parquet")
    HudiIndex(spark, table).create(columns=["rider"])


if __name__ == "__main__":
    session = SparkSession.builder.appName("secrets").getOrCreate()
    index_and_write(session, Path(sys.argv[1]), Path(sys.argv[2]))
    warn_in_tasks(session, Path(sys.argv[1]))
    session.stop()
