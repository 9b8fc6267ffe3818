"""Columns whose type was changed into one that values are cast to: rows are those of stock Hudi."""

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import hudifix
import pytest
from pyspark.sql import DataFrame, SparkSession
from stock_hudi import NEWEST, each
from test_random import WAYS
from test_renamed import BY_ID, CASES, DROPS, Columns

from hudiidx import HudiIndex

# Where a text stands for no value, stock's writers fail; what its readers have then is in ChangedTypesSuite.
TEXTS = [
    "case when id % 11 <> 4 then cast(date_add(date'2019-12-20', cast(id as int)) as string) end as born",
    "case when id % 11 <> 4 then concat(id, '.505') end as amount",
]
VALUES = ["date'2024-02-29' as born", "cast(12.25 as decimal(10,2)) as amount"]
# What a column was that went, and what it is when it comes again.
AGAIN = {
    "number": ("case when id % 3 = 0 then 'x' else concat('', id) end", "cast(id as int)"),
    "real": ("concat(id, '.25')", "cast(id as double)"),
    "less": ("id * 1000000000", "cast(id as int)"),
    "truth": ("id % 2 = 0", "cast(id as int)"),
    "whole": ("cast(id as double) / 4", "cast(id as int)"),
    "narrow": ("cast(id * 100 as decimal(10,2))", "cast(1.5 as decimal(5,1))"),
}


@pytest.mark.parametrize(
    ("release", "kind"),
    [
        pytest.param(*c.values, id=c.id, marks=() if c.values == (NEWEST, "MOR") else pytest.mark.slow)
        for c in CASES
    ],
)
def test_texts_that_became_dates_and_decimals_are_stocks(
    spark: SparkSession, request: pytest.FixtureRequest, release: str, kind: str
) -> None:
    table = Columns(spark, request.getfixturevalue(release), f"parsed-{release}-{kind}".lower(), kind)
    more = {**BY_ID, **DROPS}
    table.stock.write(name=table.name, first=0, end=24, seed=1, columns=TEXTS, **more)
    table.stock.write(name=table.name, first=3, end=9, seed=2, columns=TEXTS, **more)
    HudiIndex(spark, table.path).create(columns="*", values=["born"], bloom=["amount"])
    table.alter("alter column born type date", "alter column amount type decimal(10,2)")

    def compare() -> None:
        table.compare()
        for how in WAYS:
            assert_filters(table.read(**how), {"born": date(2020, 1, 1), "amount": Decimal(5)})

    compare()
    table.stock.write(name=table.name, first=6, end=12, seed=3, columns=VALUES, **more)
    compare()
    HudiIndex(spark, table.path).update()
    compare()


@pytest.mark.parametrize("kind", ["COW", "MOR"])
@pytest.mark.parametrize("release", each(("stock_1_1", "stock_1_2")))
def test_columns_that_went_and_came_again_with_another_type_are_stocks(
    spark: SparkSession, request: pytest.FixtureRequest, release: str, kind: str
) -> None:
    stock, name = request.getfixturevalue(release), f"again-{release}-{kind}".lower()
    options = {"hoodie.metadata.enable": "false", "hoodie.parquet.small.file.limit": "0", **DROPS}
    path = Path(stock.new(name=name, kind=kind, options=options))

    def columns(which: int) -> list[str]:
        return [f"case when id < 1000 then {types[which]} end as {name}" for name, types in AGAIN.items()]

    stock.write(name=name, first=0, end=12, seed=1, operation="bulk_insert", columns=columns(0))
    stock.write(name=name, first=12, end=24, seed=1, operation="bulk_insert", columns=columns(0))
    index = HudiIndex(spark, path)
    index.create(columns="*")
    stock.write(name=name, first=24, end=30, seed=1, operation="bulk_insert")
    stock.write(name=name, first=30, end=36, seed=1, operation="bulk_insert", columns=columns(1))
    if kind == "MOR":  # where stock rewrites a file it cannot read such columns
        stock.write(name=name, first=8, end=14, seed=2, columns=columns(1))
    wanted = stock.rows(name=name)
    for updated in (False, True):
        if updated:
            index.update()
        for how in WAYS:
            frame = spark.read.format("hudiidx").options(**how).load(str(path))
            got = hudifix.answer(frame)[1]
            assert got == {k: wanted[k] for k in got}, (how, frame.schema)
            assert_filters(frame, dict.fromkeys(AGAIN, 2))


def assert_filters(frame: DataFrame, columns: dict[str, Any]) -> None:
    """They give what the rows themselves say, by column and a value of it.

    Stock lets Parquet judge values of the older type, and loses rows.
    """
    every = frame.select("id", *columns).collect()
    for column, value in columns.items():
        tests: dict[str, Callable[[Any], bool]] = {
            "is null": lambda v: v is None,
            "is not null": lambda v: v is not None,
            f"> {literal(value)}": lambda v, least=value: v is not None and v > least,
            f"= {literal(value)}": lambda v, wanted=value: v == wanted,
        }
        for condition, holds in tests.items():
            found = [r.id for r in frame.where(f"{column} {condition}").select("id").collect()]
            assert sorted(found) == sorted(r.id for r in every if holds(r[column])), (column, condition)


def literal(value: Any) -> str:
    return f"date'{value}'" if isinstance(value, date) else str(value)
