"""Ways by which texts leave the package beside what commands print: pages, metrics, errors, objects."""

import ast
import json
import re
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from hostile import HOSTILE, TOLD, all_hostile, assert_plain
from page_facts import large_facts

from hudiidx import Poll, Report
from hudiidx._keys import KeyForm, texts_of
from hudiidx._metrics import WatchMetrics
from hudiidx.errors import InvalidOption
from hudiidx.model import IndexInfo

ROOT = Path(__file__).parents[1]
SOURCES = sorted(ROOT.glob("python/hudiidx/**/*.py"))


def hostile_report() -> Report:
    """Every text that a page tells, and each that names something there, a hostile one."""
    facts = large_facts()
    made = all_hostile(facts)
    for write, fact in zip(made["timeline"]["writes"], facts["timeline"]["writes"], strict=True):
        write["action"] = fact["action"]  # one of four words of ours
    for bound, fact in zip(made["columns"]["bounds"], facts["columns"]["bounds"], strict=True):
        bound["grid"] = fact["grid"]  # digits of ours
    for advice, fact in zip(made["advice"], facts["advice"], strict=True):
        advice["runs_in"] = fact["runs_in"]  # one of three
    made["index"]["bytes_by_kind"] = {HOSTILE: 1}
    made["index"]["columns"][0]["options"] = {HOSTILE: HOSTILE}
    return Report(made)


def test_a_page_shows_every_text_in_charts_and_their_tooltips_too() -> None:
    report = hostile_report()
    for told in (report.html(), report._repr_html_(), repr(report)):
        assert_plain(told)
    found = re.search(r'<script[^>]* id="charts"[^>]*>(.*?)</script>', report.html(), re.DOTALL)
    assert found is not None
    charts = json.loads(found[1])
    tips = [tip for chart in charts for tip in chart["full"]]
    assert any(TOLD.lower() in tip for tip in tips)
    assert all(line == line.strip("\n") and "\n" not in line for line in tips)


def test_labels_of_metrics_are_shown() -> None:
    from prometheus_client import generate_latest

    metrics = WatchMetrics([HOSTILE])
    metrics.count(Poll(HOSTILE, datetime.now(timezone.utc), 1.0, index_version=3))
    text = generate_latest(metrics.registry).decode()
    assert_plain(text)
    assert all(re.match(r"# |[a-z_]+(\{[^\n]*\})? [0-9.e+-]+$|$", line) for line in text.split("\n"))
    told = TOLD.replace("\\", "\\\\")
    assert f'hudiidx_watch_polls_total{{table="{told}"}} 1.0' in text
    assert text.count('hudiidx_watch_index_version{table="') == 1


def test_objects_and_errors_of_arguments_show_what_they_name() -> None:
    form = KeyForm((HOSTILE, "b"), ("Text", HOSTILE), (True,), HOSTILE)
    told = [str(IndexInfo("DAMAGED", reason=HOSTILE)), str(InvalidOption(HOSTILE))]
    for key in ((1, 2), (1,), 1, {HOSTILE: 1}):
        for asked in (form, KeyForm((HOSTILE, "b"), ("Text", HOSTILE), (True,), "")):
            with pytest.raises((TypeError, ValueError)) as failed:
                texts_of([key], lambda asked=asked: asked)
            told.append(str(failed.value))
    for text in told:
        assert_plain(text)
        assert "\n" not in text
    assert sum(TOLD in text for text in told) >= 8


# Every way out, with the only files that may take it.
WAYS = {
    r"json\.dumps?": {"out.py", "markup.py", "render.py"},
    r"(html\.)?escape": {"markup.py"},
    r".*\.labels": {"_metrics.py"},
    r".*\.write_text|.*\.write_bytes": {"__init__.py"},  # of report: the page
    r"open|.*\.open": {"app.py"},  # reads keys
    r"Markup": {"markup.py", "overlap.py", "charts.py", "sections.py"},
}


def test_no_text_leaves_but_by_the_known_ways() -> None:
    wrong, seen = [], set()
    for file in SOURCES:
        for call in _calls(ast.parse(file.read_text(encoding="utf-8"))):
            for way, files in WAYS.items():
                if re.fullmatch(way, ast.unparse(call.func)):
                    seen.add(way)
                    if file.name not in files:
                        wrong.append(f"{file.name}: {ast.unparse(call)}")
    assert wrong == [] and seen == set(WAYS)


def test_markup_is_made_of_texts_of_the_page_alone() -> None:
    """Outside `markup.py`: constants, and the picture's paths, which are digits."""
    made = [
        f"{file.name}: {ast.unparse(call.args[0])}"
        for file in SOURCES
        if file.name != "markup.py"
        for call in _calls(ast.parse(file.read_text(encoding="utf-8")))
        if ast.unparse(call.func) == "Markup" and not isinstance(call.args[0], ast.Constant)
    ]
    assert made == ["overlap.py: paths"]


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


# What shows itself: representations, classes, numbers, what `shown` made.
SHOWN = (
    r"shown\(.*\)|_listed\(fields\)|type\(.*\)\.__name__|len\(.*\)|asked|length|interval|jitter|max_backoff"
)
SHOWN += r"|workers|patience|_AS_TEXT"
# Whose messages go through `shown` by themselves, or where they are told.
TOLD_SHOWN = ("HudiIdxException", "InvalidOption", "CommandFailed", "out.usage")
# Tell of the installation, and of an address of the caller's.
OF_THE_MACHINE = ("session.py", "_spark.py", "_exports.py", "watch.py")


def test_errors_that_are_not_ours_show_the_names_in_them() -> None:
    wrong, seen = [], 0
    for file in SOURCES:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call):
                continue
            if ast.unparse(node.exc.func) in TOLD_SHOWN or file.name in OF_THE_MACHINE:
                continue
            seen += 1
            wrong += [f"{file.name}: {text}" for argument in node.exc.args for text in _raw(argument)]
    assert wrong == [] and seen > 15


def _raw(message: ast.AST) -> Iterator[str]:
    for part in ast.walk(message):
        if isinstance(part, ast.FormattedValue) and part.conversion != ord("r"):
            text = ast.unparse(part.value)
            if not re.fullmatch(SHOWN, text):
                yield text


def texts_by_themselves() -> Iterator[tuple[str, Any]]:
    for file in SOURCES:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name in ("__str__", "__repr__", "_repr_html_"):
                yield f"{file.parent.name}/{file.name} {node.name}", node


def test_every_object_that_makes_a_text_of_itself_is_tried() -> None:
    assert [name for name, _ in texts_by_themselves()] == [
        "hudiidx/index.py __repr__",  # test_hostile_names.py
        "hudiidx/model.py __str__",
        "hudiidx/poll.py __str__",  # test_texts.py
        "report/__init__.py __repr__",
        "report/__init__.py _repr_html_",
    ]
