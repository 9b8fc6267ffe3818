"""Events of some days into a Hudi table, day by day: tag, upsert, index, prune, query, verify.

    spark-submit --jars "$(hudiidx jar)" examples/pipeline.py /data/events

writes through hudiidx. Through stock Hudi's writer, which looks records up in the index of hudiidx:

    spark-submit --jars "hudi-spark3.5-bundle_2.12-1.2.0.jar,$(hudiidx jar --writer)" \
        examples/pipeline.py /data/events --writer stock
"""

import argparse
import time
from datetime import date, timedelta

from pyspark.sql import DataFrame, SparkSession

from hudiidx import HudiIndex

FIRST_DAY = date(2026, 3, 1)
TABLE = {
    "hoodie.table.name": "events",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.partitionpath.field": "city",
    "hoodie.datasource.write.precombine.field": "ts",
    "hoodie.datasource.write.operation": "upsert",
}
# The index is made behind the first write, and every later write brings it up.
OURS = {**TABLE, "hudiidx.write.create": "true"}
STOCK = {
    **TABLE,
    "hoodie.index.class": "hudiidx.hudi.RecordIndex",
    "hoodie.write.commit.callback.on": "true",
    "hoodie.write.commit.callback.class": "hudiidx.hudi.SyncCallback",
    "hudiidx.write.create": "true",
}


def session(writer: str) -> SparkSession:
    """What spark-submit was told, and what stock Hudi's writer needs beside it."""
    builder = SparkSession.builder.appName("hudiidx pipeline")
    if writer == "stock":
        builder = builder.config("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
        builder = builder.config("spark.kryo.registrator", "org.apache.spark.HoodieSparkKryoRegistrar")
    return builder.getOrCreate()


def events_of(spark: SparkSession, day: int, count: int) -> DataFrame:
    """One event in five is a correction of one of the day before; an event stays in its city."""
    first = day * count * 4 // 5
    midnight = FIRST_DAY + timedelta(days=day)
    return spark.range(first, first + count).selectExpr(
        "concat('event-', id) AS id",
        "element_at(array('oslo', 'paris', 'lima'), cast(id % 3 + 1 AS int)) AS city",
        f"round(id % 97 + {day} / 10, 1) AS fare",
        f"timestamp'{midnight} 00:00:00' + make_interval(0, 0, 0, 0, 0, 0, id % 86400) AS ts",
    )


def say(what: str, since: float) -> None:
    """A line on what was done, with the seconds that it took."""
    print(f"  {what:<64} {time.perf_counter() - since:7.2f} s", flush=True)


def tag(index: HudiIndex, events: DataFrame) -> None:
    """Which events the table has already."""
    start = time.perf_counter()
    tagged = index.tag_location(events, "id")
    known = tagged.where("file_id IS NOT NULL").count()
    say(f"tagged: {known} of {tagged.count()} events are in the table already", start)


def write(events: DataFrame, path: str, writer: str) -> None:
    """One commit of a day's events."""
    start = time.perf_counter()
    name, options = ("hudi", STOCK) if writer == "stock" else ("hudiidx", OURS)
    events.write.format(name).options(**options).mode("append").save(path)
    say(f"upserted by {'stock Hudi' if writer == 'stock' else 'hudiidx'}", start)


def query(spark: SparkSession, index: HudiIndex, day: int) -> None:
    """The day's dear events by city, and the files that were read for them."""
    start = time.perf_counter()
    where = f"to_date(ts) = '{FIRST_DAY + timedelta(days=day)}' AND fare > 90"
    files = index.prune(where).count()
    total = index.prune("true").count()
    say(f"planned: {files} of {total} files may hold rows where {where}", start)
    start = time.perf_counter()
    found = spark.read.format("hudiidx").load(index.path).where(where).groupBy("city").count().collect()
    say("queried: " + ", ".join(f"{r['count']} in {r.city}" for r in sorted(found)), start)


def main() -> None:
    """The days one by one, then a look at the whole."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("table", help="folder or URI of the table, which must not be there yet")
    parser.add_argument("--writer", choices=["hudiidx", "stock"], default="hudiidx")
    parser.add_argument("--days", type=int, default=3)
    parser.add_argument("--events", type=int, default=20_000, help="events a day")
    asked = parser.parse_args()
    spark = session(asked.writer)
    index = None
    for day in range(asked.days):
        print(f"\n{FIRST_DAY + timedelta(days=day)}", flush=True)
        events = events_of(spark, day, asked.events)
        if index is not None:
            tag(index, events)
        write(events, asked.table, asked.writer)
        if index is None:
            index = HudiIndex(spark, asked.table)
            index.add_index(["ts", "fare"])
        index.update()
        query(spark, index, day)
    assert index is not None
    start = time.perf_counter()
    report = index.verify(record=True, columns=True)
    print()
    say(f"verified: index and table {'agree' if report.ok else 'DIFFER'}", start)
    for advice in index.recommend()[:3]:
        print(f"  bounds of {advice.column} left out {advice.skipped} of {advice.files} files")
    print(f"  the index is {index.info()}")
    spark.stop()
    if not report.ok:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
