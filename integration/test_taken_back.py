"""Overwrites that stock Hudi rolls back and archives behind, under an index that is in step or stale: rows,
keys, filters and time travel are what was written."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from written import IN_SHORT, VERSIONS, Written, assert_same_history

from hudiidx import HudiIndex

KEYS = [f"k{n:06d}" for n in (1, 11, 42, 62, 85, 95, 205)]
FILTERS = [
    "n = 78",
    "n between 200 and 260",
    "n > 1400",
    "rider = 'rider-5'",
    "fare < 60",
    "qty = 7 or note is null",
]
State = dict[str, Any]


class Indexed(Written):
    """A table with an index in step, a stale one elsewhere, and what it held at each instant."""

    def __init__(self, spark: SparkSession, stock: Any, fixture: str, path: Path) -> None:
        super().__init__(spark, stock, VERSIONS[fixture], path)
        self.held = dict[str, State]()
        self.elsewhere = {"hudiidx.index.path": str(path.parent / f"{path.name}-stale")}

    def index(self) -> None:
        for where in (None, self.elsewhere["hudiidx.index.path"]):
            HudiIndex(self.spark, self.path, index_path=where).create(
                record="global", columns="*", bloom="id,n"
            )
        self.handle = HudiIndex(self.spark, self.path)

    def completed(self) -> list[str]:
        return list(self.stock.completed(name=self.name))

    def note(self) -> None:
        """What the table holds belongs to the last instant."""
        self.held[self.completed()[-1]] = dict(self.rows)

    def assert_past(self) -> None:
        """Rows by key as of each instant there ever was: rolled back ones show what was before them."""
        there = self.completed()
        for instant in self.held:
            before = [i for i in there if i <= instant and i in self.held]
            expected = self.held[before[-1]] if before else {}
            wanted = {key: expected[key]["n"] for key in KEYS if key in expected}
            keys = ", ".join(f"'{key}'" for key in KEYS)
            for options in ({}, self.elsewhere):
                frame = self.ours(**{"as.of.instant": instant, **options}).where(f"id in ({keys})")
                assert {r.id: r.n for r in frame.select("id", "n").collect()} == wanted, (instant, options)

    def assert_filters(self) -> None:
        """By bounds and blooms of groups that were away: rows of a plain read, whose files `prune` names."""
        plain = self.ours(**{"hudiidx.read.column.stats": "false", "hudiidx.read.record.keys": "false"})
        rows = plain.cache()
        for where in FILTERS:
            wanted = {(r._hoodie_record_key, r._hoodie_file_name) for r in rows.where(where).collect()}
            for options in ({}, self.elsewhere):
                found = self.ours(**options).where(where)
                assert {(r._hoodie_record_key, r._hoodie_file_name) for r in found.collect()} == wanted, where
            kept = {r.file_id for r in self.handle.prune(where).select("file_id").collect()}
            # Rows of logs bear the name of a log, or their group's file id alone.
            assert {name.lstrip(".").split("_")[0] for _, name in wanted} <= kept, where
        rows.unpersist()
        assert {place.key for place in self.handle.lookup(KEYS)} == set(KEYS) & set(self.rows)

    def check(self) -> None:
        """All of it, the index behind and then in step."""
        self.assert_right()
        self.assert_filters()
        self.handle.update()
        report = HudiIndex(self.spark, self.path, strict=True).verify()
        assert report.ok, report.differences
        self.assert_filters()
        self.assert_past()


def adopted(table: Indexed, **settings: str) -> Indexed:
    """With sixty rows of ours, and known to stock Hudi."""
    table.upsert(table.make(0, 60, 1, 1))
    table.adopt(**settings)
    return table


def dynamic(table: Indexed, rows: DataFrame) -> None:
    table.overwrite(rows, partitionOverwriteMode="dynamic")


@pytest.mark.slow
@pytest.mark.parametrize("version", IN_SHORT)
def test_keys_filters_and_time_travel_across_overwrites_that_are_rolled_back(
    spark: SparkSession, request: pytest.FixtureRequest, version: str, tmp_path: Path
) -> None:
    stock = request.getfixturevalue(version)
    table = adopted(Indexed(spark, stock, version, tmp_path / f"back-{version[-2:]}"))
    table.note()
    table.upsert(table.make(30, 90, 2, 2))
    table.note()
    table.index()
    two = "city in ('oslo', 'lima')"
    for first, rows in ((80, two), (200, "true")):
        before = table.state()
        dynamic(table, table.make(first, first + 40, 3, 3).where(rows))
        table.note()
        table.upsert(table.make(85, 100, 4, 4))
        table.note()
        table.check()
        # The write behind it first.
        stock.roll_back(name=table.name)
        stock.roll_back(name=table.name)
        table.restore(before)
        table.check()
    table.upsert(table.make(20, 100, 5, 5))
    table.note()
    table.overwrite(table.make(0, 50, 6, 6))
    table.note()
    table.check()
    assert_same_history(table)


# Two commits stay; the rest is archived as soon as it may be.
ARCHIVING = {
    "hoodie.keep.min.commits": "4",
    "hoodie.keep.max.commits": "5",
    "hoodie.commits.archival.batch": "1",
    "hoodie.archive.automatic": "true",
    "hoodie.clean.automatic": "true",
    "hoodie.clean.commits.retained": "2",
    "hoodie.cleaner.commits.retained": "2",
}


@pytest.mark.slow
@pytest.mark.parametrize("version", IN_SHORT)
def test_stock_archives_behind_overwrites_one_of_which_it_rolled_back(
    spark: SparkSession, request: pytest.FixtureRequest, version: str, tmp_path: Path
) -> None:
    stock = request.getfixturevalue(version)
    table = adopted(Indexed(spark, stock, version, tmp_path / f"archived-{version[-2:]}"), **ARCHIVING)
    table.overwrite(table.make(20, 80, 2, 2))
    table.index()
    before = table.state()
    dynamic(table, table.make(70, 110, 3, 3).where("city in ('oslo', 'sf')"))
    table.handle.update()
    stock.roll_back(name=table.name)
    table.restore(before)
    begin = table.completed()[0]
    for turn in range(4, 11):
        stock.write(name=table.name, first=10 * turn, end=10 * turn + 30, seed=turn)
        table.expect(table.make(10 * turn, 10 * turn + 30, turn, turn))
        if turn == 7:
            table.overwrite(table.make(40, 90, 70, 70))
        if turn % 3 == 0:
            table.assert_right()
    assert begin not in table.completed()
    table.check()
    table.upsert(table.make(0, 30, 80, 80))
    table.check()


def test_stock_restores_a_table_to_before_its_upgrade_under_an_index(
    spark: SparkSession, stock_1_2: Any, tmp_path: Path
) -> None:
    table = Written(spark, stock_1_2, 6, tmp_path / "before-the-upgrade")
    table.upsert(table.make(0, 60, 1, 1))
    table.adopt(**{"hoodie.write.table.version": "6", "hoodie.write.auto.upgrade": "false"})
    then, before = stock_1_2.savepoint(name=table.name), table.state()
    table.delete(0, 30)
    handle = HudiIndex(spark, table.path)
    handle.create(record="global")
    # Upgrades it, with a compaction, and rolls back that and the deletes, whose logs stay.
    stock_1_2.restore(name=table.name, to=then)
    assert "hoodie.table.version=9" in (table.path / ".hoodie" / "hoodie.properties").read_text()
    table.restore(before)
    table.assert_right()

    def assert_found() -> None:
        wanted = sorted(set(KEYS) & set(table.rows))
        assert sorted(place.key for place in HudiIndex(spark, table.path).lookup(KEYS)) == wanted
        named = ", ".join(f"'{key}'" for key in KEYS)
        assert sorted(r.id for r in table.ours().where(f"id in ({named})").collect()) == wanted

    assert_found()
    handle.update()
    assert handle.verify(record=True).ok
    assert_found()
    # From here on stock takes the undone blocks for committed ones: they are older than the last write.
    table.options["hoodie.write.table.version"] = "9"
    table.upsert(table.make(40, 70, 2, 2))
    assert {r.id: r.n for r in table.ours().collect()} == {key: row["n"] for key, row in table.rows.items()}
    assert_found()
    handle.update()
    assert_found()
    # Once they are merged away stock has the rows too.
    handle.compact_table()
    table.assert_right()
    assert_found()
    assert handle.verify(record=True).ok
