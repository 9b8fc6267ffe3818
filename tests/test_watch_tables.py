"""The watcher on real tables, in Python and as a command, and the examples of its page."""

import ast
import json
import os
import queue
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import stored
import typer
from pyspark.sql import DataFrame, SparkSession
from test_cli import COMMAND, run
from test_readme import run as run_statement

from hudiidx import HudiIndex, Poll, UnsupportedTable, Watcher, update_after
from hudiidx.cli import main

MakeTable = Callable[[str], Path]
PAGE = Path(__file__).parents[1] / "docs" / "watch.md"
LOCAL = ("--master", "local[2]")
PATIENCE = 60
WARM, PILE = 2, 0.5  # seconds of a watch that polls, and after its JVM is stopped
# The command, with updates that say when they begin and take their time.
SLOW = """
import sys, time
from hudiidx.index import HudiIndex
whole = HudiIndex.update
def update(self):
    print("begun", file=sys.stderr, flush=True)
    time.sleep(1.5)
    return whole(self)
HudiIndex.update = update
from hudiidx.cli.main import main
main()
"""


@pytest.mark.parametrize("name", ["v6-mor-part", "v8-mor-part", "v9-mor-part"])
def test_what_completes_is_taken_in(spark: SparkSession, make_table: MakeTable, name: str) -> None:
    fixture, table, polls = stored.load(name), make_table(name), queue.Queue[Poll]()
    index = HudiIndex(spark, table, strict=True)

    def published() -> Iterator[Poll]:
        while True:
            poll = polls.get(timeout=PATIENCE)
            assert poll.error is None
            if poll.published:
                yield poll

    with Watcher(spark, [table], interval=0.1, create=True, on_poll=polls.put):
        with stored.rewound(table, fixture, 2):
            assert next(published()).rebuilt
        taken: list[str] = []
        while len(taken) < 2:
            poll = next(published())
            assert not poll.rebuilt
            assert poll.lag_seconds is not None and poll.lag_seconds > 0
            taken += poll.instants
    last = [i["requested"] for i in fixture.answers["active_timeline"][-2:]]
    assert sorted(taken) == sorted(last)
    assert index.info().state == "READY"
    assert index.verify().ok


def test_a_table_that_becomes_one_of_version_10_is_told_and_its_index_goes_on_behind(
    spark: SparkSession, make_table: MakeTable
) -> None:
    table = make_table("v9-cow-part")
    index = HudiIndex(spark, table)
    index.create(record="global")
    index.export_symlink_manifest(keep=True)
    properties = table / ".hoodie/hoodie.properties"
    text = properties.read_text()
    key = index.prune("true").select("file_name").first()

    def files() -> dict[str, bytes]:
        found = (f for f in table.rglob("*") if f.is_file() and f != properties)
        return {str(f): f.read_bytes() for f in found}

    watcher = Watcher(spark, [table], create=True)
    assert [p.error for p in watcher.run_once()] == [None]
    before = files()
    properties.write_text(text.replace("table.version=9", "table.version=10"))
    (poll,) = watcher.run_once()
    assert isinstance(poll.error, UnsupportedTable) and not poll.published
    assert "version is 10" in str(poll.error)
    for call in (index.update, index.info, index.partitions):
        with pytest.raises(UnsupportedTable) as raised:
            call()
        assert str(raised.value) == str(poll.error)
    assert files() == before
    properties.write_text(text)
    (poll,) = watcher.run_once()
    assert poll.error is None and not poll.published
    assert index.info().state == "READY" and index.verify().ok
    assert index.prune("true").select("file_name").first() == key and files() == before


@pytest.fixture
def batches(spark: SparkSession, tmp_path: Path) -> DataFrame:
    """A stream of two batches."""
    source = tmp_path / "source"
    for n in (100, 200):
        rows = spark.range(n, n + 50, 1, 1).selectExpr("cast(id as string) as id", "'sf' as city", "id as ts")
        rows.write.mode("append").parquet(str(source))
    schema = spark.read.parquet(str(source)).schema
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(source))


OPTIONS = {
    "hoodie.table.name": "trips",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.partitionpath.field": "city",
    "hoodie.datasource.write.precombine.field": "ts",
}


def test_an_index_follows_a_stream(spark: SparkSession, batches: DataFrame, tmp_path: Path) -> None:
    table = tmp_path / "trips"
    # The writer brings up the table's own index; this one only we do.
    index = HudiIndex(spark, table, index_path=tmp_path / "index", strict=True)
    states: list[tuple[str, int]] = []

    def write(df: DataFrame, batch_id: int) -> None:
        df.write.format("hudiidx").options(**OPTIONS).mode("append").save(str(table))
        states.append((index.info().state, index.info().instants_behind))

    follow = update_after(write, index, create={"record": "global"})
    stream = batches.writeStream.foreachBatch(follow).trigger(availableNow=True)
    query = stream.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    assert query.awaitTermination(PATIENCE)
    # The second batch found the first one taken in.
    assert [state for state, _ in states] == ["ABSENT", "LAGGING"]
    assert states[1][1] == 1
    assert index.info().state == "READY"
    assert index.verify(record=True).ok
    assert len(index.lookup(["100", "249"])) == 2


def test_the_command_takes_one_pass(spark: SparkSession, make_table: MakeTable, tmp_path: Path) -> None:
    fixture, table = stored.load("v9-mor-part"), make_table("v9-mor-part")
    with stored.rewound(table, fixture, 2):
        HudiIndex(spark, table).create()
    new, missing = make_table("v9-cow-part"), tmp_path / "nowhere"
    (tmp_path / "tables.txt").write_text(f"{new}\n\n{missing}\n")
    listed = ("--tables-file", tmp_path / "tables.txt")
    told = run("watch", table, *listed, "--once", "--create", "--json", *LOCAL, code=4).stdout.splitlines()
    by_table = {d["table"]: d for d in map(json.loads, told)}
    assert len(told) == len(by_table) == 3
    assert len(by_table[str(table)]["instants"]) == 2 and by_table[str(table)]["lag_seconds"] > 0
    assert by_table[str(new)]["rebuilt"] and by_table[str(new)]["index_version"] == 1
    assert by_table[str(missing)]["error"] == "NotAHudiTable"
    for path in (table, new):
        assert HudiIndex(spark, path, strict=True).verify().ok
    done = run("watch", table, new, "--once", "--conf", "hudiidx.columns=*", *LOCAL)
    assert "Ignoring" not in done.stderr, "a setting of ours is none that Spark starts with"
    again = done.stdout.splitlines()
    assert all(line.endswith(("in step, index version 1", "in step, index version 2")) for line in again)
    assert len(again) == 2


def forge(spark: SparkSession, table: Path, expression: str) -> None:
    """Notes an index on an expression in the version in force, as who writes to the folder can."""
    version = max((table / ".hoodie" / "hudiidx" / "versions").glob("*.json"))
    document = json.loads(version.read_text())
    del document["crc32c"]
    properties = document["properties"]
    path = f"`={expression} {{v=1; types=string; spark=3.5; java=17}}`"
    properties["column.index.range"] += f"\n{path}"
    properties["column.specs"] = properties["column.pending"] = f"range(n,{path})"
    body = json.dumps(document, separators=(",", ":"), ensure_ascii=False)[:-1]
    crc = spark._jvm.java.util.zip.CRC32C()
    crc.update(bytearray(body.encode()))
    version.write_text(f'{body},"crc32c":"{crc.getValue():08x}"}}')


def test_expressions_that_take_very_much_end_no_watch(spark: SparkSession, make_table: MakeTable) -> None:
    much = [
        "repeat(rider, 200000000)",
        "concat(rider, repeat('a', 2000000000))",
        "(" * 6000 + "rider" + ")" * 6000,
    ]
    tables, fixture = [make_table("v9-cow-part") for _ in range(4)], stored.load("v9-cow-part")
    for table in tables:
        with stored.rewound(table, fixture, 2):
            HudiIndex(spark, table).create(columns=["n"])
    for table, expression in zip(tables, much, strict=False):
        forge(spark, table, expression)
        # And no reader.
        read = spark.read.format("hudiidx").load(str(table))
        assert read.where("concat(rider, 'x') > 'a' AND n > 3").count() == read.where("n > 3").count()
    told = run("watch", *tables, "--once", "--json", *LOCAL).stdout.splitlines()
    polls = {d["table"]: d for d in map(json.loads, told)}
    assert [polls[str(t)]["published"] for t in tables] == [True] * 4
    assert all(HudiIndex(spark, t, strict=True).verify(columns=True).ok for t in tables)


@pytest.mark.parametrize(
    "wrong",
    [
        (),
        ("--tables-file", "/nowhere/tables.txt"),
        ("/a", "/b", "--index-path", "/c"),
        ("/a", "--once", "--metrics-port", "0"),
        ("/a", "--jitter", "1"),
        ("/a", "--interval", "0"),
    ],
)
def test_wrong_usage_is_exit_code_2(wrong: tuple[str, ...]) -> None:
    run("watch", *wrong, code=2)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_the_sync_end(
    spark: SparkSession, make_table: MakeTable, number: signal.Signals
) -> None:
    fixture, table = stored.load("v9-mor-part"), make_table("v9-mor-part")
    with stored.rewound(table, fixture, 1):
        HudiIndex(spark, table).create()
    command = [sys.executable, "-c", SLOW, "watch", str(table), "--json", "--metrics-port", "0", *LOCAL]
    pipe = subprocess.PIPE
    watching = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True)
    assert watching.stderr and watching.stdout
    told = ""
    while "begun" not in told:
        line = watching.stderr.readline()
        assert line, told
        told += line
    watching.send_signal(number)
    out, rest = watching.communicate(timeout=PATIENCE)
    assert watching.returncode == 0, rest
    assert re.search(r"watching 1 table every 10 s; metrics: http://127\.0\.0\.1:\d+/metrics", told + rest)
    assert "Traceback" not in rest
    (done,) = map(json.loads, out.splitlines())
    assert done["published"] and len(done["instants"]) == 1 and done["index_version"] == 2
    assert HudiIndex(spark, table).info().state == "READY"


def test_the_end_of_the_jvm_is_the_end_of_the_command(spark: SparkSession, indexed: HudiIndex) -> None:
    command = [COMMAND, "watch", indexed.path, "--interval", "0.1", *LOCAL]
    watching = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert watching.stderr
    while "watching 1 table" not in (line := watching.stderr.readline()):
        assert line
    (java,) = Path(f"/proc/{watching.pid}/task/{watching.pid}/children").read_text().split()
    time.sleep(WARM)
    os.kill(int(java), signal.SIGSTOP)  # calls pile up, of polls and of the client's own thread
    time.sleep(PILE)
    os.kill(int(java), signal.SIGKILL)
    _, told = watching.communicate(timeout=PATIENCE)
    assert watching.returncode == 5
    (line,) = told.splitlines()
    assert line.startswith("hudiidx: RuntimeError: the Spark session has ended; start anew (")


def examples(language: str, title: str) -> list[str]:
    """Blocks of code under a heading of the page."""
    section = PAGE.read_text().split(f"\n## {title}\n")[1].split("\n## ")[0]
    if language == "shell":
        return re.findall(r"^hudiidx .*$", "\n".join(examples("bash", title)), re.MULTILINE)
    return re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)


def test_the_command_runs_as_the_page_says(make_table: MakeTable, tmp_path: Path) -> None:
    tables = {"/data/trips": str(make_table("v9-cow-part")), "/data/orders": str(make_table("v9-mor-part"))}
    (tmp_path / "tables.txt").write_text("\n".join(tables.values()))
    (line,) = (x for x in examples("shell", "The command") if "tables.txt" in x)
    line = line.replace("tables.txt", str(tmp_path / "tables.txt"))
    _, *arguments = shlex.split(line)
    done = run(*arguments, "--once", *LOCAL)
    assert {json.loads(x)["table"] for x in done.stdout.splitlines()} == {*tables.values()}
    watch = typer.main.get_command(main.app).commands["watch"]  # type: ignore[attr-defined]
    for other in examples("shell", "The command"):
        given = watch.make_context("watch", shlex.split(other)[2:]).params
        assert given["tables"] or given["tables_file"]


def test_the_watcher_runs_as_the_page_says(
    spark: SparkSession, make_table: MakeTable, capsys: pytest.CaptureFixture[str]
) -> None:
    (code,) = examples("python", "From Python")
    tables = {"/data/trips": str(make_table("v9-cow-part")), "/data/orders": str(make_table("v9-mor-part"))}
    for told, here in tables.items():
        assert told in code
        code = code.replace(told, here)
    names: dict[str, Any] = {"spark": spark}
    for statement in ast.parse(code).body:
        text = ast.unparse(statement)
        if text == "watcher.run()":
            names["watcher"].stop()  # it would not end by itself
        polls = run_statement(statement, names)
        if text == "watcher.run_once()":
            assert [p.table for p in polls] == [*tables.values()]
            assert all(p.published for p in polls)
    printed = capsys.readouterr().out.splitlines()
    assert all(": index made, index version 1, " in line for line in printed[:2])
    assert int(printed[-1]) > 0


def test_a_stream_is_followed_as_the_page_says(
    spark: SparkSession, batches: DataFrame, tmp_path: Path
) -> None:
    (code,) = examples("python", "Behind each batch of a stream")
    # Stock Hudi is not in this session.
    changes = {
        'format("hudi")': 'format("hudiidx")',
        "/data/trips": str(tmp_path / "trips"),
        "/checkpoints/trips": str(tmp_path / "checkpoint"),
    }
    for told, here in changes.items():
        assert told in code
        code = code.replace(told, here)
    names: dict[str, Any] = {"events": batches, "options": {**OPTIONS, "hudiidx.write.create": "true"}}
    exec(compile(code, "docs/watch.md", "exec"), names)
    names["query"].processAllAvailable()
    names["query"].stop()
    assert HudiIndex(spark, tmp_path / "trips", strict=True).info().state == "READY"
    assert spark.read.format("hudiidx").load(str(tmp_path / "trips")).count() == 100
