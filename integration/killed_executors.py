"""Indexes and writes on a small cluster whose executors die and whose slow tasks run twice.

Each kill is followed by a time in which an executor stands still: copies of its tasks start elsewhere, then
it goes on with its own.

Usage: killed_executors.py TABLE KILLS SEED; see test_killed_executors.py. Prints one JSON document: by deed
how many kills came while it was under way (``kills``), and how many tasks ran twice (``twice``).
"""

import json
import random
import shutil
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from small_cluster import freeze_one, kill_one, small_cluster, tasks_run_twice

from hudiidx import HudiIndex

KEYS = 30_000
PARTITIONS = 6  # of the table
TASKS = 8
FROZEN = 3.0  # seconds that an executor stands still
TRIES = 20  # of a deed until a kill comes while it is under way


class Deeds:
    """A table, what it must hold (key number to ordering value), and all that is done to it by Spark jobs."""

    def __init__(self, spark: SparkSession, path: Path, seed: int) -> None:
        self.spark, self.path, self.drawn = spark, path, random.Random(seed)
        self.wanted: dict[int, int] = {}
        self.when = 0
        self.folder, self.before = path / ".hoodie" / "hudiidx", path.parent / "index-before"
        self.upsert()
        self.create()

    def index(self) -> HudiIndex:
        return HudiIndex(self.spark, self.path, strict=True)

    def rows(self, first: int, end: int) -> DataFrame:
        columns = [
            "concat('k', lpad(id, 8, '0')) as id",
            f"concat('p', id % {PARTITIONS}) as city",
            f"{self.when} as ts",
            f"id % 97 + {self.when} / 100 as fare",
            "concat('rider-', id % 991) as rider",
        ]
        return self.spark.range(first, end, 1, TASKS).selectExpr(*columns)

    def save(self, rows: DataFrame, operation: str = "upsert", mode: str = "append", **more: str) -> None:
        options = {
            "hoodie.table.name": "t",
            "hoodie.datasource.write.recordkey.field": "id",
            "hoodie.datasource.write.partitionpath.field": "city",
            "hoodie.datasource.write.precombine.field": "ts",
            "hoodie.datasource.write.operation": operation,
            "hudiidx.write.create": "true",
            **more,
        }
        rows.write.format("hudiidx").options(**options).mode(mode).save(str(self.path))

    def some(self) -> tuple[int, int]:
        first = self.drawn.randrange(KEYS)
        return first, first + KEYS // 2

    def upsert(self) -> None:
        self.when += 1
        first, end = self.some() if self.wanted else (0, KEYS)
        self.save(self.rows(first, end))
        self.wanted.update(dict.fromkeys(range(first, end), self.when))

    def delete(self) -> None:
        first, end = self.some()
        self.save(self.rows(first, end).select("id", "city"), "delete")
        for n in range(first, end):
            self.wanted.pop(n, None)

    def overwrite(self) -> None:
        """With the table's own rows, which executors read meanwhile."""
        self.when += 1
        own = self.spark.read.format("hudiidx").load(str(self.path))
        self.save(own.selectExpr("id", "city", f"{self.when} as ts", "fare", "rider"), mode="overwrite")
        self.wanted = dict.fromkeys(self.wanted, self.when)

    def overwrite_partitions(self) -> None:
        """Those of every other number."""
        self.when += 1
        first, end = self.some()
        rows = self.rows(first, end).where("city in ('p1', 'p3', 'p5')")
        self.save(rows, mode="overwrite", partitionOverwriteMode="dynamic")
        kept = {n: ts for n, ts in self.wanted.items() if n % 2 == 0}
        self.wanted = kept | {n: self.when for n in range(first, end) if n % 2}

    def create(self) -> None:
        self.index().drop()
        self.index().create(record="global", columns=["ts", "fare"], bloom=["rider"], logs=True)

    def compact(self) -> None:
        self.index().compact_table()

    def update(self) -> None:
        self.index().update()

    def tag(self) -> None:
        """Half of the keys, and others that are not there, find the file groups that a scan finds them in."""
        first, end = self.some()
        keys = self.spark.range(first, end + 1000, 1, TASKS).selectExpr("concat('k', lpad(id, 8, '0')) as id")
        strategy = {"hudiidx.tag.strategy": self.drawn.choice(("direct", "shuffle"))}
        tagged = HudiIndex(self.spark, self.path, strict=True, **strategy).tag_location(keys, "id")
        found = {r.id: (r.partition_path, r.file_id) for r in tagged.collect() if r.file_id}
        rows = self.spark.read.format("hudiidx").option("hudiidx.index.enabled", "false").load(str(self.path))
        meta = ("_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name")
        places = {key: (partition, name) for key, partition, name in rows.select(*meta).collect()}
        asked = {f"k{n:08d}" for n in range(first, end + 1000)}
        assert found.keys() == asked & places.keys()
        for key, (partition, file_id) in found.items():
            assert partition == places[key][0] and places[key][1].startswith(file_id), (key, file_id)

    def leave_index_behind(self) -> None:
        """The index is one upsert behind its table, as when stock Hudi wrote it."""
        shutil.copytree(self.folder, self.before)
        self.upsert()
        shutil.rmtree(self.folder)
        self.before.rename(self.folder)

    def assert_right(self) -> None:
        index = self.index()
        assert index.info().state == "READY", index.info()
        report = index.verify(record=True, columns=True)
        assert report.ok, report
        frame = self.spark.read.format("hudiidx").option("hudiidx.index.strict", "true").load(str(self.path))
        rows = frame.selectExpr("cast(substr(id, 2) as int) n", "ts").collect()
        assert len(rows) == len(self.wanted) and {r.n: r.ts for r in rows} == self.wanted

    def assert_nothing_is_left(self) -> None:
        """Every data file is one of a commit; the index folder has what its version names."""
        listed = {
            f"{r.partition_path}/{r.file_name}"
            for r in self.spark.read.format("hudiidx").option("view", "files").load(str(self.path)).collect()
        }
        found = [f for f in self.path.glob("p*/*") if not f.name.endswith(".crc")]
        found = [f for f in found if f.name != ".hoodie_partition_metadata"]
        assert {f"{f.parent.name}/{f.name}" for f in found} == listed
        assert not list((self.path / ".hoodie" / ".temp").glob("*"))
        now = {"hudiidx.expire.orphan.minutes": "0"}
        index = HudiIndex(self.spark, self.path, strict=True, **now)
        index.expire_index_versions(retain_last=1, older_than_minutes=0)
        named = sum(index.info().bytes_by_kind.values())
        files = [f for f in self.folder.rglob("*") if f.is_file() and f.suffix not in (".crc", ".json")]
        assert sum(f.stat().st_size for f in files) == named, files


class Blow(threading.Thread):
    """Kills an executor, or lets one stand still, after some seconds unless the deed is done by then."""

    def __init__(self, application: str, wait: float, deadly: bool) -> None:
        super().__init__()
        self.application, self.wait, self.deadly = application, wait, deadly
        self.struck, self.done = False, threading.Event()

    def run(self) -> None:
        if not self.done.wait(self.wait):
            if self.deadly:
                kill_one(self.application)
            else:
                freeze_one(self.application, FROZEN)
            self.struck = True

    def end(self) -> None:
        self.done.set()
        self.join()


def under_fire(deeds: Deeds, name: str, kills: int) -> int:
    """Does a deed until so many executors were killed meanwhile; the number of kills."""
    application = deeds.spark.sparkContext.applicationId
    before: dict[str, Callable[[], None]] = {
        "update": deeds.leave_index_behind,
        "compact": deeds.upsert,
        "delete": deeds.upsert,  # or soon there is nothing to delete
        "overwrite": deeds.upsert,
    }
    prepare = before.get(name, lambda: None)
    strikes, seconds = 0, 0.0
    for n in range(kills * TRIES + 1):
        prepare()
        blow = Blow(application, deeds.drawn.uniform(0.1, 0.8) * seconds, deadly=strikes % 2 == 0)
        start = time.monotonic()
        if n:  # the first time is measured
            blow.start()
        getattr(deeds, name)()
        took = time.monotonic() - start
        if n:
            blow.end()
            deeds.assert_right()
        if not blow.struck:
            seconds = took
        strikes += blow.struck
        if strikes >= 2 * kills:
            break
    return strikes // 2


def main(table: str, kills: int, seed: int) -> None:
    writes = ("upsert", "delete", "overwrite", "overwrite_partitions", "compact")
    names = ("create", "update", "tag", *writes)
    work = Path(table).parent / "cluster"
    with small_cluster(work) as spark:
        deeds = Deeds(spark, Path(table), seed)
        hits = {name: under_fire(deeds, name, kills) for name in names}
        deeds.assert_nothing_is_left()
    print(json.dumps({"kills": hits, "twice": tasks_run_twice(work)}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
