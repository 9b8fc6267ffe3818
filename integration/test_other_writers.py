"""hudiidx and stock Hudi write one table by turns, stock with each of its indexes and told nothing of us: the
table holds what was written, and each key once.
"""

import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Container
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hudifix
import pytest
from pyspark.sql import DataFrame, SparkSession
from stock_hudi import NEWEST, OLDEST, each
from written import IN_SHORT, LOG_INSERTS, OURS, VERSIONS, Written

from hudiidx import HudiIndex

NO_METADATA = {"hoodie.metadata.enable": "false"}
MOVES = {
    "hoodie.record.index.update.partition.path": "true",
    "hoodie.bloom.index.update.partition.path": "true",
    "hoodie.simple.index.update.partition.path": "true",
}
RECORD_INDEX = {
    "hoodie.index.type": "RECORD_INDEX",
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "false",
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.metadata.global.record.level.index.enable": "true",
}
# Names of 1.1 on. Of the first a key is unique in its partition alone.
RECORD_LEVEL_INDEX = {
    "hoodie.index.type": "RECORD_LEVEL_INDEX",
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "false",
    "hoodie.metadata.record.level.index.enable": "true",
}
GLOBAL_RECORD_LEVEL_INDEX = {**RECORD_INDEX, "hoodie.index.type": "GLOBAL_RECORD_LEVEL_INDEX"}
GLOBAL = ("RECORD_INDEX", "GLOBAL_SIMPLE", "GLOBAL_BLOOM", "GLOBAL_RECORD_LEVEL_INDEX")
ROTATED = ["nyc", "oslo", "lima", "sf"]


@dataclass(frozen=True)
class Case:
    """How stock looks for keys, and whether records change their partition."""

    stock: str
    index: str
    options: dict[str, str] = field(default_factory=dict, hash=False)
    moves: bool = False
    turns: int = 12

    @property
    def revives_twice(self) -> bool:
        """Whether stock leaves keys that are deleted in logs out of an index that a write makes anew."""
        return (self.stock, self.index) == ("stock_1_1", "RECORD_LEVEL_INDEX")

    def __str__(self) -> str:
        return "-".join([self.stock, self.index, *(["moves"] if self.moves else [])])


def cases(turns: int) -> list[Case]:
    kinds = [
        ("default", NO_METADATA, False),
        *[(i, {"hoodie.index.type": i, **NO_METADATA}, False) for i in ("SIMPLE", "BLOOM")],
        *[
            (i, {"hoodie.index.type": i, **NO_METADATA}, moves)
            for i in ("GLOBAL_SIMPLE", "GLOBAL_BLOOM")
            for moves in (False, True)
        ],
        ("RECORD_INDEX", RECORD_INDEX, False),
        ("with-metadata", {"hoodie.metadata.enable": "true"}, False),
    ]
    later = [
        ("RECORD_LEVEL_INDEX", RECORD_LEVEL_INDEX, False),
        ("GLOBAL_RECORD_LEVEL_INDEX", GLOBAL_RECORD_LEVEL_INDEX, False),
    ]
    of = {stock: kinds if stock == OLDEST else kinds + later for stock in VERSIONS}
    return [Case(stock, *kind, turns=turns) for stock in VERSIONS for kind in of[stock]]


def given(turns: int, named: str = "", short: Container[str] = ()) -> list[Any]:
    found = [c for c in cases(turns) if not short or str(c) in short]
    return [pytest.param(c, id=f"{c}{named}", marks=() if short else pytest.mark.slow) for c in found]


SHORT = (f"{NEWEST}-default", f"{NEWEST}-RECORD_INDEX")
CASES = [*given(6, "-short", SHORT), *given(12), *given(30, "-long")]


class Turns:
    """The turns of one table, of 300 keys, which a seed draws."""

    KEYS = 300

    def __init__(self, table: Written, case: Case, seed: int) -> None:
        self.table, self.case, self.drawn = table, case, random.Random(seed)
        self.turn, self.done = 0, list[str]()
        self.globally = self.case.index in GLOBAL
        self.has_deletes_in_logs = False

    def chosen(self) -> tuple[str, list[str]]:
        """A condition for some 60 keys, and the partitions of this turn's rows."""
        rotate = self.case.moves and self.drawn.random() < 0.3
        only = f"abs(xxhash64(id, {self.drawn.randrange(1 << 30)})) % 5 = 0"
        return only, ROTATED if rotate else hudifix.PARTS

    def rows(self, only: str, parts: list[str], when: int) -> DataFrame:
        number = re.sub(r"\bid\b", "cast(substr(id, 2) as int)", only)
        made = hudifix.mk(self.table, 0, self.KEYS, self.turn, f"id + {when} * 1000", parts=parts)
        return made.where(number)

    def ours(self) -> None:
        kind = self.drawn.choice(["upsert", "upsert", "upsert", "late", "delete", "compact", "index"])
        only, parts = self.chosen()
        self.done.append(f"ours {kind}")
        table = self.table
        options = dict(MOVES) if self.case.moves else {}
        if not self.globally:
            options["hudiidx.write.global"] = "false"
        if kind == "upsert":
            rows = self.rows(only, parts, self.turn)
            table.save(rows, **options)
            table.expect(rows)
        elif kind == "late":
            rows = self.rows(only, hudifix.PARTS if not self.case.moves else parts, 0)
            table.save(rows, **options)
            table.expect(rows)
        elif kind == "delete":
            self.delete(only, lambda rows: table.save(rows, "delete", **options))
        elif kind == "compact":
            self.compact()
        else:
            HudiIndex(table.spark, table.path).create(record="global")

    def compact(self) -> None:
        HudiIndex(self.table.spark, self.table.path).compact_table()
        self.has_deletes_in_logs = False

    def delete(self, only: str, run: Any) -> None:
        rows = self.rows(only, hudifix.PARTS, 0)
        run(rows.select("id", "city"))
        self.has_deletes_in_logs = True
        for row in rows.collect():
            self.table.rows.pop(row.id, None)

    def theirs(self) -> None:
        kind = self.drawn.choice(["upsert", "upsert", "upsert", "delete", "compact", "clean"])
        if self.turn == 2:  # of keys that are as our first write left them
            kind = "upsert"
        only, parts = self.chosen()
        self.done.append(f"stock {kind}")
        table, stock = self.table, self.table.stock
        if self.case.revives_twice and self.has_deletes_in_logs and not has_record_index(table.path):
            self.compact()
        asked = {"name": table.name, "first": 0, "end": self.KEYS, "seed": self.turn, "only": only}
        if kind == "upsert":
            stock.write(**asked, parts=parts)
            table.expect(self.rows(only, parts, self.turn))
        elif kind == "delete" and not self.case.moves:
            self.delete(only, lambda _: stock.write(**asked, operation="delete"))
        elif kind == "clean":
            stock.clean(name=table.name)
        else:
            stock.compact(name=table.name)
            self.has_deletes_in_logs = False

    def check(self) -> None:
        table = self.table
        frame = table.ours()
        columns = [c for c in frame.columns if not c.startswith("_hoodie_")]
        rows = frame.select(columns).collect()
        assert len(rows) == len(table.rows), self.done
        wanted = {k: {c: r.get(c) for c in columns} for k, r in table.rows.items()}
        assert {r.id: r.asDict() for r in rows} == wanted, self.done
        texts = list(hudifix.answer(frame)[0])
        theirs = table.stock.texts(name=table.name, options={"hoodie.metadata.enable": "true"})
        assert theirs == texts, self.done

    def run(self) -> None:
        for turn in range(1, self.case.turns + 1):
            self.turn = turn
            if turn % 2:
                self.ours()
            else:
                self.theirs()
            self.check()


@pytest.mark.parametrize("case", CASES)
def test_by_turns_with_each_of_stocks_indexes(
    spark: SparkSession, request: pytest.FixtureRequest, case: Case, tmp_path: Path
) -> None:
    seed = int(os.environ.get("HUDIIDX_TEST_SEED", time.time_ns()))
    print(f"HUDIIDX_TEST_SEED={seed} {case}")
    stock = request.getfixturevalue(case.stock)
    name = f"others-{case.stock[-2:]}-{case.index}-{case.moves}-{case.turns}".lower()
    table = Written(spark, stock, VERSIONS[case.stock], tmp_path / name)
    moves = MOVES if case.moves else dict.fromkeys(MOVES, "false")
    turns = Turns(table, case, seed)
    rows = turns.rows("true", hudifix.PARTS, 0).where("id < 'k000200'")
    table.upsert(rows)
    stock.adopt(name=table.name, path=str(table.path), kind="MOR", options={**case.options, **moves})
    turns.check()
    turns.run()


def doctor(table: Written) -> dict[str, str]:
    """What `hudiidx doctor` finds of where new records go."""
    command = Path(sys.executable).with_name("hudiidx")
    done = subprocess.run(
        [command, "doctor", table.path, "--json"], capture_output=True, text=True, check=True
    )
    found: list[dict[str, str]] = json.loads(done.stdout)["findings"]
    return next(f for f in found if f["check"] == "new records")


def properties(path: Path) -> list[str]:
    return (path / ".hoodie" / "hoodie.properties").read_text().splitlines()


def has_record_index(path: Path) -> bool:
    """Whether stock's metadata table has one."""
    named = (p for p in properties(path) if p.startswith("hoodie.table.metadata.partitions="))
    return any("record_index" in p for p in named)


@pytest.mark.slow
@pytest.mark.parametrize("compacted", [False, True], ids=["as-it-is", "compacted"])
@pytest.mark.parametrize("version", each(of=[v for v in VERSIONS if v != OLDEST]))
def test_stock_that_makes_its_record_level_index_anew_over_deletes_in_logs(
    request: pytest.FixtureRequest, version: str, compacted: bool
) -> None:
    """Stock alone: what docs/writing.md says of 1.1, and that a compaction keeps it from happening."""
    stock = request.getfixturevalue(version)
    name = f"revived-{version[-2:]}-{compacted}".lower()
    stock.new(name=name, kind="MOR", options={"hoodie.index.type": "SIMPLE", **NO_METADATA})
    for seed in (1, 2):
        stock.write(name=name, first=0, end=100, seed=seed)
    stock.write(name=name, first=0, end=100, seed=0, only="id % 5 = 0", operation="delete")
    if compacted:
        stock.compact(name=name)
    for seed in (3, 4):
        stock.write(name=name, first=0, end=100, seed=seed, **RECORD_LEVEL_INDEX)
    are_twice = Case(version, "RECORD_LEVEL_INDEX").revives_twice and not compacted
    assert stock.rows(name=name)["count"] == (120 if are_twice else 100)


@pytest.mark.parametrize("version", IN_SHORT)
def test_records_that_an_earlier_writer_left_in_logs_are_told_and_compacted(
    spark: SparkSession, request: pytest.FixtureRequest, version: str, tmp_path: Path
) -> None:
    stock = request.getfixturevalue(version)
    table = Written(spark, stock, VERSIONS[version], tmp_path / f"earlier-{version[-2:]}")
    turns = Turns(table, Case(version, "default", NO_METADATA), 1)
    first = turns.rows("true", hudifix.PARTS, 0).where("id < 'k000200'")
    table.save(first, **LOG_INSERTS)
    table.expect(first)
    # Earlier versions left no property.
    kept = [p for p in properties(table.path) if not p.startswith("hudiidx.")]
    (table.path / ".hoodie" / "hoodie.properties").write_text("\n".join(kept) + "\n")
    table.upsert(turns.rows("true", hudifix.PARTS, 1).where("id > 'k000190'"))
    found = doctor(table)
    assert found["status"] == "warning"
    assert f"hudiidx compact-table {table.path}" in found["advice"]
    HudiIndex(spark, table.path).compact_table()
    assert doctor(table)["status"] == "ok"
    stock.adopt(name=table.name, path=str(table.path), kind="MOR", options=NO_METADATA)
    turns.turn = 2
    stock.write(name=table.name, first=0, end=Turns.KEYS, seed=2)
    table.expect(turns.rows("true", hudifix.PARTS, 2))
    turns.check()


@pytest.mark.slow
@pytest.mark.parametrize("version", IN_SHORT)
def test_records_that_stocks_inmemory_index_left_in_logs(
    spark: SparkSession, request: pytest.FixtureRequest, version: str, tmp_path: Path
) -> None:
    """Such a writer knows its own keys alone; ours finds them, and behind a compaction all do."""
    stock = request.getfixturevalue(version)
    name = f"inmemory-{version[-2:]}"
    path = stock.new(name=name, kind="MOR", options={"hoodie.index.type": "INMEMORY", **NO_METADATA})
    table = Written(spark, stock, VERSIONS[version], Path(path))
    turns = Turns(table, Case(version, "default", NO_METADATA), 1)
    stock.write(name=name, first=0, end=200, seed=1)
    turns.turn = 1
    table.expect(turns.rows("true", hudifix.PARTS, 1).where("id < 'k000200'"))
    turns.turn = 2
    table.upsert(turns.rows("true", hudifix.PARTS, 2).where("id > 'k000100'"))
    turns.check()
    turns.delete("id % 3 = 0", lambda rows: table.save(rows, "delete"))
    turns.check()
    HudiIndex(spark, table.path).compact_table()
    stock.write(name=name, first=0, end=Turns.KEYS, seed=3, **{"hoodie.index.type": "SIMPLE"})
    turns.turn = 3
    table.expect(turns.rows("true", hudifix.PARTS, 3))
    turns.check()


@pytest.mark.slow
@pytest.mark.parametrize("later", each(of=[v for v in VERSIONS if v != OLDEST]))
def test_stock_keeps_the_setting_that_sends_new_records_to_logs(
    spark: SparkSession, request: pytest.FixtureRequest, stock_0_15: Any, later: str, tmp_path: Path
) -> None:
    """Through its writes, which keep its metadata table in the properties, an upgrade and a downgrade."""
    stock = request.getfixturevalue(later)
    table = Written(spark, stock_0_15, 6, tmp_path / f"setting-{later[-2:]}", **LOG_INSERTS)
    table.upsert(table.make(0, 40, 1, 1))
    setting = "hudiidx.write.log.inserts=true"
    assert setting in properties(table.path)
    options = {**OURS, "hoodie.metadata.enable": "true"}
    for writer in (stock_0_15, stock):
        writer.adopt(name=table.name, path=str(table.path), kind="MOR", options=options)
    stock_0_15.write(name=table.name, first=30, end=60, seed=2)
    table.expect(table.make(30, 60, 2, 2))
    assert setting in properties(table.path)
    assert any(p.startswith("hoodie.table.metadata.partitions=") for p in properties(table.path))
    assert not list(table.path.glob("*/*.parquet"))  # its inserts went to logs too
    table.assert_right()
    stock.migrate(name=table.name, version="NINE")
    assert setting in properties(table.path)
    stock.write(name=table.name, first=50, end=80, seed=3)
    table.expect(table.make(50, 80, 3, 3))
    assert setting in properties(table.path)
    table.stock = stock
    table.assert_right()
    stock.migrate(name=table.name, version="SIX")
    assert setting in properties(table.path)
