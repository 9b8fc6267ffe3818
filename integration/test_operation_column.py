"""The meta column of records' operations, written by stock Hudi as it goes: ours shows what stock shows."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from stock_hudi import each

from hudiidx import HudiIndex

COLUMN = "_hoodie_operation"
ALLOW = "hoodie.allow.operation.metadata.field"
STOCK = each(of=["stock_1_1", "stock_1_2"])
NO_STATS = {"hoodie.metadata.index.column.stats.enable": "false"}


def _ours(spark: SparkSession, path: Path, **options: str) -> DataFrame:
    return spark.read.format("hudiidx").options(**options).load(str(path))


def _operations(rows: DataFrame) -> list[list[str | None]] | None:
    if COLUMN not in rows.columns:
        return None
    return sorted([r[0], r[1]] for r in rows.select("_hoodie_record_key", COLUMN).collect())


def _assert_same(spark: SparkSession, stock: Any, name: str, path: Path) -> Any:
    """Column and rows, and the counts of filters on it; without an index too."""
    wanted = stock.operations(name=name)
    nowhere = str(path.parent / "no-index")
    for options in ({}, {"hudiidx.index.path": nowhere}):
        rows = _ours(spark, path, **options)
        assert _operations(rows) == wanted
        if wanted is not None:
            for filter, holds in (
                (f"{COLUMN} = 'U'", lambda o: o == "U"),
                (f"{COLUMN} is null", lambda o: o is None),
                (f"{COLUMN} < 'U'", lambda o: o is not None and o < "U"),
            ):
                assert rows.where(filter).count() == sum(holds(o) for _, o in wanted)
    return wanted


@pytest.mark.slow
@pytest.mark.parametrize("kind", [pytest.param("COW", marks=pytest.mark.slow), "MOR"])
@pytest.mark.parametrize("release", STOCK)
def test_the_column_is_there_when_stock_shows_it(
    spark: SparkSession, release: str, kind: str, request: pytest.FixtureRequest
) -> None:
    stock: Any = request.getfixturevalue(release)
    name = f"operation-{kind.lower()}"
    path = Path(stock.new(name=name, kind=kind, options={**NO_STATS, ALLOW: "true"}))
    stock.write(name=name, first=0, end=30, seed=1, operation="insert")
    assert _assert_same(spark, stock, name, path) is not None
    index = HudiIndex(spark, path, strict=True)
    index.create(columns=[COLUMN, "n"], bloom=[COLUMN])
    assert _assert_same(spark, stock, name, path) is not None
    if kind == "MOR":
        stock.write_records(name=name, first=0, end=12, seed=2, operations={"U": "n < 8", "D": "n >= 8"})
        stock.write_records(name=name, first=9, end=10, seed=3, operations={"I": "true"})
    else:
        stock.write(name=name, first=0, end=12, seed=2)
    with_it = _assert_same(spark, stock, name, path)
    assert with_it is not None and len(with_it) == (27 if kind == "MOR" else 30)
    index.update()
    assert _assert_same(spark, stock, name, path) == with_it


@pytest.mark.parametrize("release", STOCK)
def test_deleted_records_stay_deleted_where_a_write_hides_the_column(
    spark: SparkSession, release: str, request: pytest.FixtureRequest
) -> None:
    """Stock takes them for rows again: it does not look at the column of logs then."""
    stock: Any = request.getfixturevalue(release)
    name = "operation-hidden"
    path = Path(stock.new(name=name, kind="MOR", options={**NO_STATS, ALLOW: "true"}))
    stock.write(name=name, first=0, end=20, seed=1, operation="insert")
    stock.write_records(name=name, first=0, end=8, seed=2, operations={"U": "n < 4", "D": "n >= 4"})
    deleted = {f"k{n:06d}" for n in range(4, 8)}
    before = {row[0] for row in _assert_same(spark, stock, name, path)}
    assert len(before) == 16 and not before & deleted
    stock.write(name=name, first=10, end=12, seed=3, **{ALLOW: "false"})
    assert stock.operations(name=name) is None
    rows = _ours(spark, path)
    assert COLUMN not in rows.columns
    assert {r[0] for r in rows.select("_hoodie_record_key").collect()} == before
    stocks = {key for _, _, keys in stock.groups(name=name)["groups"] for key in keys}
    assert stocks == before | deleted


@pytest.mark.slow
@pytest.mark.parametrize("release", STOCK)
def test_the_newest_write_that_gave_files_rows_says_whether_it_is_there(
    spark: SparkSession, release: str, request: pytest.FixtureRequest
) -> None:
    stock: Any = request.getfixturevalue(release)
    name = "operation-on-and-off"
    path = Path(stock.new(name=name, kind="COW", options=NO_STATS))
    seen = []
    for n, allowed in enumerate(("false", "true", "false", "true")):
        options = {ALLOW: allowed}
        stock.write(name=name, first=n * 5, end=n * 5 + 10, seed=n + 1, **options)
        seen.append(_assert_same(spark, stock, name, path) is not None)
    stock.write(name=name, first=0, end=5, seed=9, operation="delete", **{ALLOW: "false"})
    seen.append(_assert_same(spark, stock, name, path) is not None)
    assert seen == [False, True, False, True, True]
