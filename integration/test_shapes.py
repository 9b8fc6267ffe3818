"""Tables of stock Hudi 1.2.0 of every shape, by random sequences of writes and services: stock's are the
rows, those that a filter leaves, the files and the places of keys, without an index, with one of the
first write, with one that is behind, and with one updated or made anew."""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hudifix
import pytest
from pyspark.sql import SparkSession
from test_changed_types import BLOB, MARKS, vectors
from test_live import assert_same
from test_random import DEEDS, WAYS, Written, attempt

from hudiidx import HudiIndex

ORDERING = "hoodie.datasource.write.precombine.field"
KEYS = "hoodie.datasource.write.recordkey.field"
PARTITION = "hoodie.datasource.write.partitionpath.field"
GENERATOR = "hoodie.datasource.write.keygenerator.class"
KEYGEN = "org.apache.hudi.keygen."
INDEX = "hoodie.index.type"
QUERY = "hoodie.datasource.query.type"
MOVED = ("nyc", "oslo", "lima", "sf")
SPARK_MERGER = dict.fromkeys(
    (
        "hoodie.datasource.write.record.merger.impls",
        "hoodie.write.record.merge.custom.implementation.classes",
    ),
    "org.apache.hudi.DefaultSparkRecordMerger",
)
PARQUET_LOGS = {"hoodie.logfile.data.block.format": "parquet"}
# A text: of numbers such a generator has texts in stock (docs/decisions.md), which are numbers here.
BORN = "cast(date_add(date'2026-01-01', cast(id % 5 as int)) as string) as born"
BY_DAY = {
    "hoodie.keygen.timebased.timestamp.type": "DATE_STRING",
    "hoodie.keygen.timebased.input.dateformat": "yyyy-MM-dd",
    "hoodie.keygen.timebased.output.dateformat": "yyyyMMdd",
    "hoodie.keygen.timebased.timezone": "UTC",
}
RECORD_INDEX = {
    INDEX: "GLOBAL_RECORD_LEVEL_INDEX",
    "hoodie.metadata.global.record.level.index.enable": "true",
    "hoodie.record.index.update.partition.path": "true",
}
ALL_INDEXES = {
    **RECORD_INDEX,
    "hoodie.metadata.index.column.stats.enable": "true",
    "hoodie.metadata.index.partition.stats.enable": "true",
    "hoodie.metadata.index.bloom.filter.enable": "true",
    # Without it stock fails at a secondary index.
    "hoodie.embed.timeline.server": "true",
}
BUCKETS = {INDEX: "BUCKET", "hoodie.bucket.index.num.buckets": "2"}
LOCKED = {"hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider"}
OPTIMISTIC = {
    **LOCKED,
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
    "hoodie.cleaner.policy.failed.writes": "LAZY",
}
NESTED = (
    "named_struct('a', id, 'b', named_struct('c', cast(id as string), 'd', id % 3 = 0)) as pair",
    "array(id, id + 1) as numbers",
    "map(concat('k', id % 4), named_struct('x', id, 'y', cast(id as decimal(12,3)))) as named",
    "cast(concat('b', id) as binary) as bytes",
    "timestamp_micros(id * 1000001) as at",
)


@dataclass(frozen=True)
class Shape:
    """How stock Hudi makes a table, and what is done to it beside the deeds of every table."""

    options: dict[str, str] = field(default_factory=dict)
    kind: str = "MOR"
    more: tuple[str, ...] = ()
    less: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    marked: bool = True
    marks: dict[str, str] = field(default_factory=dict)
    # What SQL makes the table with, where a DataFrame leaves properties out.
    properties: dict[str, str] = field(default_factory=dict)


SHAPES = {
    "two-orderings": Shape({ORDERING: "qty,ts"}),
    "spark-merger": Shape({**SPARK_MERGER, **PARQUET_LOGS}),
    "timestamp-keys": Shape(
        {GENERATOR: KEYGEN + "TimestampBasedKeyGenerator", PARTITION: "born", **BY_DAY}, columns=(BORN,)
    ),
    "custom-keys": Shape(
        {GENERATOR: KEYGEN + "CustomKeyGenerator", PARTITION: "city:SIMPLE,born:TIMESTAMP", **BY_DAY},
        kind="COW",
        columns=(BORN,),
    ),
    "nested": Shape(more=("column", "widen"), columns=NESTED),
    "moved-record-index": Shape(RECORD_INDEX, more=("moved",) * 3),
    "non-blocking": Shape(
        {
            **BUCKETS,
            **LOCKED,
            "hoodie.table.type": "MERGE_ON_READ",
            "hoodie.write.concurrency.mode": "non_blocking_concurrency_control",
            "hoodie.cleaner.policy.failed.writes": "LAZY",
        },
        more=("at_once",) * 3,
        less=("cluster",),
    ),
    "two-writers": Shape({**OPTIMISTIC, INDEX: "SIMPLE"}, more=("at_once",) * 3),
    "many-indexes": Shape(ALL_INDEXES, more=("by_rider", "by_day")),
    "restored": Shape(more=("restored",) * 3),
    "replaced": Shape(more=("overwritten", "emptied", "replaced_whole", "cluster", "pending_clustering")),
    "vectors": Shape(columns=tuple(c.format(seed=3) for c in vectors()), marks=MARKS),
    "blobs": Shape(columns=(BLOB.format(seed=3),), marks={"content": "BLOB"}, kind="COW"),
}
SEEDS = range(1)
COLUMNS = "id string, n long, city string, ts long, fare double, qty int, rider string, note string, day date"
FILTERS = (
    "n > 200 and n < 300",
    "city = 'sf'",
    "rider > 'rider-5' and qty < 25",
    "note is null",
    "id in ('k000003', 'k000021', 'k000064')",
    "day >= date'2024-09-01' or fare < 100",
)
# Not for copy-on-write tables.
OF_LOGS = ("compact", "schedule_compaction")


class Shaped(Written):
    """A table of a shape, with an index of its first write elsewhere, that is never updated."""

    def __init__(self, spark: SparkSession, stock: Any, shape: Shape, nearby: Path) -> None:
        self.shape, self.nearby = shape, nearby
        rows = {"marked": shape.marked, "columns": shape.columns}
        super().__init__(spark, stock, shape.options, kind=shape.kind, **rows)
        HudiIndex(spark, self.path, index_path=nearby / "stale").create(
            record="global", columns="*", logs=True
        )

    def make(self, options: dict[str, str]) -> str:
        if not self.shape.properties:
            return super().make(options)
        return str(
            self.stock.create_table(
                name=self.name,
                columns=f"{COLUMNS}, born string",
                partition="born",
                properties=self.shape.properties,
                kind=self.kind,
                options=options,
            )
        )

    def put(self, first: int, end: int, behind: int = 0, deleted: str = "false", **more: Any) -> None:
        marks = {"marks": self.shape.marks} if self.shape.marks else {}
        super().put(first, end, behind, deleted, **marks, **more)

    def do(self, deed: str, first: int, rows: int) -> None:
        own: dict[str, Callable[[int, int], None]] = {
            "moved": lambda first, end: self.put(first, end, parts=MOVED),
            "at_once": self.at_once,
            "restored": self.restored,
            "overwritten": lambda first, end: self.put(first, end, operation="insert_overwrite"),
            "replaced_whole": lambda first, end: self.put(
                first, end + 20, operation="insert_overwrite_table"
            ),
            "emptied": self.emptied,
            "pending_clustering": lambda first, end: self.stock.cluster(name=self.name, op="schedule"),
            "by_rider": lambda first, end: self.create_index("by_rider", "(rider)"),
            "by_day": lambda first, end: self.create_index(
                "by_day", "using column_stats(ts) options(expr='from_unixtime', format='yyyy-MM-dd')"
            ),
        }
        if deed in own:
            own[deed](first, first + rows)
        else:
            self.step(deed, first, rows)

    def at_once(self, first: int, end: int) -> None:
        """Two writers, of records that overlap; either may lose."""
        self.seed += 2
        added = [
            *self.columns,
            *(f"if(id % 9 = 7, null, id * {i + 2}) as extra{i}" for i in range(self.added)),
        ]
        batches = [
            {
                "first": first + 5 * n,
                "end": end + 5 * n,
                "seed": self.seed - n,
                "when": self.seed - n,
                "added": added,
                "widened": self.widened,
                "deleted": "false" if self.marked else None,
            }
            for n in range(2)
        ]
        self.stock.put_at_once(name=self.name, batches=batches)

    def restored(self, first: int, end: int) -> None:
        saved = self.stock.savepoint(name=self.name)
        self.put(first, end)
        self.put(end, end + 10)
        self.stock.restore(name=self.name, to=saved)

    def emptied(self, first: int, end: int) -> None:
        where = {"hoodie.datasource.write.partitions.to.delete": MOVED[first % 4]}
        self.put(first, first + 1, operation="delete_partition", **where)

    def create_index(self, name: str, columns: str) -> None:
        self.stock.create_index(name=self.name, index=name, columns=columns)

    def stale(self) -> dict[str, str]:
        return {"hudiidx.index.path": str(self.nearby / "stale")}

    def compare_queries(self) -> None:
        """The other types of queries, and rows by an index that is made now."""
        for change in self.stock.changes(name=self.name):
            begin = {QUERY: "incremental", "hoodie.datasource.read.begin.instanttime": change["begin"]}
            if "error" not in change:
                got = hudifix.answer(self.rows(**begin))[1]
                assert got == {k: change[k] for k in got}, change["begin"]
        for travel in self.stock.travel(name=self.name):
            if "error" not in travel:
                self.compare(travel, travel["as_of"], [*WAYS, self.stale()])
        if self.kind == "MOR":
            base = {QUERY: "read_optimized"}
            got = hudifix.answer(self.rows(**base))[1]
            assert got == self.stock.rows(name=self.name, options=base)
        fresh = self.nearby / "fresh"
        HudiIndex(self.spark, self.path, index_path=fresh).create(record="global", columns="*", logs=True)
        self.compare(self.stock.rows(name=self.name), ways=[{"hudiidx.index.path": str(fresh)}])
        self.compare_filters({"hudiidx.index.path": str(fresh)})
        self.compare_places(fresh)
        HudiIndex(self.spark, self.path, index_path=self.nearby / "stale").update()
        for where in (self.nearby / "stale", fresh):
            report = HudiIndex(self.spark, self.path, index_path=where).verify(record=True)
            assert report.ok, report.differences

    def compare_filters(self, fresh: dict[str, str]) -> None:
        """What a filter leaves of the rows, as stock leaves it of all rows in memory."""
        theirs = self.stock.filtered(name=self.name, filters=FILTERS, read_once=True)
        assert any(t["count"] for t in theirs)
        for where, wanted in zip(FILTERS, theirs, strict=True):
            for how in (*WAYS, self.stale(), fresh):
                assert hudifix.answer(self.rows(**how).where(where))[1] == wanted, (where, how)

    def compare_places(self, fresh: Path) -> None:
        """Files and their views as stock lists them, and keys where its rows say that they are."""
        assert_same(self.spark, self.stock, self.name, self.path, self.kind)
        places = sorted(
            (key, partition, file)
            for partition, file, keys in self.stock.groups(name=self.name)["groups"]
            for key in keys
        )
        asked = sorted({key for key, _, _ in places} | {"none"})
        for where in (self.nearby / "stale", fresh):
            found = HudiIndex(self.spark, self.path, index_path=where).lookup(asked)
            located = sorted((at.key, at.partition_path, at.file_id) for at in found)
            # A global index has one place of a key, of which the shape may have rows in several partitions.
            once = {key for key, count in Counter(key for key, _, _ in places).items() if count == 1}
            assert [at for at in located if at[0] in once] == [at for at in places if at[0] in once], where
            assert set(located) <= set(places) and {at[0] for at in located} == {at[0] for at in places}, (
                where
            )


def plan(drawn: random.Random, shape: Shape, steps: int) -> list[tuple[str, int, int]]:
    """A sequence of deeds, each with the first of its rows and their number; the shape's own are in it."""
    less = (*shape.less, *(OF_LOGS if shape.kind == "COW" else ()))
    deeds = [deed for deed in (*DEEDS, *shape.more) if deed not in less]
    chosen = [drawn.choice(deeds) for _ in range(steps)]
    for place, own in zip(drawn.sample(range(steps), steps), dict.fromkeys(shape.more), strict=False):
        chosen[place] = own
    return [(deed, drawn.randint(0, 70), drawn.randint(1, 30)) for deed in chosen]


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", SHAPES)
def test_rows_of_every_shape_are_stocks(
    spark: SparkSession, stock_1_2: Any, name: str, seed: int, tmp_path: Path
) -> None:
    shape = SHAPES[name]
    steps = plan(random.Random(f"{name}-{seed}"), shape, steps=6)
    table, done = Shaped(spark, stock_1_2, shape, tmp_path), [name]
    try:
        for step in steps:
            done.append(attempt(table.do, step))
            table.compare(stock_1_2.rows(name=table.name), ways=[*WAYS, table.stale()])
        table.compare_queries()
    finally:
        print("\n".join(done))
