"""The command as users run it: answers, exit codes, 80 columns."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import stored
from pyspark.errors import ParseException
from pyspark.sql import SparkSession

from hudiidx import HudiIndex, __version__

MakeTable = Callable[[str], Path]
COMMAND = Path(sys.executable).with_name("hudiidx")


def run(*arguments: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Runs the command and checks its exit code; no Java stack trace may show."""
    done = subprocess.run(
        [str(COMMAND), *map(str, arguments)],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert "\tat " not in done.stderr
    assert "Traceback" not in done.stderr
    return done


def answer(*arguments: object, code: int = 0) -> Any:
    """The JSON document of a command."""
    return json.loads(run(*arguments, "--json", code=code).stdout)


@pytest.mark.spark
def test_create_update_verify_drop(cow: Path) -> None:
    assert answer("create", cow, "--record", "global", "--master", "local[2]")["partitions"] == 4
    assert answer("info", cow)["state"] == "READY"
    answer("update", cow, "--master", "local[2]")
    report = answer("verify", cow, "--record", "--master", "local[2]")
    assert (report["ok"], report["differences"]) == (True, [])
    assert set(report["record"]["counts"].values()) == {0}
    assert report["stock_record_index"]["equal"] == report["record"]["keys"] == 520
    run("verify", cow, "--scratch", cow, code=2)
    next((cow / "sf").glob("*.parquet")).unlink()
    assert answer("verify", cow, "--master", "local[2]", code=1)["differences"]
    run("drop", cow, code=2)
    assert (cow / ".hoodie" / "hudiidx").exists()
    run("drop", cow, "--yes", "--master", "local[2]")
    assert answer("info", cow)["state"] == "ABSENT"


@pytest.mark.spark
def test_compact_table(make_table: MakeTable, cow: Path) -> None:
    table = make_table("v9-no-mdt-mor")
    local = ("--master", "local[2]")
    planned = answer("compact-table", table, "--op", "schedule", *local)
    assert planned["compactions"] == []
    done = answer("compact-table", table, *local)["compactions"]
    assert [c["instant"] for c in done] == [planned["scheduled"]]
    assert done[0]["log_files"] > 0 < done[0]["bytes_written"]
    assert "no log files" in run("compact-table", table, *local).stdout
    assert "copy-on-write" in run("compact-table", cow, *local, code=3).stderr


@pytest.mark.spark
def test_what_is_no_usage_is_exit_code_2_and_writes_nothing(cow: Path, tmp_path: Path) -> None:
    keys = tmp_path / "keys.csv"
    keys.write_text("id\na\n")
    there = tmp_path / "there.csv"
    there.write_text("x")
    tag = ("tag", cow, "--key", "id", "--master", "local[1]")

    def told(*arguments: object) -> str:
        return " ".join(run(*arguments, code=2).stderr.replace("\u2502", " ").split())

    assert "needs name=value" in told("verify", cow, "--conf", "spark.x")
    assert "no format in its name" in told(*tag, tmp_path / "keys.txt", "-o", tmp_path / "o")
    assert "--overwrite" in told(*tag, keys, "-o", there)
    assert "holds a Hudi" in told(*tag, keys, "-o", cow, "--overwrite")
    assert there.read_text() == "x" and not (tmp_path / "o").exists() and (cow / ".hoodie").is_dir()


@pytest.mark.spark
def test_a_filter_that_does_not_parse_is_refused_as_sparks_parser_says(
    spark: SparkSession, cow: Path
) -> None:
    """Spark takes what stands behind a filter for the name of a column: the filter alone is a filter."""
    index = HudiIndex(spark, cow)
    for wrong in ("fare > 900 and", "fare > 900 AS f", "fare > 900 fare < 5"):
        for ask in (index.prune, index.recommend, lambda text: index.files(where=text)):
            with pytest.raises(ParseException, match="PARSE_SYNTAX_ERROR"):
                ask(wrong)
    assert index.prune("fare > 900 -- and more\nand city = 'sf'").count() == 1
    told = run("prune", cow, "fare > 900 and", "--master", "local[1]", code=2).stderr
    assert "ParseException" in told and "syntax error" in told.lower()


@pytest.mark.spark
def test_an_index_that_is_not_there_is_not_dropped_silently(cow: Path) -> None:
    local = ("--master", "local[1]")
    run("create", cow, "--columns", "fare", *local)
    told = run("drop-index", cow, "qty", *local)
    assert "there is no such index on qty: nothing to remove" in told.stderr
    dropped = run("drop-index", cow, "fare", *local)
    assert "nothing to remove" not in dropped.stderr
    assert answer("info", cow)["columns"] == []
    assert "nothing to remove" not in run("drop", cow, "--yes", *local).stderr
    told = run("drop", cow, "--yes", "--json", *local)
    assert json.loads(told.stdout) == {"dropped": None}
    assert f"there is no index of {cow}: nothing to remove" in told.stderr


def test_partitions(spark: SparkSession, indexed: HudiIndex) -> None:
    assert run("partitions", indexed.path).stdout.split() == ["lima", "nyc", "oslo", "sf"]
    found = answer("partitions", indexed.path, "--strict")
    assert found["partitions"] == ["lima", "nyc", "oslo", "sf"]
    assert (found["index_version"], found["instants_overlaid"], found["fallback"]) == (1, 0, "")


def test_files(spark: SparkSession, indexed: HudiIndex) -> None:
    fixture = stored.load("v9-cow-part")
    found = answer("files", indexed.path, "--partition", "sf", "--strict")["files"]
    assert {f["file_name"]: f["size"] for f in found} == fixture.sizes("sf")
    assert {f["partition_path"] for f in answer("files", indexed.path)["files"]} == set(fixture.partitions)
    shown = run("files", indexed.path, "--limit", 3).stdout
    assert "the first 3 files" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_slices(spark: SparkSession, make_table: MakeTable) -> None:
    table = make_table("v9-mor-part")
    HudiIndex(spark, table).create()
    fixture = stored.load("v9-mor-part")
    for p in fixture.partitions:
        found = answer("slices", table, "--partition", p, "--strict")["slices"]
        expected = fixture.slices(p, "latest_file_slices")
        assert [(s["file_id"], s["base_instant_time"]) for s in found] == [
            (s.file_id, s.base_instant_time) for s in expected
        ]
        assert [[x["file_name"] for x in s["log_files"]] for s in found] == [
            [x.file_name for x in s.log_files] for s in expected
        ]
    assert max(map(len, run("slices", table).stdout.splitlines())) <= 80


def test_as_of(spark: SparkSession, indexed: HudiIndex) -> None:
    first = min(b.instant_time for b in indexed.all_base_files("sf"))
    (found,) = answer("slices", indexed.path, "--partition", "sf", "--as-of", first)["slices"]
    assert found["base_instant_time"] == first


@pytest.mark.spark
def test_a_record_index_is_made_and_dropped(cow: Path) -> None:
    on_two = ("--master", "local[2]")
    answer("create", cow, "--record", "global", "--file-groups", "2", *on_two)
    told = answer("info", cow)["record"]
    assert (told["mode"], told["file_groups"], told["base_files"]) == ("global", 2, 2)
    assert "mappings in 2 groups" in " ".join(run("info", cow).stdout.split())
    answer("drop-index", cow, "record", *on_two)
    assert answer("info", cow)["record"] is None
    assert "column colour is not in the table" in run("add-index", cow, "colour", *on_two, code=2).stderr


def test_lookup(spark: SparkSession, indexed: HudiIndex, tmp_path: Path) -> None:
    indexed.add_index("record")
    (key, partition, file_id), (other, _, _) = stored.load("v9-cow-part").key_locations()[:2]
    (found,) = indexed.lookup([key])
    told = answer("lookup", indexed.path, key, "--strict")
    assert told["locations"] == [
        {
            "key": key,
            "partition_path": partition,
            "file_id": file_id,
            "instant_time": found.instant_time,
        }
    ]
    assert (told["missing"], told["window_days"], told["fallback"]) == ([], None, "")
    work = told["work"]
    assert (work["keys"], work["hits"], work["misses"], work["filtered"]) == (1, 1, 0, 0)
    assert (work["slices_read"], work["slices_kept"]) == (0, 0)
    assert (work["groups_opened"], work["pages_decoded"]) == (1, 1)
    assert work["bytes_read"] > 0
    run("lookup", indexed.path, key, "-k", code=2)
    shown = run("lookup", indexed.path, "--partition", partition, "--", key, "-k", code=1)
    assert file_id in shown.stdout
    missed, summary = shown.stdout.splitlines()[-2:]
    assert missed == "not found: -k"
    assert summary.startswith("1 of 2 keys found; ")
    assert max(map(len, shown.stdout.splitlines())) <= 80
    (tmp_path / "keys.txt").write_text(f"{other}\n\n{key}\n")
    told = answer("lookup", indexed.path, "--file", tmp_path / "keys.txt")
    assert [x["key"] for x in told["locations"]] == [other, key]
    run("lookup", indexed.path, code=2)
    run("lookup", indexed.path, "--file", tmp_path / "none.txt", code=2)
    assert "is not an instant" in run("lookup", indexed.path, key, "--as-of", "yesterday", code=2).stderr
    indexed.add_index("record", mode="global", window_days=9)
    shown = run("lookup", indexed.path, "absent", code=1)
    assert shown.stdout.splitlines()[0] == "not in the index's window of 9 days: absent"


def test_lookup_shows_records(spark: SparkSession, indexed: HudiIndex) -> None:
    indexed.add_index("record")
    key, partition, _ = stored.load("v9-cow-part").key_locations()[0]
    (row,) = indexed.lookup([key], rows=True).collect()
    one = ("--rows", "--master", "local[1]", "--strict")
    told = answer("lookup", indexed.path, key, *one)
    assert told["missing"] == []
    assert [list(r) for r in told["rows"]] == [row.__fields__]
    assert (told["rows"][0]["_hoodie_record_key"], told["rows"][0]["city"]) == (key, partition)
    shown = run("lookup", indexed.path, key, "absent", *one, code=1)
    assert shown.stdout.splitlines()[-1] == "not found: absent"
    assert all(name in shown.stdout for name in row.__fields__)
    run("lookup", indexed.path, key, "--master", "local[1]", code=2)


def test_lookup_without_a_record_index_reads_files_and_says_so(cow: Path) -> None:
    key, _, file_id = stored.load("v9-cow-part").key_locations()[0]
    done = run("lookup", cow, key)
    assert file_id in done.stdout
    assert "warning: the index was not used (NO_INDEX), record keys were read from files" in done.stderr
    assert f"repair with `hudiidx create --record global {cow}`" in done.stderr
    assert "IndexNotFound" in run("lookup", cow, key, "--strict", code=4).stderr


def test_info_is_the_same_as_in_python(spark: SparkSession, indexed: HudiIndex) -> None:
    shown, known = answer("info", indexed.path), indexed.info()
    assert shown["state"] == known.state
    assert shown["last_synced_instant"] == known.last_synced_instant
    assert (shown["files"], shown["partitions"]) == (known.files, known.partitions)
    assert shown["logs"] is known.logs is False
    assert "READY" in run("info", indexed.path).stdout


def test_perf(spark: SparkSession, indexed: HudiIndex) -> None:
    assert answer("perf", indexed.path)
    shown = run("perf", indexed.path).stdout
    assert max(map(len, shown.splitlines())) <= 80


def test_a_table_without_an_index_is_listed_with_a_warning(cow: Path) -> None:
    done = run("partitions", cow)
    assert done.stderr.count("\n") == 1
    assert "warning: the index was not used (NO_INDEX)" in done.stderr
    assert f"hudiidx create {cow}" in done.stderr
    assert done.stdout.split() == ["lima", "nyc", "oslo", "sf"]


def test_strict_without_an_index_is_exit_code_4(cow: Path) -> None:
    done = run("partitions", cow, "--strict", code=4)
    assert len(done.stderr.strip().splitlines()) == 1
    told = json.loads(run("files", cow, "--strict", "--json", code=4).stderr)
    assert told["error"] in ("IndexNotFound", "StaleIndex", "DamagedIndex")


def test_no_table_is_exit_code_3(tmp_path: Path) -> None:
    done = run("files", tmp_path / "nowhere", code=3)
    assert "NotAHudiTable" in done.stderr
    assert "nowhere" in done.stderr


def test_wrong_usage_is_exit_code_2(cow: Path) -> None:
    run("files", code=2)
    run("files", cow, "--limit", "0", code=2)
    run("nonsense", cow, code=2)
    for command in (["files", cow], ["slices", cow], ["lookup", cow, "k"], ["prune", cow, "id = 'a'"]):
        assert "--as-of: 'soon' is not an instant" in run(*command, "--as-of", "soon", code=2).stderr
    told = run("prune", cow, "no_such_column = 1", code=2).stderr
    assert told.startswith("hudiidx: AnalysisException: ") and "no_such_column" in told
    assert "Filter" not in told


def test_what_the_jvm_says_of_itself_is_no_part_of_an_answer(
    indexed: HudiIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Xlog:gc*=info,safepoint=info")
    assert answer("info", indexed.path)["state"] == "READY"
    assert answer("update", indexed.path)["published"] is False


def test_info_says_what_is_next(cow: Path) -> None:
    done = run("info", cow)
    assert "ABSENT" in done.stdout and done.stderr == f"run `hudiidx create {cow}`\n"


def test_the_command_tells_its_version() -> None:
    assert run("--version").stdout == f"hudiidx {__version__}\n"
    module = [sys.executable, "-m", "hudiidx", "--version"]
    assert (
        subprocess.run(module, capture_output=True, text=True, check=True).stdout
        == f"hudiidx {__version__}\n"
    )


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["info"], "Missing argument 'TABLE'"),
        (["info", "x", "--bad"], "No such option: --bad"),
        (["files", "x", "--limit", "many"], "Invalid value for '--limit'"),
        (["infos", "x"], "No such command 'infos'"),
    ],
)
def test_wrong_usage_is_one_document_where_json_is_asked_for(arguments: list[str], told: str) -> None:
    done = run(*arguments, "--json", code=2)
    assert done.stdout == ""
    error = json.loads(done.stderr)
    assert error["error"] == "UsageError" and told in error["message"]
    assert told.split(":")[0] in run(*arguments, code=2).stderr


def test_what_is_told_to_run_names_the_index_folder_that_was_asked(cow: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "index"
    told = run("info", cow, "--index-path", elsewhere).stderr
    assert told == f"run `hudiidx create {cow} --index-path {elsewhere}`\n"
    told = run("partitions", cow, "--index-path", elsewhere).stderr
    assert f"repair with `hudiidx create {cow} --index-path {elsewhere}`" in told
    told = run("partitions", cow, "--index-path", elsewhere, "--strict", code=4).stderr
    assert f"cannot use the index in {elsewhere} (NO_INDEX): there is no index; run " in told
    assert told.endswith(f"run `hudiidx create {cow} --index-path {elsewhere}`\n")


@pytest.mark.parametrize("scheme", ["s3a", "gs"])
def test_a_store_without_a_client_says_how_to_add_it(scheme: str) -> None:
    told = run("files", f"{scheme}://bucket/trips", code=3).stderr
    assert told.startswith(f"hudiidx: NotAHudiTable: {scheme}://bucket/trips/")
    assert f"no client for {scheme}://" in told and "HUDIIDX_CLASSPATH" in told


def test_a_store_that_is_nowhere_is_named() -> None:
    told = run("files", "hdfs://no-such-host.invalid:9000/trips", code=3).stderr
    assert "hdfs://no-such-host.invalid:9000/trips" in told and "check the address" in told


def test_no_java_is_exit_code_5(cow: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    assert "install Java 17" in run("partitions", cow, code=5).stderr


def test_jar_is_the_jar() -> None:
    assert Path(run("jar").stdout.strip()).is_file()
    both = [Path(p) for p in run("jar", "--writer").stdout.strip().split(",")]
    assert len(both) == 2
    assert all(p.is_file() for p in both)


def test_help_names_every_command() -> None:
    shown = run("--help").stdout
    for command in ("create", "update", "info", "partitions", "files", "slices", "verify", "perf", "drop"):
        assert command in shown
    for command in ("lookup", "add-index", "drop-index", "watch"):
        assert command in shown


def test_a_terminal_is_told_that_spark_starts_and_nothing_else_is() -> None:
    starts = "from hudiidx.cli.spark import _starting\nwith _starting(): pass"
    ours, theirs = pty.openpty()
    subprocess.run([sys.executable, "-c", starts], stderr=theirs, check=True)
    os.close(theirs)
    assert b"Starting Spark" in os.read(ours, 65536)
    os.close(ours)
    piped = subprocess.run([sys.executable, "-c", starts], capture_output=True, check=True)
    assert piped.stderr == piped.stdout == b""
