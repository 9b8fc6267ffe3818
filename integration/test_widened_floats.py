"""Floats of a column that became double, live: rows are stock's, which makes 0.1 of a base file's 0.1f."""

import pytest
from pyspark.sql import SparkSession
from stock_hudi import each

from hudiidx import HudiIndex

FILES = {"hoodie.parquet.small.file.limit": "0", "hoodie.metadata.enable": "false"}
ROWS = "select id, 0 as n, 'oslo' as city, 1L as ts, cast({value} as {kind}) as f from values {keys} as t(id)"


@pytest.mark.parametrize("release", each(short=("stock_0_15",)))
@pytest.mark.parametrize("kind", ["COW", "MOR"])
def test_rows_and_filters_are_those_of_stock(
    spark: SparkSession, request: pytest.FixtureRequest, release: str, kind: str
) -> None:
    stock, name = request.getfixturevalue(release), f"floats-{release}-{kind}".lower()
    path = stock.new(name=name, kind=kind, options=FILES)

    def write(value: str, of: str, keys: str, operation: str) -> None:
        stock.write_sql(
            name=name, sql=ROWS.format(value=value, kind=of, keys=keys), operation=operation, **FILES
        )

    write("0.1", "float", "('a'), ('b')", "insert")
    write("0.3", "float", "('c')", "insert")
    if kind == "MOR":
        write("0.7", "float", "('b')", "upsert")
    write("0.2", "double", "('d')", "insert")
    wanted = sorted(stock.values(name=name, column="f"))
    assert len(wanted) == 4
    for index in (False, True):
        if index:
            HudiIndex(spark, path).create(columns="*")
        frame = spark.read.format("hudiidx").load(path)
        assert sorted(str((row.id, row.n, row.f)) for row in frame.collect()) == wanted
        equal = ["a"] if kind == "MOR" else ["a", "b"]
        assert sorted(row.id for row in frame.where("f = 0.1D").collect()) == equal
