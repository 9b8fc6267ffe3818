"""Stock Hudi and hudiidx at one table, in a process and a session of zones that set their clocks.

zone_session.py SESSION_ZONE TABLE_VERSION WAREHOUSE HUDI_JAR, in a process whose zone is that of TZ.
Prints what they answer as JSON.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from pyspark.sql import DataFrame, SparkSession

from hudiidx import HudiIndex, Watcher, configure_spark
from hudiidx.session import writer_jars

EXTENSIONS = (
    "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
    "hudiidx.spark.HudiIdxExtensions",
)
OWN = ZoneInfo(os.environ["TZ"])

# Times around the changes of clocks in New York, Berlin and Lord Howe, dates at the ends of days.
TIMES = [
    "2026-03-08 06:59:59.999999",
    "2026-03-08 07:00:00",
    "2026-11-01 05:30:00",
    "2026-11-01 06:30:00",
    "2026-03-29 00:59:59",
    "2026-03-29 01:00:00",
    "2026-10-25 00:30:00",
    "2026-10-25 01:30:00",
    "2026-04-04 14:45:00",
    "2026-04-04 15:15:00",
    "2026-10-03 15:29:59",
    "2026-10-03 15:30:00",
    "1969-12-31 23:59:59.999",
    "2026-01-01 00:00:00",
    "2026-07-01 12:00:00",
]
FILTERS = [
    "ts = timestamp'2026-11-01 01:30:00'",
    "ts >= timestamp'2026-03-08 03:00:00' AND ts < timestamp'2026-03-29 03:00:00'",
    "ts = timestamp'2026-11-01 06:30:00+00:00'",
    "ts IN (timestamp'2026-10-25 02:30:00', timestamp'2026-04-05 01:45:00')",
    "to_date(ts) = date'2026-10-25'",
    "to_date(ts) = date'2026-04-05'",
    "date_trunc('DAY', ts) = timestamp'2026-10-04 00:00:00'",
    "hour(ts) = 1",
    "ts < '2026-01-01'",
    "cast(ts AS string) LIKE '2026-1%'",
    "unix_timestamp(ts) < 0",
    "date_format(ts, 'yyyy-MM') = '2026-10'",
    "d = date'2026-11-01'",
    "d > '2026-10-01'",
    "d = to_date(ts)",
    "cast(d AS timestamp) <= ts",
    "ntz = timestamp_ntz'2026-10-25 01:30:00'",
    "cast(ntz AS timestamp) = ts",
    "part = date'2026-03-29'",
    "part >= timestamp'2026-10-25 00:00:00'",
]


class Tables:
    def __init__(self, session_zone: str, version: int, warehouse: str, jar: str) -> None:
        self.version, self.path = version, f"{warehouse}/db.db/t"
        jars = [jar, *map(str, writer_jars())]
        builder = SparkSession.builder.master("local[2]").config("spark.jars", ",".join(jars))
        builder = builder.config("spark.driver.extraClassPath", ":".join(jars))
        for key, value in {
            "spark.ui.enabled": "false",
            "spark.driver.memory": "1g",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.warehouse.dir": warehouse,
            "spark.sql.extensions": ",".join(EXTENSIONS),
            "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
            "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
            "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
            "spark.sql.catalog.hudiidx": "hudiidx.spark.HudiIdxCatalog",
            "spark.sql.session.timeZone": session_zone,
            "hoodie.embed.timeline.server": "false",
        }.items():
            builder = builder.config(key, value)
        self.spark = configure_spark(builder).getOrCreate()
        self.spark.sparkContext.setLogLevel("ERROR")
        self.session_zone = ZoneInfo(session_zone)

    def rows(self, n: int) -> DataFrame:
        """So many a time, as moments that no zone moves."""
        values = ", ".join(f"({i}, '{t}')" for i, t in enumerate(TIMES))
        return self.spark.sql(
            f"SELECT concat('k', i) AS id, to_timestamp(concat(t, '+00:00')) AS ts, "
            f"date(substr(t, 1, 10)) AS d, cast(t AS timestamp_ntz) AS ntz, {n} AS n, "
            f"date(substr(t, 1, 10)) AS part FROM VALUES {values} AS v(i, t)"
        )

    def write(self, name: str, rows: DataFrame) -> None:
        ours = {
            "hoodie.index.class": "hudiidx.hudi.RecordIndex",
            "hudiidx.write.log.inserts": "true",
            "hoodie.metadata.enable": "false",
        }
        options = {
            "hoodie.table.name": "t",
            "hoodie.datasource.write.table.type": "MERGE_ON_READ",
            "hoodie.datasource.write.recordkey.field": "id",
            "hoodie.datasource.write.partitionpath.field": "part",
            "hoodie.datasource.write.precombine.field": "n",
            "hoodie.datasource.write.operation": "upsert",
            "hoodie.write.table.version": str(self.version),
            **(ours if name == "hudi" else {}),
        }
        rows.write.format(name).options(**options).mode("append").save(self.path)

    def instants(self) -> list[str]:
        """Of completed writes, in the order of their files."""
        folder = Path(self.path, ".hoodie", "timeline" if self.version == 9 else "")
        files = sorted(folder.glob("*.deltacommit"), key=lambda f: f.stat().st_mtime_ns)
        return [re.split(r"[_.]", f.name)[0] for f in files]

    def read(self, name: str, **options: str) -> DataFrame:
        return self.spark.read.format(name).options(**options).load(self.path)

    def agree(self, **options: str) -> bool:
        return answer(self.read("hudi", **options)) == answer(self.read("hudiidx", **options))


def answer(rows: DataFrame) -> list[str]:
    found = rows.selectExpr(
        "id", "unix_micros(ts)", "cast(d AS string)", "cast(ntz AS string)", "n", "cast(part AS string)"
    )
    return sorted(str(tuple(r)) for r in found.collect())


def ranges(instants: list[str]) -> Iterator[dict[str, str]]:
    """Incremental queries from each instant on, to the end and to the next but one."""
    name = "hoodie.datasource.read.{}.instanttime"
    for n, begin in enumerate(["000", *instants]):
        since = {"hoodie.datasource.query.type": "incremental", name.format("begin"): begin}
        yield since
        for end in instants[n + 1 : n + 2]:
            yield since | {name.format("end"): end}


def watched(t: Tables, index: HudiIndex) -> dict[str, object]:
    """A watch's turn behind stock's write: what it says of it, and whether rows are stock's."""
    watcher = Watcher(t.spark, [index])
    t.write("hudi", t.rows(6).where("id = 'k6'"))
    [poll] = watcher.run_once()
    lag = -1 if poll.lag_seconds is None else poll.lag_seconds
    return {"watch": [poll.message, 0 <= lag < 600, index.info().state, t.agree()]}


def main(session_zone: str, version: str, warehouse: str, jar: str) -> None:
    t = Tables(session_zone, int(version), warehouse, jar)
    out: dict[str, object] = {}
    stamps = list[str]()
    for n, writer in enumerate(["hudi", "hudiidx", "hudi", "hudiidx"], start=1):
        stamps.append(datetime.now(OWN).strftime("%Y%m%d%H%M%S000"))
        t.write(writer, t.rows(n).where(f"n = 1 OR id = 'k{n}'"))
    stamps.append((datetime.now(OWN) + timedelta(seconds=1)).strftime("%Y%m%d%H%M%S000"))
    instants = t.instants()
    out["instants are in order"] = instants == sorted(instants) and len(set(instants)) == 4
    out["instants are of the zone"] = all(
        a <= i <= b for a, i, b in zip(stamps, instants, stamps[1:], strict=False)
    )
    out["rows"] = len(answer(t.read("hudi")))

    def differing() -> list[str]:
        return [f for f in FILTERS if answer(t.read("hudi").where(f)) != answer(t.read("hudiidx").where(f))]

    out["found by filters"] = sum(len(answer(t.read("hudi").where(f))) > 0 for f in FILTERS)
    out["filters that differ, no index"] = differing()
    index = HudiIndex(t.spark, t.path)
    index.create(record="global", columns=["ts", "d", "ntz", "n"], bloom=["ts", "d"], logs=True)
    out["filters that differ, index"] = differing()

    t.write("hudi", t.rows(5).where("id = 'k5'"))
    lag = index.update()["lag_millis"]
    out["lag is of now"] = 0 <= lag < 600_000
    out |= watched(t, index)

    def texts(instant: str) -> list[str]:
        shown = datetime.strptime(instant[:14], "%Y%m%d%H%M%S")
        return [instant, f"{shown}.{instant[14:]}", str(shown)]

    out["as.of.instant differs"] = [
        text for i in instants for text in texts(i) if not t.agree(**{"as.of.instant": text})
    ]
    out["incremental differs"] = [r for r in ranges(instants) if not t.agree(**r)]

    # What stock Hudi takes a text to be: the clock of its instants, whatever the session's is.
    def moment(instant: str, zone: ZoneInfo) -> str:
        wall = datetime.strptime(instant[:14], "%Y%m%d%H%M%S").replace(tzinfo=OWN) + timedelta(seconds=1)
        return wall.astimezone(zone).strftime("%Y-%m-%d %H:%M:%S")

    t.spark.sql("CREATE DATABASE IF NOT EXISTS db")
    t.spark.sql(f"CREATE TABLE db.t USING hudi LOCATION '{t.path}'")

    def as_of(text: str, table: str = "db.t") -> list[str] | str:
        try:
            return answer(t.spark.sql(f"SELECT * FROM {table} TIMESTAMP AS OF '{text}'"))
        except Exception as e:  # what stock refuses is an answer
            return f"{type(e).__name__}: {str(e)[:160]}"

    wanted = {i: answer(t.read("hudi", **{"as.of.instant": i})) for i in instants}
    for clock, zone in [("session's", t.session_zone), ("process'", OWN)]:
        found = [as_of(moment(i, zone)) == wanted[i] for i in instants[1:]]
        out[f"stock's TIMESTAMP AS OF by the {clock} clock"] = found

    # Ours is by the session's clock, as Spark has it.
    ours = f"hudiidx.`{t.path}`"
    out["our TIMESTAMP AS OF"] = [as_of(moment(i, t.session_zone), ours) == wanted[i] for i in instants]
    named = {i: t.spark.sql(f"SELECT * FROM {ours} VERSION AS OF '{i}'") for i in instants}
    out["our VERSION AS OF"] = [answer(named[i]) == wanted[i] for i in instants]
    t.spark.stop()
    print(json.dumps(out))


if __name__ == "__main__":
    assert Path(sys.argv[4]).exists(), f"{sys.argv[4]}: missing; run `make bundles`"
    main(*sys.argv[1:])
