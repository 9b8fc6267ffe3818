"""The example of a pipeline, submitted to a standalone master with two workers, jars by ``--jars``."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from standalone import standalone, submit
from stock_hudi import NEWEST, RELEASES
from stored import ROOT

from hudiidx.session import jar_path, writer_jars

PIPELINE = ROOT / "examples" / "pipeline.py"
BUNDLE = RELEASES[NEWEST].jar
DAYS, EVENTS = 2, 2000


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with standalone(tmp_path_factory.mktemp("cluster")) as url:
        yield url


def expected() -> dict[str, tuple[str, float]]:
    """Id to city and fare, of the last day that has the event."""
    found = {}
    for day in range(DAYS):
        first = day * EVENTS * 4 // 5
        for n in range(first, first + EVENTS):
            found[f"event-{n}"] = (("oslo", "paris", "lima")[n % 3], round(n % 97 + day / 10, 1))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("writer", ["hudiidx", "stock"])
def test_the_pipeline_runs_on_a_cluster(
    spark: SparkSession, stock_1_2: Any, master: str, tmp_path: Path, writer: str
) -> None:
    jars = [jar_path()] if writer == "hudiidx" else [BUNDLE, *writer_jars()]
    table = tmp_path / "events"
    arguments = [str(table), "--writer", writer, "--days", str(DAYS), "--events", str(EVENTS)]
    said = submit(master, ",".join(map(str, jars)), PIPELINE, *arguments)
    assert "index and table agree" in said
    assert f"{EVENTS // 5} of {EVENTS} events are in the table already" in said
    rows = spark.read.format("hudiidx").option("hudiidx.index.strict", "true").load(str(table))
    assert {r.id: (r.city, r.fare) for r in rows.select("id", "city", "fare").collect()} == expected()
    stock_1_2.adopt(name=writer, path=str(table), kind="MOR" if writer == "hudiidx" else "COW")
    assert stock_1_2.sums(name=writer, sums=["count(*)", "count(distinct id)"]) == [str(len(expected()))] * 2
