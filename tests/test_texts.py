"""Names are others' choice: in what we print they are texts, in one line."""

import ast
import json
import logging
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timezone
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import stored
from hostile import HIDDEN, HOSTILE, NAME, PARTITION, TOLD, all_hostile, assert_plain

from hudiidx import InvalidOption, Poll, RecordDifference, VerifyReport
from hudiidx._explain import explanation, reasons
from hudiidx._text import shown
from hudiidx.cli import out, render
from hudiidx.cli.terminal import Terminal
from hudiidx.report.markup import html

ROOT = Path(__file__).parents[1]
COMMAND = Path(sys.executable).with_name("hudiidx")


def test_every_control_character_is_an_escape_and_all_else_stays() -> None:
    for code in range(0x10000):
        told = shown(f"a{chr(code)}b")
        escape = {10: "\\n", 13: "\\r", 9: "\\t"}.get(code, f"\\u{code:04x}")
        assert told == (f"a{escape}b" if code in HIDDEN else f"a{chr(code)}b")
        assert shown(told) == told
    assert shown(HOSTILE) == TOLD
    assert shown("\U0001f600 ü 日本") == "\U0001f600 ü 日本"


def test_errors_and_polls_are_one_line() -> None:
    assert str(InvalidOption(HOSTILE)) == TOLD
    poll = Poll(HOSTILE, datetime.now(timezone.utc), 1.0, index_version=3)
    assert str(poll) == f"{TOLD}: in step, index version 3"
    failed = replace(poll, error=RuntimeError(HOSTILE), failures=2, retry_seconds=3.0)
    assert_plain(str(failed))
    assert failed.document()["table"] == HOSTILE


def test_documents_stay_exact_and_hold_nothing_that_a_terminal_obeys(
    capsys: pytest.CaptureFixture[str],
) -> None:
    document = {HOSTILE: [" ".join(map(chr, sorted(HIDDEN))), "ü\U0001f600"]}
    for indent in (2, None):
        out.document(document, indent=indent)
        printed = capsys.readouterr().out
        assert_plain(printed)
        assert json.loads(printed) == document
        assert indent or printed.count("\n") == 1


def drawn(draw: Any, *arguments: Any) -> str:
    console = Terminal(file=StringIO(), width=1000, force_terminal=False)
    draw(console, *arguments)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


_FILE = {"partition_path": "p", "file_id": "f", "kind": "base", "instant_time": "1", "size": 1}
_SLICE = {
    "partition_path": "p",
    "file_id": "f",
    "base_instant_time": "1",
    "base_file": {"size": 1},
    "log_files": [],
}
_WORK = {
    "hits": 1,
    "keys": 1,
    "groups_opened": 1,
    "pages_decoded": 1,
    "bytes_read": 1,
    "filtered": 1,
    "slices_read": 1,
    "slices_kept": 1,
    "store_calls": 1,
    "store_calls_in_a_row": 1,
    "store_throttled": 1,
    "whole_blocks": 1,
}
_FOUND = {"partition_path": "p", "file_id": "f", "key": "k", "instant_time": "1"}
_BLOCK = {
    "block": 1,
    "kind": "k",
    "instant_time": "1",
    "size": 1,
    "records": 1,
    "indexed": "i",
    "min_key": "a",
    "max_key": "b",
}
_HIT = {"key": "k", "block": 1, "kind": "k", "instant_time": "1", "is_delete": True}
_COLUMNS = {"kind": "range", "columns": ["a"], "options": {"fpp": "1"}, "pending": True}
_RECORD = {
    "mode": "m",
    "window_days": 1,
    "base_files": 1,
    "delta_files": 1,
    "mappings": 1,
    "file_groups": 1,
    "size": 1,
}
_DONE = {
    "instant": "1",
    "log_files": 1,
    "file_groups": 1,
    "bytes_read": 1,
    "bytes_written": 1,
    "rows": 1,
    "elapsed_millis": 1,
}
DRAWN: dict[str, tuple[Any, ...]] = {
    "partitions": (["p"], 3),
    "files": ([_FILE], 3),
    "slices": ([_SLICE], 3),
    "locations": ({"locations": [_FOUND], "missing": ["k"], "window_days": 0, "work": _WORK},),
    "rows": ({"rows": [{"a": "b", "c": ["d"]}], "missing": ["k"]},),
    "log_blocks": ({"blocks": [_BLOCK]},),
    "log_hits": ({"hits": [_HIT], "missing": ["k"], "work": _WORK},),
    "info": ({"state": "s", "columns": [_COLUMNS], "record": _RECORD, "reason": "r", "bytes": {"a": 1}},),
    "compacted": ({"compactions": [_DONE], "scheduled": "2"},),
    "differences": ([{"kind": "k", "partition": "p", "file": "f", "detail": "d", "cause": "c"}],),
    "perf": ({"table": "t", "reads": [{"what": "w", "millis": 1}]},),
}


@pytest.mark.parametrize("name", DRAWN)
def test_what_is_drawn_shows_hostile_names_as_they_are(name: str) -> None:
    told = drawn(getattr(render, name), *all_hostile(list(DRAWN[name])))
    assert_plain(told)
    assert TOLD in told


def test_a_report_of_verify_shows_hostile_names_as_they_are() -> None:
    difference = RecordDifference(HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE)
    told = drawn(render.record_differences, [difference])
    assert_plain(told)
    assert told.count(TOLD) >= 4


def test_every_function_that_draws_is_drawn_here() -> None:
    tree = ast.parse((ROOT / "python/hudiidx/cli/render.py").read_text())
    draws = {
        f.name
        for f in tree.body
        if isinstance(f, ast.FunctionDef)
        and not f.name.startswith("_")
        and f.args.args
        and f.args.args[0].arg == "out"
    }
    assert draws == {*DRAWN, "record_differences", "verified"}
    assert VerifyReport  # drawn by these two and `info`


def test_explanations_and_pages_show_hostile_names_as_they_are() -> None:
    scan = {
        "path": HOSTILE,
        "reads": "r",
        "answered": "a",
        "why_not": [{"index": HOSTILE, "reason": HOSTILE}],
    }
    told = reasons([scan])
    assert told.split("\n") == [f"hudiidx {TOLD} r: a", f"+- {TOLD}: {TOLD}"]
    assert callable(explanation)
    page = html(HOSTILE)
    assert_plain(page)
    assert "<b>" not in page


PRINTS = {"out.py": {"print", "typer.BadParameter", "typer.confirm"}, "terminal.py": {"rich.console"}}


def test_nothing_prints_but_through_the_one_place_for_it() -> None:
    """`print`, Rich's consoles and texts, Typer's own output: in `out.py` and `terminal.py` alone."""
    wrong = [
        f"{file.name}: {what}"
        for file in sorted(ROOT.glob("python/hudiidx/**/*.py"))
        for what in _prints(ast.parse(file.read_text(encoding="utf-8")))
        if file.name not in ("out.py", "terminal.py")
    ]
    assert wrong == []
    seen = {
        what
        for name in PRINTS
        for what in _prints(ast.parse((ROOT / "python/hudiidx/cli" / name).read_text()))
    }
    assert {"print", "typer.confirm", "typer.BadParameter", "rich.console", "rich.text"} <= seen


def _prints(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if (
                called in ("print", "sys.stdout.write", "sys.stderr.write")
                or re.match(
                    r"(typer|click)\.(echo|secho|confirm|prompt|BadParameter|UsageError)$|os\.write$", called
                )
                or called.startswith("warnings.")
                or re.match(r"logging\.(debug|info|warning|error|exception|critical|log)$", called)
            ):
                yield called
            elif re.match(r"_log\.", called) and not _is_shown(node):
                yield f"{called} of a text that is not shown"
        elif isinstance(node, ast.ImportFrom) and node.module in (
            "rich.console",
            "rich.text",
            "rich.markup",
            "rich",
        ):
            names = {a.name for a in node.names}
            if node.module != "rich" or "print" in names:
                yield node.module


def _is_shown(call: ast.Call) -> bool:
    """A format of ours; arguments are shown, numbers, polls (they show themselves) or names of classes."""
    first, *rest = call.args
    known = r"shown\(.*\)|batch_id|poll|one_line\(e\)|type\(e\)\.__name__"
    return isinstance(first, ast.Constant) and all(re.fullmatch(known, ast.unparse(a)) for a in rest)


def test_a_log_line_of_a_watch_is_one_line(caplog: pytest.LogCaptureFixture) -> None:
    from hudiidx.watch import _log_poll

    with caplog.at_level(logging.INFO, "hudiidx.watch"):
        _log_poll(Poll(HOSTILE, datetime.now(timezone.utc), 1.0, error=InvalidOption(HOSTILE)))
    assert_plain(caplog.messages[0])


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([str(COMMAND), *map(str, arguments)], capture_output=True, check=False)
    told = subprocess.CompletedProcess(
        arguments,
        done.returncode,
        done.stdout.decode("utf-8", "replace"),
        done.stderr.decode("utf-8", "replace"),
    )
    assert "Traceback" not in told.stderr
    assert_plain(told.stdout + told.stderr)
    assert "\n26" not in told.stdout + told.stderr
    return told


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table in a folder of a hostile name, with a partition, a file and a column of such names."""
    folder = tmp_path_factory.mktemp("hostile") / NAME
    fixture = stored.load("v6-cow-part")
    folder.mkdir()
    made = fixture.unpack(folder)
    (made / "sf").rename(made / PARTITION)
    shutil.rmtree(made / ".hoodie" / "metadata")
    properties = made / ".hoodie" / "hoodie.properties"
    properties.write_text(re.sub(r"(metadata.partitions)=.*", r"\1=", properties.read_text()))
    for file in (made / ".hoodie").glob("*commit"):
        text = file.read_text()
        file.write_text(
            text.replace('"sf/', f"{json.dumps(PARTITION)[:-1]}/").replace('"sf"', json.dumps(PARTITION))
        )
    return made


def test_every_command_without_spark_shows_hostile_names_as_they_are(table: Path, tmp_path: Path) -> None:
    told = shown(PARTITION)
    assert told in run("partitions", table).stdout
    assert told in run("files", table, "--limit", 1000).stdout
    assert told in run("slices", table).stdout
    assert run("info", table).returncode == 0
    assert run("files", table, "--partition", HOSTILE).returncode == 0
    assert run("doctor", table).returncode == 0
    missing = run("lookup", table, HOSTILE)
    assert TOLD in missing.stdout and missing.returncode == 1
    assert run("report", table, "-o", tmp_path / "page.html").returncode == 0
    assert_plain((tmp_path / "page.html").read_text(encoding="utf-8").replace("\n", ""))
    assert told in run("prune", table, "true").stdout
    file = next((table / PARTITION).glob("*.parquet"))
    for arguments in (
        ("export", "symlink-manifest", table, "-o", tmp_path / "m"),
        ("log", "show", file),
        ("log", "find", file, HOSTILE),
        ("expire", table),
        ("perf", table),
        ("info", tmp_path / NAME),
        ("files", table, "--as-of", HOSTILE),
        ("prune", table, f"`{HOSTILE}` = 1"),
        ("lookup", table, "--file", tmp_path / NAME),
        ("report", table, "-o", tmp_path / NAME / "x" / "y"),
        (HOSTILE, table),
        ("info", table, f"--{HOSTILE}"),
        ("info", table, "--index-path", f"nowhere://{HOSTILE}"),
        ("drop", table),
    ):
        failed = run(*arguments)
        assert failed.returncode > 0, arguments
        kind = [line for line in failed.stderr.split("\n") if line.startswith("hudiidx: ")]
        assert len(kind) <= 1, failed.stderr
    parsed = json.loads(run("partitions", table, "--json").stdout)
    assert PARTITION in parsed["partitions"]


@pytest.mark.spark
def test_commands_with_spark_show_hostile_names_as_they_are(table: Path) -> None:
    local = ("--master", "local[2]")
    assert run("create", table, "--record", "global", *local).returncode == 0
    next((table / PARTITION).glob("*.parquet")).rename(table / PARTITION / HOSTILE.replace("/", "|"))
    differ = run("verify", table, "--record", *local)
    assert differ.returncode == 1 and shown(PARTITION) in differ.stdout
    watched = run("watch", table, table.parent / "none" / NAME, "--once", *local)
    assert watched.returncode == 4 and shown(NAME) in watched.stdout
    assert len(watched.stdout.splitlines()) == 2
