"""Time travel to a moment before a table's first commit: no rows, and the table's columns, as in Hudi."""

from pathlib import Path
from typing import Any

import hudifix
import pytest
from pyspark.sql import DataFrame, SparkSession
from stock_hudi import NEWEST, OLDEST

from hudiidx import HudiIndex

MOMENTS = ("20000101000000000", "20000101000000", "2000-01-01 00:00:00", "2000-01-01")
SHORT = (NEWEST, "MOR")
CASES = [
    pytest.param(*case, marks=[] if case == SHORT else [pytest.mark.slow])
    for case in ((OLDEST, "COW"), (NEWEST, "COW"), SHORT)
]


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
            as_of = {"as.of.instant": moment}
            assert stock.texts(name=name, options=as_of) == []
            assert_empty(spark.read.format("hudiidx").options(**as_of).load(str(path)), columns)
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
