"""Any sequence of writes and table services by stock Hudi: rows are stock's, as of every instant."""

from itertools import count
from pathlib import Path
from typing import Any

import hudifix
import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

from hudiidx import HudiIndex

# What stock cannot do with a table as it stands it refuses, and the sequence goes on.
ALL = ("insert", "upsert", "late", "delete", "mark", "fail", "compact", "schedule_compaction", "cluster",
       "roll_back", "column", "widen", "index")  # fmt: skip
PARTIAL = (*ALL, "merge_into")
OPTIONS = {
    "event-time": {"hoodie.record.merge.mode": "EVENT_TIME_ORDERING"},
    "commit-time": {"hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"},
    "default-payload": {
        "hoodie.datasource.write.payload.class": "org.apache.hudi.common.model.DefaultHoodieRecordPayload"
    },
}
SERVICES = ("compact", "schedule_compaction", "cluster", "roll_back")
names = count()


def runs(examples: int) -> settings:
    """Without shrinking: a failing sequence takes minutes, and says in its notes what it did."""
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


def steps(deeds: tuple[str, ...], least: int, most: int) -> st.SearchStrategy[list[tuple[str, int, int]]]:
    one = st.tuples(st.sampled_from(deeds), st.integers(0, 70), st.integers(1, 30))
    return st.lists(one, min_size=least, max_size=most)


class Written:
    """A merge-on-read table of stock's, and what we say of it."""

    def __init__(self, spark: SparkSession, stock: Any, options: dict[str, str], marked: bool) -> None:
        self.spark, self.stock, self.name = spark, stock, f"random-{next(names)}"
        quick = {"hoodie.metadata.index.column.stats.enable": "false"}
        self.path = Path(stock.new(name=self.name, kind="MOR", options={**quick, **options}))
        self.seed, self.added, self.widened, self.marked = 1, 0, False, marked
        self.put(0, 60, operation="insert")
        HudiIndex(spark, self.path).create()

    def put(self, first: int, end: int, behind: int = 0, deleted: str = "false", **more: Any) -> None:
        self.seed += 1
        when, added = self.seed - behind, [f"id * {i + 2} as extra{i}" for i in range(self.added)]
        self.stock.put(
            name=self.name,
            first=first,
            end=end,
            seed=self.seed,
            when=when,
            added=added,
            widened=self.widened,
            deleted=deleted if self.marked else None,
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
        elif deed in SERVICES:
            getattr(self.stock, deed)(name=self.name)
        else:
            HudiIndex(self.spark, self.path).update()

    def rows(self, **options: str) -> DataFrame:
        return self.spark.read.format("hudiidx").options(**options).load(str(self.path))

    def compare(self, answer: dict[str, Any], as_of: str | None = None) -> None:
        """With the index, behind as it may be, and without."""
        travel = {"as.of.instant": as_of} if as_of else {}
        for how in ({"hudiidx.index.strict": "true"}, {"hudiidx.index.enabled": "false"}):
            texts, got = hudifix.answer(self.rows(**travel, **how))
            if got["checksum"] != answer["checksum"] or got["count"] != answer["count"]:
                stocks = self.stock.texts(name=self.name, as_of=as_of)
                ours, theirs = sorted(set(texts) - set(stocks)), sorted(set(stocks) - set(texts))
                counts = f"{got['count']} rows of {answer['count']}"
                pytest.fail(f"{how} as of {as_of}: {counts}, ours {ours[:3]}, stock's {theirs[:3]}")


def check(spark: SparkSession, stock: Any, options: dict[str, str], plan: list[tuple[str, int, int]]) -> None:
    """Rows after each step, and in the end as of each instant that stock still answers for."""
    # Stock 1.1.1 cannot read a log of partial updates of a table that has the column _hoodie_is_deleted.
    table = Written(spark, stock, options, marked="merge_into" not in {deed for deed, _, _ in plan})
    for step in plan:
        try:
            table.step(*step)
            note(f"{step}")
        except RuntimeError as refused:
            note(f"{step} refused: {str(refused).splitlines()[-1]}")
        table.compare(stock.rows(name=table.name))
    for travel in stock.travel(name=table.name):
        note(f"as of {travel['as_of']}")
        if "error" not in travel:
            table.compare(travel, travel["as_of"])


@runs(2)
@given(plan=steps(PARTIAL, 5, 6), mode=st.sampled_from(("event-time", "commit-time")))
def test_rows_of_any_sequence_are_stocks(
    spark: SparkSession, stock_1_1: Any, plan: list[tuple[str, int, int]], mode: str
) -> None:
    check(spark, stock_1_1, OPTIONS[mode], plan)


@pytest.mark.slow
@runs(25)
@given(plan=steps(PARTIAL, 6, 14), mode=st.sampled_from(("event-time", "commit-time")))
def test_rows_of_many_long_sequences_are_stocks(
    spark: SparkSession, stock_1_1: Any, plan: list[tuple[str, int, int]], mode: str
) -> None:
    check(spark, stock_1_1, OPTIONS[mode], plan)


@pytest.mark.slow
@runs(15)
@given(plan=steps(ALL, 6, 12), payload=st.booleans())
def test_rows_of_many_long_sequences_are_stocks_on_version_6(
    spark: SparkSession, stock_0_15: Any, plan: list[tuple[str, int, int]], payload: bool
) -> None:
    check(spark, stock_0_15, OPTIONS["default-payload"] if payload else {}, plan)
