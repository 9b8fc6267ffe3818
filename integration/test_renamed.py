"""Columns that were renamed, or dropped and added again: files are read by the ids of their columns."""

from pathlib import Path

import pytest
from compare import expect_answer
from pyspark.sql import SparkSession

BY_ID = {"hoodie.schema.on.read.enable": "true"}
SHORT = ("stock_1_1", "MOR")
CASES = [
    pytest.param(v, kind, id=f"{v}-{kind}", marks=() if (v, kind) == SHORT else pytest.mark.slow)
    for v in ("stock_0_15", "stock_1_1")
    for kind in ("COW", "MOR")
]


@pytest.mark.parametrize(("version", "kind"), CASES)
def test_renamed_columns_are_read_by_their_ids(
    spark: SparkSession, request: pytest.FixtureRequest, version: str, kind: str
) -> None:
    stock, name = request.getfixturevalue(version), f"columns-{kind.lower()}"
    path = Path(stock.new(name=name, kind=kind, options={**BY_ID, "hoodie.metadata.enable": "false"}))

    def compare(as_of: str | None = None) -> None:
        options = {**BY_ID, **({"as.of.instant": as_of} if as_of else {})}
        frame = spark.read.format("hudiidx").options(**options).load(str(path))
        expect_answer(frame, stock.rows(name=name, options=options))

    struct = "named_struct('a', id, 'b', concat('b', id)) as info"
    stock.write(name=name, first=0, end=60, seed=1, operation="insert", columns=[struct], **BY_ID)
    stock.write(name=name, first=10, end=40, seed=2, columns=[struct], **BY_ID)
    before = stock.travel(name=name)[-1]["as_of"]
    compare()
    stock.alter(name=name, changes=["rename column rider to driver", "rename column info.a to c"])
    compare()
    stock.alter(name=name, changes=["drop column note", "add columns (note string)"])
    compare()
    now = "named_struct('c', id, 'b', concat('b', id)) as info"
    drop = {"hoodie.datasource.write.schema.allow.auto.evolution.column.drop": "true"}
    stock.write(
        name=name, first=30, end=70, seed=3, columns=[now], renames={"rider": "driver"}, **BY_ID, **drop
    )
    compare()
    if kind == "MOR":
        stock.compact(name=name)
        compare()
    compare(before)
