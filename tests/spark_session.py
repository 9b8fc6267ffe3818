"""The Spark session of all tests, on the jar inside the installed wheel.

On two threads of this process, or where HUDIIDX_TEST_MASTER says: a master's URL, or ``standalone`` for a
master with two workers that live as long as the session.
"""

import os
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import short_jvm
from pyspark.sql import SparkSession
from standalone import standalone

from hudiidx import configure_spark

MASTER = os.environ.get("HUDIIDX_TEST_MASTER", "local[2]")
SETTINGS = {
    "spark.driver.memory": "2g",
    "spark.driver.extraJavaOptions": " ".join(("-Duser.timezone=UTC", *short_jvm.FLAGS)),
    "spark.sql.extensions": "hudiidx.spark.HudiIdxExtensions",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
OF_EXECUTORS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.memory": "800m",
    "spark.executor.extraJavaOptions": "-Duser.timezone=UTC -XX:+UseSerialGC",
}
ZONE = "spark.sql.session.timeZone"
# Rows of tests are spelled in UTC by whoever compares them.
ZONES = ("UTC", "America/New_York", "Asia/Kolkata")


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    os.environ["TZ"] = "UTC"
    time.tzset()
    work = tmp_path_factory.mktemp("spark")
    with _master(work) as master:
        builder = SparkSession.builder.master(master).appName("hudiidx tests")
        builder = builder.config("spark.sql.warehouse.dir", str(work / "warehouse"))
        of_executors = {} if master.startswith("local[") else OF_EXECUTORS
        for name, value in {**SETTINGS, **of_executors}.items():
            builder = builder.config(name, value)
        session = configure_spark(builder).getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        yield session
        session.stop()


@pytest.fixture(scope="module", autouse=True)
def session_zone(request: pytest.FixtureRequest) -> str:
    """The zone of the session: the ``ZONE`` of the file of tests, or one that the file's name decides."""
    drawn = ZONES[zlib.crc32(request.path.name.encode()) % len(ZONES)]
    zone: str = getattr(request.module, "ZONE", drawn)
    items = [item for item in request.session.items if item.path == request.path]
    if any("spark" in getattr(item, "fixturenames", ()) for item in items):
        request.getfixturevalue("spark").conf.set(ZONE, zone)
    return zone


@contextmanager
def in_zone(session: SparkSession, zone: str) -> Iterator[None]:
    """The session has another zone meanwhile."""
    before = session.conf.get(ZONE)
    session.conf.set(ZONE, zone)
    try:
        yield
    finally:
        session.conf.set(ZONE, before)


@contextmanager
def _master(work: Path) -> Iterator[str]:
    if MASTER == "standalone":
        with standalone(work) as url:
            yield url
    else:
        yield MASTER
