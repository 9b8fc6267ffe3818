"""Tables that hudiidx writes: stock Hudi reads them, writes and compacts them, and hudiidx goes on."""

import functools
import random
import re
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import lit
from stock_hudi import OLDEST, RELEASES, each

from hudiidx import HudiIndex, WriteConflict

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "fixtures" / "make"))

import hudifix

# The releases of whose versions we write tables.
VERSIONS = {name: r.table_version for name, r in RELEASES.items() if r.table_version in (6, 9)}
# What takes a minute and has a sibling on the other version: `make test` runs it on one version alone.
IN_SHORT = each(of=VERSIONS)
OLD_IN_SHORT = each(of=VERSIONS, short=[OLDEST])
OURS = {
    "hoodie.index.class": "hudiidx.hudi.RecordIndex",
    "hoodie.metadata.enable": "false",
    "hoodie.datasource.write.recordkey.field": "id",
}
LOG_INSERTS = {"hudiidx.write.log.inserts": "true"}
Row = dict[str, Any]


class Written:
    """A table that we write, what it must hold by key, and stock Hudi to ask."""

    def __init__(self, spark: SparkSession, stock: Any, version: int, path: Path, **options: str) -> None:
        self.spark, self.stock, self.path, self.rows = spark, stock, path, dict[str, Row]()
        self.past = dict[str, tuple[Row, ...]]()  # by key all that it was
        self.name = path.name
        self.options = {
            "hoodie.table.name": "t",
            "hoodie.datasource.write.recordkey.field": "id",
            "hoodie.datasource.write.partitionpath.field": "city",
            "hoodie.datasource.write.precombine.field": "ts",
            "hoodie.write.table.version": str(version),
            "hudiidx.write.create": "true",
            **options,
        }

    def make(self, first: int, end: int, seed: int, when: int, columns: list[str] | None = None) -> DataFrame:
        return hudifix.mk(self, first, end, seed, f"id + {when} * 1000", cols=columns)

    def save(self, rows: DataFrame, operation: str = "upsert", **options: str) -> None:
        all_options = {**self.options, "hoodie.datasource.write.operation": operation, **options}
        rows.write.format("hudiidx").options(**all_options).mode("append").save(str(self.path))

    def upsert(self, rows: DataFrame) -> None:
        self.save(rows)
        self.expect(rows)

    def expect(self, rows: DataFrame) -> None:
        """What event-time ordering makes of the rows."""
        for row in rows.collect():
            old = self.rows.get(row.id)
            if old is None or row.ts >= old["ts"]:
                self.rows[row.id] = row.asDict()
                self.past[row.id] = (*self.past.get(row.id, ()), row.asDict())

    def delete(self, first: int, end: int, **options: str) -> None:
        self.save(self.make(first, end, 0, 0).select("id", "city"), "delete", **options)
        for n in range(first, end):
            self.rows.pop(f"k{n:06d}", None)

    def state(self) -> tuple[dict[str, Row], dict[str, tuple[Row, ...]]]:
        return dict(self.rows), dict(self.past)

    def restore(self, state: tuple[dict[str, Row], dict[str, tuple[Row, ...]]]) -> None:
        self.rows, self.past = state

    def expected(self, found: dict[str, Row], columns: list[str]) -> dict[str, Row]:
        """What the table must hold. A row that came after a delete, and is older by its ordering value than
        one from before it, loses to that in stock Hudi once a compaction is done that was scheduled before
        the delete: logs are merged with one another first, then with the base file.
        """

        def either(key: str, row: Row) -> Row:
            later = [p for p in self.past.get(key, ()) if p["ts"] > row["ts"]]
            known = [{c: r.get(c) for c in columns} for r in (row, *later)]
            return found[key] if found.get(key) in known else known[0]

        return {key: either(key, row) for key, row in self.rows.items()}

    def ours(self, **options: str) -> DataFrame:
        return self.spark.read.format("hudiidx").options(**options).load(str(self.path))

    def adopt(self, **options: str) -> None:
        self.stock.adopt(name=self.name, path=str(self.path), kind="MOR", options={**OURS, **options})

    def assert_right(self) -> None:
        """Our rows are what was written, and stock's are ours, meta columns included."""
        frame = self.ours()
        columns = [c for c in frame.columns if not c.startswith("_hoodie_")]
        found = {r.id: r.asDict() for r in frame.select(columns).collect()}
        assert found == self.expected(found, columns)
        texts = list(hudifix.answer(frame)[0])
        # Stock looks for its metadata table, which is not there.
        assert self.stock.texts(name=self.name, options={"hoodie.metadata.enable": "true"}) == texts


def fail_last_write(table: Written) -> None:
    """Leaves the table as a writer does that ends before its last step: files and markers."""
    hoodie = table.path / ".hoodie"
    timeline = hoodie / "timeline" if (hoodie / "timeline").exists() else hoodie
    done = max(timeline.glob("*.deltacommit"), key=lambda f: f.name)
    instant = done.name.split(".")[0].split("_")[0]
    v6 = timeline == hoodie
    done.unlink()
    logs = [
        f for f in table.path.glob("*/.*.log.*") if f.stat().st_size and instant.encode() in f.read_bytes()
    ]
    leave_traces(hoodie, instant, logs, "APPEND" if v6 else "CREATE")
    leave_traces(hoodie, instant, table.path.glob(f"*/*_{instant}.parquet"), "CREATE")


def leave_traces(hoodie: Path, instant: str, files: Iterable[Path], kind: str) -> None:
    """Markers of the files and a heartbeat, as a writer of ours has them until its end."""
    for file in files:
        marker = hoodie / ".temp" / instant / file.parent.name / f"{file.name}.marker.{kind}"
        marker.parent.mkdir(parents=True, exist_ok=True)
        marker.touch()
    (hoodie / ".heartbeat").mkdir(exist_ok=True)
    (hoodie / ".heartbeat" / instant).write_text("0123456789abcdef")


@pytest.mark.parametrize("version", OLD_IN_SHORT)
def test_stock_and_we_write_by_turns(
    spark: SparkSession, request: pytest.FixtureRequest, version: str, tmp_path: Path
) -> None:
    stock = request.getfixturevalue(version)
    table = Written(spark, stock, VERSIONS[version], tmp_path / f"turns-{version[-2:]}", **LOG_INSERTS)
    table.upsert(table.make(0, 60, 1, 1))
    table.adopt()
    table.upsert(table.make(30, 90, 2, 2))

    table.upsert(table.make(40, 50, 9, 0))  # late: nothing changes
    table.delete(50, 55)
    table.assert_right()
    optimized = {"hoodie.datasource.query.type": "read_optimized"}
    assert stock.rows(name=table.name, options=optimized)["count"] == 0  # nothing is in base files yet

    # Stock updates records that are in logs alone, and inserts.
    stock.write(name=table.name, first=80, end=110, seed=3)
    table.expect(table.make(80, 110, 3, 3))
    table.assert_right()

    # Compaction is planned, we write on, it runs.
    stock.schedule_compaction(name=table.name)
    table.upsert(table.make(100, 130, 4, 4))
    table.assert_right()
    stock.compact(name=table.name)
    table.assert_right()
    table.delete(0, 10)
    table.upsert(table.make(5, 8, 5, 5))  # again after the delete
    table.assert_right()
    assert_same_history(table)
    index = HudiIndex(spark, table.path, strict=True)
    report = index.verify()
    assert report.ok, report.differences

    # A write of ours that ends half-way is not seen, and stock rolls it back.
    index.drop()
    table.save(table.make(0, 40, 6, 6))
    fail_last_write(table)
    table.assert_right()
    stock.write(name=table.name, first=120, end=125, seed=7)
    table.expect(table.make(120, 125, 7, 7))
    # Hudi 0.15 ends its scan at the rollback's block, which is younger than the write that called for it.
    table.upsert(table.make(0, 2, 8, 8))
    table.assert_right()
    assert not list((table.path / ".hoodie" / ".temp").glob("*"))


@pytest.mark.slow
@pytest.mark.parametrize("version", IN_SHORT)
def test_statements_of_sql(
    spark: SparkSession, request: pytest.FixtureRequest, version: str, tmp_path: Path
) -> None:
    """INSERT, UPDATE, DELETE and MERGE, records that change their partition among them."""
    stock = request.getfixturevalue(version)
    table = Written(spark, stock, VERSIONS[version], tmp_path / f"sql-{version[-2:]}")
    table.upsert(table.make(0, 60, 1, 1))
    table.adopt()
    spark.conf.set("spark.sql.catalog.hudiidx", "hudiidx.spark.HudiIdxCatalog")
    name = f"hudiidx.`{table.path}`"

    spark.sql(f"UPDATE {name} SET city = 'moved' WHERE id < 'k000010'")
    for n in range(10):
        table.rows[f"k{n:06d}"]["city"] = "moved"
    table.assert_right()

    spark.sql(f"DELETE FROM {name} WHERE id BETWEEN 'k000010' AND 'k000014'")
    for n in range(10, 15):
        table.rows.pop(f"k{n:06d}")
    changes = table.make(5, 75, 2, 2)
    changes.createOrReplaceTempView("changes")
    spark.sql(
        f"MERGE INTO {name} t USING changes s ON t.id = s.id WHEN MATCHED AND s.id >= 'k000050' THEN DELETE "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    table.expect(changes)
    for n in range(50, 60):
        table.rows.pop(f"k{n:06d}")
    table.assert_right()
    assert_same_history(table)

    # Late rows are passed over, what was deleted is there again.
    late = table.make(40, 90, 3, 0)
    late.createOrReplaceTempView("changes")
    spark.sql(f"INSERT INTO {name} SELECT * FROM changes")
    table.expect(late)
    moves = {"hoodie.record.index.update.partition.path": "true"}
    moved = table.make(20, 30, 4, 4).withColumn("city", lit("back"))
    table.save(moved, **moves)
    table.expect(moved)
    table.assert_right()

    stock.schedule_compaction(name=table.name)
    spark.sql(f"DELETE FROM {name} WHERE city = 'back' AND id < 'k000025'")
    for n in range(20, 25):
        table.rows.pop(f"k{n:06d}")
    stock.compact(name=table.name)
    table.assert_right()
    report = HudiIndex(spark, table.path, strict=True).verify()
    assert report.ok, report.differences


def assert_same_history(table: Written) -> None:
    """Time travel to each instant gives stock's rows, and so do incremental queries from each."""
    stock, name = table.stock, table.name
    for then in stock.travel(name=name):
        found = hudifix.answer(table.ours(**{"as.of.instant": then["as_of"]}))[1]
        assert {k: then.get(k) for k in found} == found, then
    for change in stock.changes(name=name):
        options = {
            "hoodie.datasource.query.type": "incremental",
            "hoodie.datasource.read.begin.instanttime": change["begin"],
        }
        found = hudifix.answer(table.ours(**options))[1]
        assert {k: change.get(k) for k in found} == found, change


TOGETHER = {
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider",
    "hoodie.write.lock.client.wait_time_ms_between_retry": "200",
    "hoodie.write.lock.client.num_retries": "300",
    "hoodie.cleaner.policy.failed.writes": "LAZY",
}
# Stock takes its instant time without a lock: that of another writer in the same millisecond
# stops it before it has written anything.
STOCKS_CONFLICT = re.compile(
    r"ConcurrentModificationException|Failed to create file \S+\.deltacommit\.requested|"
    # A file group that we made meanwhile: 0.15.0's tasks look for it in the view from before.
    r"FileID \S+ of partition path \S+ does not exist"
)


def attempt(write: Any) -> bool:
    """Did the write commit? False after a conflict with the other one."""
    try:
        write()
    except WriteConflict:
        return False
    except Exception as e:
        if not STOCKS_CONFLICT.search(str(e)):
            raise
        return False
    return True


def beside_stock(table: Written, rounds: int, seed: int) -> list[int]:
    """Rounds of two writes at once, one of them stock's; how often none, one and both of them committed."""
    drawn, counts = random.Random(seed), [0, 0, 0]
    print(f"HUDIIDX_TEST_SEED={seed}, {rounds} rounds")
    with ThreadPoolExecutor(1) as pool:
        for n in range(rounds):
            # Each has new records of its own: stock does not look for those of others.
            wheres = []
            for new in (1000 + 20 * n, 1010 + 20 * n):
                cities = "', '".join(drawn.sample(hudifix.PARTS, drawn.randint(1, 2)))
                wheres.append(f"city in ('{cities}') and (id < 90 or id >= {new} and id < {new + 6})")
            begin, end, seeds = drawn.randint(0, 40), 1020 + 20 * n, (10 + 2 * n, 11 + 2 * n)
            made = [
                table.make(begin, end, s, s).where(w.replace("id ", "cast(substr(id, 2) as int) "))
                for s, w in zip(seeds, wheres, strict=True)
            ]
            asked = {"name": table.name, "first": begin, "end": end, "seed": seeds[0], "only": wheres[0]}
            theirs = pool.submit(attempt, functools.partial(table.stock.write, **asked))
            time.sleep(drawn.random())
            ours = attempt(functools.partial(table.save, made[1]))
            done = [theirs.result(), ours]
            for rows, committed in zip(made, done, strict=True):
                if committed:
                    table.expect(rows)
            counts[sum(done)] += 1
            table.assert_right()
    return counts


def written_together(
    spark: SparkSession, request: pytest.FixtureRequest, version: str, path: Path
) -> Written:
    """A table of 90 records that stock and we write at the same time."""
    table = Written(spark, request.getfixturevalue(version), VERSIONS[version], path, **TOGETHER)
    table.upsert(table.make(0, 90, 1, 1))
    table.adopt(**TOGETHER)
    return table


@pytest.mark.parametrize("version", IN_SHORT)
def test_stock_and_we_write_at_once(
    spark: SparkSession, request: pytest.FixtureRequest, version: str, tmp_path: Path
) -> None:
    table = written_together(spark, request, version, tmp_path / f"at-once-{version[-2:]}")
    # Stock waits for the lock file that we would make.
    lock = table.path / ".hoodie" / "lock"
    lock.touch()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(table.stock.write, name=table.name, first=0, end=9, seed=2)
        time.sleep(4)
        assert not waiting.done()
        lock.unlink()
        waiting.result()
    table.expect(table.make(0, 9, 2, 2))
    table.assert_right()
    assert sum(beside_stock(table, 2, time.time_ns())[1:]) == 2


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_stock_and_we_write_at_once_in_many_rounds(
    spark: SparkSession, request: pytest.FixtureRequest, version: str, tmp_path: Path
) -> None:
    table = written_together(spark, request, version, tmp_path / f"many-{version[-2:]}")
    _, one, both = beside_stock(table, 100, time.time_ns())
    assert one > 0 and both > 0
