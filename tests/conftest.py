"""What all tests share. Indexes are strict: no fallback goes unseen."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import stored
from pyspark.sql import SparkSession

from hudiidx import HudiIndex


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test that asks for the session is marked ``spark``."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)


@pytest.fixture
def make_table(tmp_path: Path) -> Iterator["TableMaker"]:
    yield TableMaker(tmp_path)
    shutil.rmtree(tmp_path, ignore_errors=True)


class TableMaker:
    """Unpacks fixture tables into the test's own folder."""

    def __init__(self, into: Path) -> None:
        self._into = into

    def __call__(self, name: str) -> Path:
        return stored.load(name).unpack(self._into)


@pytest.fixture
def cow(make_table: TableMaker) -> Path:
    """A small copy-on-write table with four partitions."""
    return make_table("v9-cow-part")


@pytest.fixture
def indexed(spark: SparkSession, cow: Path) -> HudiIndex:
    """That table, indexed; answers are strict."""
    index = HudiIndex(spark, cow, strict=True)
    index.create()
    return index


@pytest.fixture
def logged(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A file of all that our packages log in the driver, whatever the level."""
    file = tmp_path_factory.mktemp("logs") / "driver.log"
    log4j = spark._jvm.org.apache.logging.log4j
    configurator, levels = log4j.core.config.Configurator, log4j.Level
    appender = (
        log4j.core.appender.FileAppender.newBuilder().withFileName(str(file)).setName("secrets").build()
    )
    appender.start()
    configurator.setLevel("hudiidx", levels.ALL)
    logger = log4j.LogManager.getLogger("hudiidx")
    logger.addAppender(appender)
    yield file
    logger.removeAppender(appender)
    appender.stop()
    configurator.setLevel("hudiidx", levels.ERROR)


@pytest.fixture(scope="module")
def moved(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HudiIndex]:
    """A table whose keys moved, indexed."""
    table = stored.load("v9-moved-mor").unpack(tmp_path_factory.mktemp("lookup"))
    index = HudiIndex(spark, table, strict=True)
    index.create(record="global")
    yield index


@pytest.fixture(scope="module")
def complex_keys(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> HudiIndex:
    """One whose keys have two fields."""
    table = stored.load("v9-cow-complex").unpack(tmp_path_factory.mktemp("lookup"))
    index = HudiIndex(spark, table, strict=True)
    index.create(record="global")
    return index
