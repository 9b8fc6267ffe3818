"""Listings and rows of the fixtures are as stock Hudi gave them: index absent, fresh, stale, damaged."""

from collections.abc import Callable
from pathlib import Path

import pytest
import stored
from compare import assert_listings, assert_rows, by_id
from pyspark.sql import SparkSession

from hudiidx import HudiIndex

# Shapes that differ most; `make test-all` takes every fixture.
SAMPLE = (
    "v6-cow-part",
    "v6-mor-part",
    "v6-mor-rollback",
    "v6-savepoint-restore",
    "v8-mor-event",
    "v8-cow-complex",
    "v9-cow-replace",
    "v9-cow-types",
    "v9-mor-part",
    "v9-archived-cow",
    "v9-zero-rows",
    "up-v6-cow-complex",
    "v12-mor-part",
)
FIXTURES = [pytest.param(n, marks=() if n in SAMPLE else pytest.mark.slow, id=n) for n in stored.names()]
MakeTable = Callable[[str], Path]


@pytest.mark.parametrize("name", FIXTURES)
def test_listings_and_rows_equal_stock_without_an_index(
    spark: SparkSession, make_table: MakeTable, name: str
) -> None:
    fixture, table = stored.load(name), make_table(name)
    assert_listings(HudiIndex(spark, table), fixture)
    assert_rows(spark, table, fixture)


@pytest.mark.parametrize("name", FIXTURES)
def test_listings_and_rows_equal_stock_with_a_fresh_index(
    spark: SparkSession, make_table: MakeTable, name: str
) -> None:
    fixture, table = stored.load(name), make_table(name)
    index = HudiIndex(spark, table, strict=True)
    index.create()
    assert index.info().state == "READY"
    assert_listings(index, fixture)
    assert_rows(spark, table, fixture, **{"hudiidx.index.strict": "true"})
    report = index.verify()
    assert report.ok, report.differences


@pytest.mark.parametrize("name", FIXTURES)
def test_listings_and_rows_equal_stock_while_the_index_lags_and_after_each_update(
    spark: SparkSession, make_table: MakeTable, name: str
) -> None:
    fixture, table = stored.load(name), make_table(name)
    behind = min(fixture.tail(), 2)
    index = HudiIndex(spark, table, strict=True)
    with stored.rewound(table, fixture, behind):
        HudiIndex(spark, table, strict=True, source="listing").create()
    if behind:
        info = HudiIndex(spark, table, strict=True).info()
        assert (info.state, info.instants_behind) == ("LAGGING", behind)
    assert_listings(index, fixture)
    assert_rows(spark, table, fixture, **{"hudiidx.index.strict": "true"})
    index.update()
    assert index.info().state == "READY"
    assert_listings(index, fixture)
    report = index.verify()
    assert report.ok, report.differences


@pytest.mark.parametrize("name", FIXTURES)
def test_listings_and_rows_equal_stock_with_a_damaged_index(
    spark: SparkSession, make_table: MakeTable, name: str
) -> None:
    # No byte of the files is as it was, but those of its versions.
    fixture, table = stored.load(name), make_table(name)
    index = HudiIndex(spark, table)
    index.create(columns="*")
    files = [f for f in (table / ".hoodie" / "hudiidx").iterdir() if f.is_file()]
    assert files
    for file in files:
        damaged = bytes(255 - b for b in file.read_bytes())
        file.unlink()
        file.write_bytes(damaged)
    assert_listings(index, fixture)
    assert_rows(spark, table, fixture)
    assert not index.verify().ok


@pytest.mark.parametrize("name", stored.WITH_MOVED_LOGS)
def test_slices_that_are_compared_otherwise_than_stock_told_are_not_as_it_told(
    spark: SparkSession, make_table: MakeTable, name: str
) -> None:
    fixture, index = stored.load(name), HudiIndex(spark, make_table(name))
    calls = [(call, p) for call in stored.SLICE_CALLS for p in fixture.partitions]
    told = {(call, p): fixture.slices(p, call, rewritten=False) for call, p in calls}
    assert any(by_id(getattr(index, call)(p)) != told[call, p] for call, p in calls)
