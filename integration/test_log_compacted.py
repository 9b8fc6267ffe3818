"""Logs whose blocks stock Hudi 1.2.0 merges into one (log compaction): snapshots are stock's, and queries
of a range have the rows that commits of the range wrote."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hudifix
import pytest
from pyspark.sql import DataFrame, SparkSession

QUERY = "hoodie.datasource.query.type"
BEGIN = "hoodie.datasource.read.begin.instanttime"
END = "hoodie.datasource.read.end.instanttime"
TABLE = {"hoodie.metadata.index.column.stats.enable": "false", "hoodie.table.cdc.enabled": "true"}
MODES = ("EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING")
Rows = dict[int, int]  # ordering values by row number


@dataclass(frozen=True)
class Put:
    """Rows ``first`` to ``end``, with greater ordering values by ``when``; multiples of ``deleted`` go."""

    first: int
    end: int
    when: int
    deleted: int | None = None

    @property
    def rows(self) -> range:
        return range(self.first, self.end)

    def deletes(self, row: int) -> bool:
        return self.deleted is not None and row % self.deleted == 0


class LogCompacted:
    """A table of stock's, of which it is known which rows each write had."""

    def __init__(self, spark: SparkSession, stock: Any, mode: str) -> None:
        self.spark, self.stock, self.by_time = spark, stock, mode == MODES[0]
        self.name = f"log-compacted-{mode.lower()}"
        options = {**TABLE, "hoodie.write.record.merge.mode": mode}
        self.path = Path(stock.new(name=self.name, kind="MOR", options=options))
        self.done: list[Put | None] = []  # in the order of commits; None: it wrote no rows of its own

    def put(self, first: int, end: int, when: int, deleted: int | None = None, **more: Any) -> None:
        put = Put(first, end, when, deleted)
        deletes = "false" if deleted is None else f"id % {deleted} = 0"
        seed = len(self.done) + 1
        self.stock.put(name=self.name, first=first, end=end, seed=seed, when=when, deleted=deletes, **more)
        self.done.append(put)

    def compact_logs(self) -> None:
        assert self.stock.log_compact(name=self.name)
        self.done.append(None)

    def compact(self) -> None:
        self.stock.compact(name=self.name)
        self.done.append(None)

    def expected(self, commits: list[Put | None]) -> Rows:
        """What the writes leave, merged with one another."""
        last: dict[int, Put] = {}
        for put in filter(None, commits):
            for row in put.rows:
                before = last.get(row)
                if not (self.by_time and before and before.when > put.when):
                    last[row] = put
        return {row: row + put.when * 1000 for row, put in last.items() if not put.deletes(row)}

    def ours(self, **options: str) -> DataFrame:
        return self.spark.read.format("hudiidx").options(**options).load(str(self.path))

    def changed(self, begin: str, **options: str) -> DataFrame:
        return self.ours(**{QUERY: "incremental", BEGIN: begin, **options})

    def check_snapshot(self) -> None:
        answer = self.stock.rows(name=self.name)
        got = hudifix.answer(self.ours())[1]
        assert got == {k: answer[k] for k in got}

    def check_ranges(self, end: int | None = None) -> set[int]:
        """Our rows behind each commit, up to and with one, are those of the writes in between.

        Returns the numbers of the commits after which stock Hudi gives rows of others too.
        """
        times = self.stock.completions(name=self.name)
        until = {} if end is None else {END: times[end]}
        more = set()
        for number, change in enumerate(self.stock.changes(name=self.name, more=until)[:end]):
            frame = self.changed(change["begin"], **until)
            expected = self.expected(self.done[number + 1 : None if end is None else end + 1])
            assert rows_of(frame) == expected, (number, end)
            got = hudifix.answer(frame)[1]
            if change["count"] > got["count"]:
                more.add(number)
            else:
                assert got == {k: change[k] for k in got}, (number, end)
        return more

    def check_change_data(self) -> None:
        """Each change is of a row that its commit wrote, and they lead to the snapshot."""
        commits = dict(zip(self.stock.completed(name=self.name), self.done, strict=True))
        asked = {QUERY: "incremental", "hoodie.datasource.query.incremental.format": "cdc", BEGIN: "000"}
        state: Rows = {}
        for op, at, before, after in sorted(map(tuple, self.ours(**asked).collect()), key=lambda r: r[1]):
            old, new = (row_of(image) if image else None for image in (before, after))
            row, _ = old or new or (-1, 0)
            put = commits[at]
            assert put and row in put.rows, (op, at, row)
            assert state.pop(row, None) == (old[1] if old else None), (op, at, row)
            if new:
                state[row] = new[1]
        assert state == rows_of(self.ours())


def row_of(image: str) -> tuple[int, int]:
    found = json.loads(image)
    return int(found["id"][1:]), found["ts"]


def rows_of(frame: DataFrame) -> Rows:
    found = frame.select("id", "ts").collect()
    rows = {int(row.id[1:]): row.ts for row in found}
    assert len(rows) == len(found)
    return rows


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_ranges_across_log_compactions_have_the_rows_of_their_commits(
    spark: SparkSession, stock_1_2: Any, mode: str
) -> None:
    table = LogCompacted(spark, stock_1_2, mode)
    table.put(0, 40, 1, operation="insert")
    table.put(0, 20, 3)
    table.put(14, 30, 4, deleted=5)
    table.compact_logs()  # 3, of 1 and 2
    table.put(0, 8, 2)  # late
    table.put(20, 36, 6)
    table.compact_logs()  # 6, of 3, 4 and 5
    table.put(4, 10, 7)
    table.check_snapshot()
    # Stock Hudi gives all rows of a log compaction where any of what it covers is of the range.
    assert table.check_ranges() == {1, 2, 3, 4}
    assert table.check_ranges(end=5) == {1}
    table.check_change_data()
    table.compact()
    table.put(0, 4, 8)
    table.check_snapshot()
    # Rows of the base files that a log compaction held bear its time, whatever commit wrote them.
    for number, change in enumerate(stock_1_2.changes(name=table.name)):
        frame = table.changed(change["begin"])
        if number < 5:
            got = hudifix.answer(frame)[1]
            assert got == {k: change[k] for k in got}, number
        else:
            assert rows_of(frame) == table.expected(table.done[number + 1 :]), number
    table.check_change_data()
