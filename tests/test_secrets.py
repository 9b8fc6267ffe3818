"""What a session knows in secret comes out nowhere: not in an index, nor in errors, explanations, reports."""

import json
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from secret_deeds import index_and_write
from standalone import standalone, submit
from test_cli import run

from hudiidx import HudiIndex, IndexNotFound, InvalidOption, Watcher
from hudiidx.session import jar_path

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


def test_secrets_of_a_session_are_in_no_log_line_of_ours(
    secretive: SparkSession, logged: Path, cow: Path, make_table: Callable[[str], Path], tmp_path: Path
) -> None:
    index_and_write(secretive, cow, make_table("v9-no-mdt-mor"))
    index = HudiIndex(secretive, cow)
    index.export_symlink_manifest(tmp_path / "links")
    # What cannot be read of the index is told at level WARN, and why files are listed at DEBUG.
    for manifest in (cow / ".hoodie" / "hudiidx").glob("*.master_manifest"):
        manifest.write_bytes(b"x")
    secretive.read.format("hudiidx").load(str(cow)).count()
    index.update()
    told = logged.read_text()
    assert "hudiidx" in told
    assert SECRET not in told


LOGGING = """
appenders = out
appender.out.type = Console
appender.out.name = out
appender.out.target = SYSTEM_ERR
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %p %c: %m%n
rootLogger.level = INFO
rootLogger.appenderRef.out.ref = out
logger.ours.name = hudiidx
logger.ours.level = ALL
"""


def test_secrets_are_in_no_log_of_an_executor(
    cow: Path, make_table: Callable[[str], Path], tmp_path: Path
) -> None:
    mor = make_table("v9-no-mdt-mor")
    logging = tmp_path / "log4j2.properties"
    logging.write_text(LOGGING)
    given = {f"spark.hadoop.{name}": SECRET for name in NAMES}
    given["spark.executor.extraJavaOptions"] = f"-Dlog4j2.configurationFile={logging.as_uri()}"
    script = Path(__file__).with_name("secret_deeds.py")
    with standalone(tmp_path) as master:
        submit(master, str(jar_path()), script, str(cow), str(mor), conf=given)
    logs = [f.read_text() for f in tmp_path.glob("worker-*/app-*/*/std*")]
    told = [line for log in logs for line in log.splitlines()]
    assert any(line.startswith("INFO org.apache.spark.executor.Executor: Running task") for line in told)
    assert any(line.startswith("WARN hudiidx.") for line in told)
    assert [line for line in told if SECRET in line] == []


@pytest.mark.parametrize("password", [SECRET, f"a/{SECRET}", f"a@{SECRET}", f"a {SECRET} b"])
def test_a_password_in_a_path_is_refused_and_never_told(
    spark: SparkSession, logged: Path, cow: Path, password: str, capfd: pytest.CaptureFixture[str]
) -> None:
    path = f"s3a://key:{password}@bucket/table"
    attempts = [
        lambda: HudiIndex(spark, path).create(),
        lambda: HudiIndex(spark, cow, index_path=path).create(),
        lambda: HudiIndex(spark, cow).export_symlink_manifest(path),
        lambda: spark.read.format("hudiidx").load(path).count(),
        lambda: spark.range(3).write.format("hudiidx").mode("append").save(path),
        lambda: Watcher(spark, [path]).run_once(),
    ]
    for attempt in attempts:
        with pytest.raises(InvalidOption) as refused:
            attempt()
        assert "s3a://key:***@bucket" in str(refused.value)
        assert SECRET not in "".join(traceback.format_exception_only(type(refused.value), refused.value))
    assert not logged.exists() or SECRET not in logged.read_text()
    for arguments in (
        ["info", path],
        ["export", "symlink-manifest", cow, "--output", path],
        ["update", path],
    ):
        failed = run(*arguments, code=2)
        assert "s3a://key:***@bucket" in failed.stderr
        assert SECRET not in failed.stdout + failed.stderr
    assert SECRET not in "".join(capfd.readouterr())


def test_secrets_given_to_the_command_come_out_nowhere(cow: Path, tmp_path: Path) -> None:
    given = [f"--conf=spark.hadoop.{name}={SECRET}" for name in NAMES]
    local = ("--master", "local[2]")
    done = run("create", cow, "--columns", "fare", *local, *given)
    failed = run("create", tmp_path / "absent", *local, *given, code=3)
    assert "absent" in failed.stderr
    for answer in (done, failed):
        assert SECRET not in answer.stdout + answer.stderr
    assert holding(SECRET, tmp_path) == []
