"""Streams, live: what stock Hudi's stream gives of a table that it writes, ours gives too, batch by batch."""

import itertools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from stock_hudi import NEWEST, OF_VERSION_9, OLDEST
from stock_writes import NUMBERS

BEGIN = "hoodie.datasource.read.begin.instanttime"
CHANGES = {
    "hoodie.datasource.query.type": "incremental",
    "hoodie.datasource.query.incremental.format": "cdc",
}
TABLE = {"hoodie.table.cdc.enabled": "true", "hoodie.metadata.index.column.stats.enable": "false"}
COLUMNS = ["_hoodie_commit_time", "_hoodie_record_key", "_hoodie_partition_path", "city", "qty", "ts", "note"]
SHORT = (NEWEST, "MOR")
CASES = [
    pytest.param(*case, marks=[] if case == SHORT else [pytest.mark.slow])
    for case in itertools.product([OLDEST, "stock_1_0", NEWEST], ["COW", "MOR"])
]
WRITES = [(0, 24, 2, "insert"), (2, 6, 4, "delete"), (4, 30, 5, "upsert")]


class Stream:
    """A query with a checkpoint, which runs until it has read all that is there."""

    def __init__(
        self, spark: SparkSession, path: Path, folder: Path, columns: list[str], **options: str
    ) -> None:
        self._spark, self._path, self._folder, self._columns = spark, path, folder, columns
        self._options = options
        self._seen: Counter[str] = Counter()

    def next(self) -> list[str]:
        """The new rows, as JSON, in order."""
        out = self._folder / "rows"
        frame = self._spark.readStream.format("hudiidx").options(**self._options).load(str(self._path))
        query = (
            frame.select(self._columns)
            .writeStream.format("parquet")
            .option("checkpointLocation", str(self._folder / "checkpoint"))
            .trigger(availableNow=True)
            .start(str(out))
        )
        query.awaitTermination()
        rows = Counter(self._spark.read.parquet(str(out)).toJSON().collect())
        new, self._seen = rows - self._seen, rows
        return sorted(new.elements())


@pytest.mark.parametrize(("release", "kind"), CASES)
def test_streams_give_what_stock_gives(
    spark: SparkSession, release: str, kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    stock: Any = request.getfixturevalue(release)
    name = f"streams-{kind}".lower()
    path = Path(stock.new(name=name, kind=kind, options=TABLE))
    rows: Stream | None = None
    writes = WRITES[::2] if (release, kind) == SHORT else WRITES
    for first, end, seed, operation in writes:
        # An insert leaves nothing to be compacted.
        if kind == "MOR" and operation == "upsert" and writes == WRITES:
            stock.compact(name=name)
        stock.write(name=name, first=first, end=end, seed=seed, operation=operation)
        rows = rows or Stream(spark, path, tmp_path / "rows", COLUMNS)
        theirs = stock.stream(name=name, columns=COLUMNS)
        assert rows.next() == theirs, operation
        assert operation == "delete" or len(theirs) >= end - first
    asked = {**CHANGES, "maxCommitsPerTrigger": "1"}
    changes = Stream(spark, path, tmp_path / "changes", ["op", "ts_ms", "before", "after"], **asked)
    batch = spark.read.format("hudiidx").options(**CHANGES, **{BEGIN: "000"}).load(str(path))
    assert changes.next() == sorted(batch.toJSON().collect())


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["COW", "MOR"])
@pytest.mark.parametrize("release", OF_VERSION_9)
def test_streams_of_changes_give_what_stocks_give(
    spark: SparkSession, release: str, kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Each batch by a query of its own, which goes on from the checkpoint."""
    stock: Any = request.getfixturevalue(release)
    name = f"streams-of-changes-{kind}".lower()
    path = Path(stock.new(name=name, kind=kind, options=TABLE))
    columns = ["op", "ts_ms", "before", "after"]
    ours: Stream | None = None
    given: list[str] = []

    def check() -> None:
        nonlocal ours
        ours = ours or Stream(spark, path, tmp_path / "changes", columns, **CHANGES)
        theirs = stock.stream(name=name, columns=columns, options=CHANGES)
        assert ours.next() == theirs
        given.extend(theirs)

    def write(first: int, end: int, seed: int, operation: str = "upsert") -> None:
        stock.write(name=name, first=first, end=end, seed=seed, operation=operation)

    write(0, 24, 2, "insert")
    check()
    write(0, 12, 3)
    write(2, 6, 4, "delete")
    check()
    if kind == "MOR":
        stock.compact(name=name)
    write(4, 30, 5)
    check()
    stock.cluster(name=name)
    write(0, 3, 6)
    write(20, 22, 7, "delete")
    check()
    operations = Counter(json.loads(row)["op"] for row in given)
    assert operations == {"i": 24 + 8 + 1, "u": 12 + 18 + 2, "d": 4 + 2}


@pytest.mark.parametrize("kind", [pytest.param("COW", marks=pytest.mark.slow), "MOR"])
def test_streams_go_on_while_stock_upgrades_and_downgrades_the_table(
    spark: SparkSession, stock_1_2: Any, kind: str, tmp_path: Path
) -> None:
    """Each row that is written once, and none again, whatever files the services of a migration rewrite."""
    name = f"streams-migrated-{kind}".lower()
    as_it_is = {"hoodie.write.table.version": "6", "hoodie.write.auto.upgrade": "false"}
    path = Path(stock_1_2.new(name=name, kind=kind, options={**as_it_is, **TABLE}))
    rows: Stream | None = None
    ids = range(0, 24)
    for seed, version in enumerate(["SIX", "EIGHT", "NINE", "EIGHT", "SIX"], start=2):
        if seed > 2:
            stock_1_2.migrate(name=name, version=version)
        written = {"hoodie.write.table.version": str(NUMBERS[version])}
        operation = "insert" if seed == 2 else "upsert"
        stock_1_2.write(name=name, first=ids[0], end=ids[-1] + 1, seed=seed, operation=operation, **written)
        assert stock_1_2.version(name=name) == NUMBERS[version]
        rows = rows or Stream(spark, path, tmp_path / "rows", COLUMNS)
        theirs = stock_1_2.rows(name=name)
        given = [json.loads(row) for row in rows.next()]
        assert sorted(g["_hoodie_record_key"] for g in given) == sorted(f"k{i:06d}" for i in ids), version
        assert theirs and {g["ts"] for g in given} == {n + seed * 1000 for n in ids}, version
        ids = range(ids[0] + 2, ids[-1] + 5)
