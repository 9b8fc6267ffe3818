"""Readers beside Spark get the rows of a query from the paths of `files(where=)`, as docs/python.md shows."""

from importlib import import_module
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from hudiidx import HudiIndex

WHERE = "qty > 40"


@pytest.fixture
def index(spark: SparkSession, cow: Path) -> HudiIndex:
    made = HudiIndex(spark, cow, strict=True)
    made.create(columns="qty")
    return made


@pytest.fixture
def wanted(spark: SparkSession, index: HudiIndex) -> list[str]:
    """Keys by Spark, without the index."""
    rows = spark.read.format("hudiidx").option("hudiidx.index.enabled", "false").load(index.path)
    found = sorted(row.id for row in rows.where(WHERE).collect())
    assert found
    return found


def test_duckdb(index: HudiIndex, wanted: list[str]) -> None:
    duckdb = import_module("duckdb")
    paths = index.files(where=WHERE)
    rows = duckdb.read_parquet(paths).filter(WHERE).select("id").fetchall()
    assert sorted(row[0] for row in rows) == wanted


def test_polars(index: HudiIndex, wanted: list[str]) -> None:
    pl = import_module("polars")
    found = pl.scan_parquet(index.files(where=WHERE)).filter(pl.col("qty") > 40).collect()
    assert sorted(found["id"].to_list()) == wanted


def test_arrow(index: HudiIndex, wanted: list[str]) -> None:
    dataset, compute = import_module("pyarrow.dataset"), import_module("pyarrow.compute")
    found = dataset.dataset(index.files(where=WHERE)).to_table(filter=compute.field("qty") > 40)
    assert sorted(found["id"].to_pylist()) == wanted
