"""Time travel to a moment before a table's first commit: no rows, and the table's columns, as in Hudi."""

import itertools
from pathlib import Path
from typing import Any

import hudifix
import pytest
from pyspark.sql import DataFrame, SparkSession
from stock_hudi import NEWEST, RELEASES, each

from hudiidx import HudiIndex

MOMENTS = ("20000101000000000", "20000101000000", "2000-01-01 00:00:00", "2000-01-01")
SHORT = (NEWEST, "MOR")
CASES = [
    pytest.param(*case, marks=[] if case == SHORT else [pytest.mark.slow])
    for case in itertools.product(RELEASES, ["COW", "MOR"])
]
BASE_FILES = {"hoodie.datasource.query.type": "read_optimized"}


def assert_empty(frame: DataFrame, columns: list[list[str]]) -> None:
    assert frame.collect() == [] and frame.count() == 0
    assert frame.where("n > 3 and city = 'sf'").select("id").collect() == []
    assert frame.selectExpr("count(*)", "max(n)", "count(city)").first() == (0, None, 0)
    assert [list(c) for c in frame.dtypes] == columns


@pytest.mark.parametrize(("release", "kind"), CASES)
def test_before_the_first_commit_there_are_no_rows(
    spark: SparkSession, release: str, kind: str, request: pytest.FixtureRequest
) -> None:
    stock: Any = request.getfixturevalue(release)
    name = f"before-all-{kind}".lower()
    path = Path(stock.new(name=name, kind=kind, options={}))
    stock.write(name=name, first=0, end=24, seed=2, operation="insert")
    stock.write(name=name, first=4, end=30, seed=3, columns=["nullif(id, -1) as extra"])
    columns = [list(c) for c in spark.read.format("hudiidx").load(str(path)).dtypes]
    assert columns == stock.columns(name=name) and ["extra", "bigint"] in columns
    spark.conf.set("spark.sql.catalog.hudiidx", "hudiidx.spark.HudiIdxCatalog")

    def check() -> None:
        for moment in MOMENTS:
            for query in ({}, BASE_FILES):
                as_of = {"as.of.instant": moment, **query}
                assert stock.texts(name=name, options=as_of) == []
                # Of base files stock puts the partition's column behind the others.
                asked = stock.columns(name=name, options=as_of)
                assert sorted(asked) == sorted(columns)
                assert_empty(spark.read.format("hudiidx").options(**as_of).load(str(path)), asked)
            assert_empty(spark.sql(f"SELECT * FROM hudiidx.`{path}` VERSION AS OF '{moment}'"), columns)
        for moment in MOMENTS[2:]:
            assert stock.as_of(name=name, moment=moment) == []
            assert_empty(spark.sql(f"SELECT * FROM hudiidx.`{path}` TIMESTAMP AS OF '{moment}'"), columns)

    check()
    HudiIndex(spark, path).create(record="global", columns="*")
    check()
    first = stock.completed(name=name)[0]
    found = hudifix.answer(spark.sql(f"SELECT * FROM hudiidx.`{path}` VERSION AS OF '{first}'"))[0]
    assert len(found) == 24 and list(found) == stock.texts(name=name, as_of=first)


@pytest.mark.parametrize("release", each())
def test_before_the_first_commit_a_table_of_sql_has_the_columns_that_it_has_now(
    spark: SparkSession, release: str, request: pytest.FixtureRequest
) -> None:
    """Not those of its CREATE TABLE, which its properties keep."""
    stock: Any = request.getfixturevalue(release)
    name = "before-all-sql"
    made = {"type": "cow", "primaryKey": "id", "preCombineField": "ts"}
    columns = "id string, n long, ts long, city string"
    path = stock.create_table(name=name, columns=columns, partition="city", properties=made)
    as_of = {"as.of.instant": MOMENTS[0]}

    def check(*columns: str) -> None:
        asked = stock.columns(name=name, options=as_of)
        assert sorted(c for c, _ in asked if not c.startswith("_hoodie_")) == sorted(columns)
        assert_empty(spark.read.format("hudiidx").options(**as_of).load(path), asked)

    stock.statement(name=name, sql="insert into @T select 'a', 1L, 1L, 'sf'")
    check("id", "n", "ts", "city")
    stock.statement(name=name, sql="alter table @T add columns (more int)")
    stock.statement(name=name, sql="insert into @T select 'b', 1L, 1L, 2, 'sf'")
    check("id", "n", "ts", "city", "more")
