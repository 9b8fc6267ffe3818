"""The files that a query reads: `prune`, `files(where=)`, `recommend`, and the command."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from hudiidx import ColumnAdvice, HudiIndex, NotAHudiTable, UnsupportedTable
from hudiidx.cli import main, reads

WHERE = "city = 'sf' and id > ''"


@pytest.fixture
def columns(spark: SparkSession, cow: Path) -> HudiIndex:
    """A copy-on-write table with bounds of all its columns."""
    index = HudiIndex(spark, cow, strict=True)
    index.create(columns="*")
    return index


def test_prune_names_files_and_what_decided(spark: SparkSession, columns: HudiIndex) -> None:
    everything = columns.prune("id is not null")
    assert everything.columns[:3] == ["partition_path", "file_id", "file_name"]
    assert everything.count() == columns.latest_base_files().count()
    some = columns.prune(WHERE).collect()
    assert {row.partition_path for row in some} == {"sf"} and len(some) < everything.count()
    assert "partitions" in some[0].decided_by
    assert columns.prune("id = 'there is none'").count() == 0
    assert "columns:" in columns.explain(spark.read.format("hudiidx").load(columns.path).where("id = 'x'"))


def test_files_are_paths_for_other_readers(spark: SparkSession, columns: HudiIndex) -> None:
    paths = columns.files(where=WHERE)
    assert paths and all(Path(path).is_file() for path in paths)
    wanted = spark.read.format("hudiidx").load(columns.path).where(WHERE).count()
    assert spark.read.parquet(*paths).where(WHERE).count() == wanted
    with pytest.raises(ValueError, match="not both"):
        columns.files("sf", where=WHERE)  # type: ignore[call-overload]
    with pytest.raises(TypeError):
        columns.files(where=3)  # type: ignore[call-overload]


def test_files_with_logs_are_refused(spark: SparkSession, make_table: Callable[[str], Path]) -> None:
    index = HudiIndex(spark, make_table("v9-mor-part"))
    with pytest.raises(UnsupportedTable, match="merged"):
        index.files(where="id is not null")
    assert index.files(where="id is not null", read_optimized=True)


def test_recommend_reads_footers_alone(spark: SparkSession, cow: Path) -> None:
    index = HudiIndex(spark, cow)
    index.create()
    advice = index.recommend("id = 'there is none'", "ts > 0")
    found = {a.column: a for a in advice}
    assert isinstance(advice[0], ColumnAdvice) and set(found) == {"id", "ts"}
    assert found["id"].skipped == found["id"].files > 0 and found["id"].pointed == 1
    assert found["ts"].skipped == 0 and not found["ts"].is_indexed
    with pytest.raises(ValueError, match="sample"):
        index.recommend(sample=0)


@pytest.fixture
def sessions(columns: HudiIndex, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the command asked a session for; that of the tests stands in for its own."""
    asked: list[str] = []

    def with_spark(table: str, title: str, work: Callable[[HudiIndex], Any], *_: Any) -> Any:
        asked.append(title)
        return work(columns)

    monkeypatch.setattr(reads, "with_spark", with_spark)
    return asked


def told(columns: HudiIndex, where: str, *more: str) -> Any:
    ran = CliRunner().invoke(main.app, ["prune", columns.path, where, "--json", *more])
    assert ran.exit_code == 0, ran.output
    return json.loads(ran.output)


def test_the_command_tells_of_comparisons_without_a_session(columns: HudiIndex, sessions: list[str]) -> None:
    rows = columns.prune(WHERE).collect()
    answer = told(columns, WHERE)
    assert [f["file_name"] for f in answer["files"]] == [row.file_name for row in rows]
    assert answer["decided_by"] == rows[0].decided_by
    shown = CliRunner().invoke(main.app, ["prune", columns.path, WHERE])
    assert shown.exit_code == 0 and "decided by: partitions" in shown.output
    assert sessions == []
    assert told(columns, WHERE, "--conf", "spark.sql.ansi.enabled=true") == answer
    assert sessions == ["planning"]


def test_other_filters_are_a_sessions(columns: HudiIndex, sessions: list[str]) -> None:
    answer = told(columns, f"upper(city) = 'SF' and {WHERE}")
    assert answer == told(columns, WHERE) and sessions == ["planning"]
    assert told(columns, "1 = 0")["files"] == [] and len(sessions) == 2


def test_a_table_of_a_store_that_a_session_alone_may_know_is_asked_for_there(
    columns: HudiIndex, sessions: list[str]
) -> None:
    assert CliRunner().invoke(main.app, ["prune", "s3x://bucket/table", WHERE]).exit_code == 0
    assert sessions == ["planning"]


def test_errors_need_no_session(tmp_path: Path, sessions: list[str]) -> None:
    ran = CliRunner().invoke(main.app, ["prune", str(tmp_path), WHERE])
    assert isinstance(ran.exception, NotAHudiTable) and sessions == []
