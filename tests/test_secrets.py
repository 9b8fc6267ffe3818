"""What a session knows in secret comes out nowhere: not in an index, nor in errors, explanations, reports."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from test_cli import run

from hudiidx import HudiIndex, IndexNotFound

SECRET = "QmVuZXZlbnRl-not-to-be-seen"
NAMES = ("fs.s3a.secret.key", "fs.s3a.session.token", "fs.azure.account.key.lake")


@pytest.fixture
def secretive(spark: SparkSession) -> Iterator[SparkSession]:
    """The session with secrets among its settings, where users have them: Spark's and Hadoop's."""
    hadoop = spark.sparkContext._jsc.hadoopConfiguration()
    for name in NAMES:
        spark.conf.set(name, SECRET)
        hadoop.set(name, SECRET)
    yield spark
    for name in NAMES:
        spark.conf.unset(name)
        hadoop.unset(name)


def holding(text: str, folder: Path) -> list[str]:
    """Files below the folder that hold the text."""
    files = (f for f in folder.rglob("*") if f.is_file())
    return sorted(f.name for f in files if text.encode() in f.read_bytes())


def test_secrets_of_a_session_come_out_nowhere(secretive: SparkSession, cow: Path, tmp_path: Path) -> None:
    index = HudiIndex(secretive, cow)
    told = [str(index.create(record="global", columns=["fare", "upper(rider)"], bloom=["rider"]))]
    secretive.conf.set("hudiidx.read.history", "true")
    try:
        frame = secretive.read.format("hudiidx").load(str(cow)).where("fare > 20")
        frame.count()
        told += [index.explain(frame), index.why_not(frame), frame._jdf.queryExecution().toString()]
        told += [str(index.recommend()), str(index.info()), str(index.verify(record=True, columns=True))]
    finally:
        secretive.conf.unset("hudiidx.read.history")
    told += [str(index.update()), json.dumps(index.report().facts, default=str), index.report()._repr_html_()]
    with pytest.raises(IndexNotFound) as refused:
        HudiIndex(secretive, cow, index_path=str(tmp_path / "absent")).update()
    told.append(str(refused.value))
    assert any("fare" in t for t in told)
    assert [t for t in told if SECRET in t] == []
    assert holding("global", cow / ".hoodie" / "hudiidx")
    assert holding(SECRET, tmp_path) == []


def test_secrets_given_to_the_command_come_out_nowhere(cow: Path, tmp_path: Path) -> None:
    given = [f"--conf=spark.hadoop.{name}={SECRET}" for name in NAMES]
    local = ("--master", "local[2]")
    done = run("create", cow, "--columns", "fare", *local, *given)
    failed = run("create", tmp_path / "absent", *local, *given, code=3)
    assert "absent" in failed.stderr
    for answer in (done, failed):
        assert SECRET not in answer.stdout + answer.stderr
    assert holding(SECRET, tmp_path) == []
