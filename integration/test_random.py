"""Any sequence of writes and services by stock Hudi: rows are stock's, as of every instant and range."""

import random
import time
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import hudifix
import pytest
from figures import figure
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession
from stock_hudi import NEWEST, OLDEST, RELEASES

from hudiidx import HudiIndex

# What stock cannot do with a table as it stands it refuses, and the sequence goes on.
DEEDS = ("insert", "upsert", "late", "delete", "mark", "blank", "fail", "compact", "schedule_compaction",
         "cluster", "roll_back", "clean_up", "column", "widen", "index")  # fmt: skip
PAYLOAD = "hoodie.datasource.write.payload.class"
MODEL = "org.apache.hudi.common.model."
MERGE_MODE = "hoodie.write.record.merge.mode"
# The ways to merge that a sequence is run with, by the version of tables.
MERGING: dict[int, tuple[dict[str, str], ...]] = {
    9: (
        {MERGE_MODE: "EVENT_TIME_ORDERING"},
        {MERGE_MODE: "COMMIT_TIME_ORDERING"},
        {PAYLOAD: MODEL + "PartialUpdateAvroPayload"},
    ),
    8: ({MERGE_MODE: "EVENT_TIME_ORDERING"}, {MERGE_MODE: "COMMIT_TIME_ORDERING"}),
    6: (
        {},
        {PAYLOAD: MODEL + "DefaultHoodieRecordPayload"},
        {PAYLOAD: MODEL + "PartialUpdateAvroPayload"},
    ),
}
# Sequences of `make test-all`;
# `pytest -s integration/test_random.py -k stock_1_2-7` runs one, and prints its time.
COUNTS = {"stock_1_2": 25, "stock_1_1": 10, "stock_1_0": 10, "stock_0_15": 15}
SEEDS = [pytest.param(r, s, id=f"{r}-{s}") for r in RELEASES for s in range(COUNTS[r])]
SERVICES = ("compact", "schedule_compaction", "cluster", "roll_back", "clean_up")
# Options of a read with the index and without.
WAYS = ({"hudiidx.index.strict": "true"}, {"hudiidx.index.enabled": "false"})
names = count()
Step = tuple[str, int, int]


def plan(drawn: random.Random, version: int, least: int, most: int) -> tuple[dict[str, str], list[Step]]:
    """A way to merge, and a sequence of deeds, each with the first of its rows and their number."""
    merging = drawn.choice(MERGING[version])
    # MERGE INTO changes some columns alone; only the plain modes of version 9 know such logs.
    partial = ("merge_into",) if version == 9 and MERGE_MODE in merging and drawn.random() < 0.5 else ()
    deeds = (*DEEDS, *partial)
    n = drawn.randint(least, most)
    return merging, [(drawn.choice(deeds), drawn.randint(0, 70), drawn.randint(1, 30)) for _ in range(n)]


class Written:
    """A table of stock's, and what we say of it."""

    def __init__(
        self, spark: SparkSession, stock: Any, options: dict[str, str], kind: str = "MOR", **rows: Any
    ) -> None:
        self.spark, self.stock, self.name, self.kind = spark, stock, f"random-{next(names)}", kind
        quick = {"hoodie.metadata.index.column.stats.enable": "false"}
        self.path = Path(self.make({**quick, **options}))
        self.seed, self.added, self.widened = 1, 0, False
        self.columns: tuple[str, ...] = rows.pop("columns", ())
        self.marked, self.rows_have = rows.pop("marked"), rows
        self.put(0, 60, operation="insert")
        HudiIndex(spark, self.path).create()

    def make(self, options: dict[str, str]) -> str:
        """The table, without rows; its folder."""
        return str(self.stock.new(name=self.name, kind=self.kind, options=options))

    def put(self, first: int, end: int, behind: int = 0, deleted: str = "false", **more: Any) -> None:
        self.seed += 1
        added = [
            *self.columns,
            *(f"if(id % 9 = 7, null, id * {i + 2}) as extra{i}" for i in range(self.added)),
        ]
        self.stock.put(
            name=self.name,
            first=first,
            end=end,
            seed=self.seed,
            when=self.seed - behind,
            added=added,
            widened=self.widened,
            deleted=deleted if self.marked else None,
            **self.rows_have,
            **more,
        )

    def step(self, deed: str, first: int, rows: int) -> None:
        end = first + rows
        if deed in ("insert", "upsert", "delete"):
            self.put(first, end, operation=deed)
        elif deed == "mark" and self.marked:
            self.put(first, end, behind=rows % 3, deleted="id % 2 = 0")
        elif deed in ("late", "mark"):
            self.put(first, end, behind=2)
        elif deed == "blank":
            self.put(first, end, behind=rows % 3, blank=("rider", "qty", "fare")[first % 3])
        elif deed == "column":
            self.added += 1
            self.put(first, end)
        elif deed == "widen":
            self.widened = True
            self.put(first, end)
        elif deed == "merge_into":
            self.seed += 1
            self.stock.merge_into(name=self.name, first=first, end=end, seed=self.seed, when=self.seed)
        elif deed == "fail":
            self.stock.fail(name=self.name, first=first, end=end, seed=self.seed + 1)
            if self.stock.release == RELEASES[OLDEST].number:  # see test_late_services.py
                self.stock.roll_back_failed(name=self.name)
        elif deed in SERVICES:
            getattr(self.stock, deed)(name=self.name)
        else:
            HudiIndex(self.spark, self.path).update()

    def rows(self, **options: str) -> DataFrame:
        return self.spark.read.format("hudiidx").options(**options).load(str(self.path))

    def is_spoilt(self) -> bool:
        """Stock 1.1.1 may write what MERGE INTO changed into a base file, in other columns' places."""
        base = self.rows(**{"hoodie.datasource.query.type": "read_optimized"})
        return base.where("id is null and _hoodie_record_key is not null").count() > 0

    def compare(
        self, answer: dict[str, Any], as_of: str | None = None, ways: Sequence[dict[str, str]] = WAYS
    ) -> None:
        """With the index, behind as it may be, and without, unless other ways are given."""
        travel = {"as.of.instant": as_of} if as_of else {}
        for how in ways:
            figure("answers compared with stock Hudi's")
            texts, got = hudifix.answer(self.rows(**travel, **how))
            if got["checksum"] != answer["checksum"] or got["count"] != answer["count"]:
                stocks = self.stock.texts(name=self.name, as_of=as_of)
                ours, theirs = sorted(set(texts) - set(stocks)), sorted(set(stocks) - set(texts))
                counts = f"{got['count']} rows of {answer['count']}"
                pytest.fail(f"{how} as of {as_of}: {counts}, ours {ours[:3]}, stock's {theirs[:3]}")


def ranges_as_stocks(spark: SparkSession, stock: Any, name: str, path: Path) -> list[int]:
    """Incremental queries from each commit to each later one; the rows of each range that stock answers."""
    counts = []
    for asked in stock.ranges(name=name):
        if "error" not in asked:
            figure("answers compared with stock Hudi's")
            between = {f"hoodie.datasource.read.{k}.instanttime": asked[k] for k in ("begin", "end")}
            frame = spark.read.format("hudiidx").option("hoodie.datasource.query.type", "incremental")
            got = hudifix.answer(frame.options(**between).load(str(path)))[1]
            assert got == {k: asked[k] for k in got}, between
            counts.append(got["count"])
    return counts


def attempt(do: Callable[..., None], step: tuple[str, int, int]) -> str:
    """What came of a step, which stock may refuse."""
    try:
        do(*step)
    except RuntimeError as refused:
        return f"{step} refused: {str(refused).splitlines()[-1][:300]}"
    return f"{step}"


def check(spark: SparkSession, stock: Any, seed: int, release: str, length: tuple[int, int]) -> list[str]:
    """Rows after each step, and in the end as of each instant that stock still answers for; what was done."""
    version = RELEASES[release].table_version
    merging, steps = plan(random.Random(seed), version, *length)
    done = [f"{release}, {merging}"]
    # Stock 1.1.1 cannot read a log of partial updates of a table that has the column _hoodie_is_deleted.
    marked = "merge_into" not in {deed for deed, _, _ in steps}
    # Stock 1.0.2 compares its own deletes, which bear the Integer 0, with ordering values as they are.
    figure("random sequences of stock Hudi's writes and services")
    table = Written(spark, stock, merging, marked=marked, narrow=version == 8)
    try:
        for step in steps:
            done.append(attempt(table.step, step))
            if step[0] == "merge_into" and table.is_spoilt():
                return [*done, "stock damaged its table: the sequence ends"]
            table.compare(stock.rows(name=table.name))
        for travel in stock.travel(name=table.name):
            done.append(f"as of {travel['as_of']}{' refused' if 'error' in travel else ''}")
            if "error" not in travel:
                table.compare(travel, travel["as_of"])
        if marked:  # stock's ranges lack columns of partial updates
            ranges_as_stocks(spark, stock, table.name, table.path)
    except BaseException:
        print("\n".join(done))
        raise
    return done


@settings(max_examples=1, deadline=None, derandomize=True, phases=[Phase.generate],
          suppress_health_check=list(HealthCheck))  # fmt: skip
@given(seed=st.integers(1000, 1 << 30))
def test_rows_of_any_sequence_are_stocks(spark: SparkSession, stock_1_2: Any, seed: int) -> None:
    for line in check(spark, stock_1_2, seed, NEWEST, length=(5, 6)):
        note(line)


@pytest.mark.slow
@pytest.mark.parametrize(("release", "seed"), SEEDS)
def test_rows_of_many_long_sequences_are_stocks(
    spark: SparkSession, request: pytest.FixtureRequest, release: str, seed: int
) -> None:
    stock, start = request.getfixturevalue(release), time.monotonic()
    done = check(spark, stock, seed, release, length=(6, 12))
    took = time.monotonic() - start
    print(f"\n{release}, seed {seed}: {len(done)} deeds in {took:.0f} s", flush=True)
