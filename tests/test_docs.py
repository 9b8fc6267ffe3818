"""Every code block of README and docs/ is run, each page's in order, on small tables of its own.

A block that cannot be run stands behind a comment that says why: ``<!-- not run: reason -->``.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from docs_tables import DocsTables
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from hudiidx import HudiIndex
from hudiidx.cli import spark as cli_spark
from hudiidx.cli.main import app

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
RUN = ("python", "bash", "sql")
SHOWN = ("text", "{toctree}")
_FENCE = re.compile(
    r"(?:^<!-- not run: (?P<why>.*?) -->\n)?^```(?P<kind>\S*)\n(?P<code>.*?)^```$", re.M | re.S
)
_INDENTED = re.compile(r"\n\n((?:    .*\n)+)")


@dataclass(frozen=True)
class Block:
    """A code block of a page."""

    kind: str
    code: str
    why_not: str | None
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(m["kind"], m["code"], m["why"], text[: m.start()].count("\n") + 1)
        for m in _FENCE.finditer(text)
    ]


@pytest.fixture(scope="module")
def docs_session(spark: SparkSession) -> Iterator[SparkSession]:
    """A session with the settings of docs/sql.md; blocks that make one get this."""
    session = spark.newSession()
    for name in ("spark_catalog", "hudiidx"):
        session.conf.set(f"spark.sql.catalog.{name}", "hudiidx.spark.HudiIdxCatalog")
    session.conf.set("spark.sql.session.timeZone", "UTC")
    before = SparkSession._instantiatedSession
    SparkSession._instantiatedSession = session
    yield session
    SparkSession._instantiatedSession = before


@pytest.fixture(scope="module")
def tables(docs_session: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DocsTables:
    return DocsTables(docs_session, tmp_path_factory.mktemp("docs"))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_blocks_say_what_they_are_and_why_they_are_not_run(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert len(re.findall(r"^```", text, re.M)) == 2 * len(blocks(page))
    for block in blocks(page):
        where = f"{page.name}:{block.line}"
        assert block.kind in (*RUN, "java", *SHOWN), where
        if block.kind == "java":
            assert block.why_not, where
        if block.why_not is not None:
            assert len(block.why_not.split()) > 3, where
    if page.stem != "CONTRIBUTING":  # its commands are those of `make`, which run the tests
        lists = [
            m for m in _INDENTED.findall(_FENCE.sub("", text)) if not m.lstrip().startswith(("- ", "* "))
        ]
        assert lists == []


def test_few_blocks_are_not_run() -> None:
    left = [b for page in PAGES for b in blocks(page) if b.why_not is not None]
    assert len(left) <= 16
    assert len([b for page in PAGES for b in blocks(page) if b.kind in RUN]) > 3 * len(left)


@pytest.mark.parametrize(
    "page",
    [p for p in PAGES if any(b.kind in RUN and b.why_not is None for b in blocks(p))],
    ids=lambda p: p.stem,
)
def test_blocks_run(
    page: Path, tables: DocsTables, docs_session: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli_spark, "session", lambda master, settings: docs_session)
    monkeypatch.setattr(docs_session, "stop", lambda: None)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    data = tables.fresh(page.stem, with_tables=page.stem != "quickstart")
    names = {"spark": docs_session, **tables.names(data)}
    if page.stem != "quickstart":
        names["idx"] = HudiIndex(docs_session, data / "trips")
    for block in blocks(page):
        if block.kind not in RUN or block.why_not is not None:
            continue
        code = as_here(block.code, data, tables)
        try:
            {"python": run_python, "bash": run_bash, "sql": run_sql}[block.kind](code, names)
        except BaseException as e:
            raise AssertionError(f"{page.name}:{block.line}: {e}\n{code}") from e
        finish_streams(docs_session)
    tables.remove(data)


def as_here(code: str, data: Path, tables: DocsTables) -> str:
    """The code with paths and instants of the tables that there are; no stock Hudi is here: we write."""
    code = re.sub(r"/data(?=[/\s\"'`])", str(data), code)
    code = code.replace('format("hudi")', 'format("hudiidx")')
    code = code.replace("20260101000000000", tables.first_instant)
    code = code.replace("20260201000000000", tables.last_instant)
    code = code.replace("2026-01-01 12:00:00", tables.first_instant)
    return code.replace("2026-01-01 00:00:00", f"{datetime.now(timezone.utc):%Y-%m-%d %H:%M:%S}")


def run_python(code: str, names: dict[str, Any]) -> None:
    exec(compile(code, "docs", "exec"), names)


def run_sql(code: str, names: dict[str, Any]) -> None:
    for statement in re.split(r";\s*(?:\n|$)", code):
        if statement.strip():
            names["spark"].sql(statement).collect()


def run_bash(code: str, names: dict[str, Any]) -> None:
    """Commands of ours run in this process, in the session that there is; others in a shell."""
    for line in code.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] == ["hudiidx"]:
            result = CliRunner().invoke(app, words[1:], catch_exceptions=False)
            assert result.exit_code == 0, f"{line}: exit code {result.exit_code}\n{result.output}"
        elif words:
            subprocess.run(["bash", "-ec", line], cwd=ROOT, check=True, capture_output=True)


def finish_streams(session: SparkSession) -> None:
    for query in session.streams.active:
        query.processAllAvailable()
        query.stop()


def test_the_notebook_runs(tmp_path: Path) -> None:
    import nbformat
    from nbclient import NotebookClient

    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    notebook = nbformat.read(tmp_path / "examples" / "tour.ipynb", as_version=4)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": tmp_path / "examples"}}).execute()
    shown = "\n".join(str(o) for cell in notebook.cells if cell.cell_type == "code" for o in cell.outputs)
    assert "index and table agree" in shown
    assert "RecordLocation" in shown
