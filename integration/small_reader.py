"""Reads a table in a small JVM of its own and prints a count and checksums of its rows.

Usage: small_reader.py <hudiidx jar> <heap> <table>
One task at a time, so that all memory is one slice's; driver and executor are one process.
"""

import sys

from pyspark.sql import SparkSession

SUMS = ("count(*)", "sum(cast(crc32(to_json(struct(id, city, ts, n, note))) as long))", "sum(length(note))")


def main(jar: str, heap: str, table: str) -> None:
    """Prints ``answer`` and the sums."""
    spark = (
        SparkSession.builder.master("local[1]")
        .config("spark.driver.memory", heap)
        .config("spark.jars", jar)
        .config("spark.driver.extraClassPath", jar)
        .config("spark.driver.extraJavaOptions", "-XX:+UseSerialGC -Duser.timezone=UTC")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("WARN")
    print("answer", *spark.read.format("hudiidx").load(table).selectExpr(*SUMS).first())
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
