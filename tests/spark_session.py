"""The Spark session of all tests, on the jar inside the installed wheel."""

import os
import time
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from hudiidx import configure_spark


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    os.environ["TZ"] = "UTC"
    time.tzset()
    work = tmp_path_factory.mktemp("spark")
    builder = (
        SparkSession.builder.master("local[2]")
        .appName("hudiidx tests")
        .config("spark.driver.memory", "2g")
        .config(
            "spark.driver.extraJavaOptions", "-Duser.timezone=UTC -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
        )
        .config("spark.sql.extensions", "hudiidx.spark.HudiIdxExtensions")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.default.parallelism", "2")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.warehouse.dir", str(work / "warehouse"))
    )
    session = configure_spark(builder).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
