"""The tests of one Spark line, by its own environment: build/lines/LINE/bin/python -m pytest lines."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from written_table import WrittenTable


@pytest.fixture(scope="session")
def catalog(spark: SparkSession) -> SparkSession:
    """The session, with our catalog in it."""
    spark.conf.set("spark.sql.catalog.hudiidx", "hudiidx.spark.HudiIdxCatalog")
    return spark


@pytest.fixture(scope="module", params=["6", "9"])
def table(
    request: pytest.FixtureRequest, catalog: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[WrittenTable]:
    """A merge-on-read table of a version with an insert and an update, and an index with a record index.

    Tests go on where the one before left it.
    """
    folder: Path = tmp_path_factory.mktemp(f"version-{request.param}")
    yield WrittenTable(catalog, str(folder / "line"), request.param)
