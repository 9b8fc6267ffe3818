"""The command that looks whether hudiidx can work here, and what to do if not."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any

import typer

from hudiidx.cli import out
from hudiidx.cli.app import CHECK, IndexPath, Json, argument, command, plain
from hudiidx.cli.plain import CommandFailed, java
from hudiidx.errors import HudiIdxException

_JAVA = 17
_STYLES = {"ok": "green", "warning": "yellow", "failed": "red"}
Finding = dict[str, str]


@command(CHECK, "hudiidx doctor", "hudiidx doctor /data/trips --json")
def doctor(
    table: Annotated[
        str | None,
        argument("[TABLE]", "Also look at this table, its index and the store."),
    ] = None,
    json_: Json = False,
    index_path: IndexPath = None,
) -> None:
    """Check Java, Spark, the jar, and of a table access rights, clock and store; say what to do."""
    findings = [_python(), _java(), _spark(), *_stores()]
    if table is not None and all(f["status"] != "failed" for f in findings):
        findings += _of_table(table, index_path)
    if json_:
        out.document({"findings": findings})
    else:
        _show(findings)
    if any(f["status"] == "failed" for f in findings):
        raise typer.Exit(5)


def _show(findings: list[Finding]) -> None:
    from rich.table import Table

    from hudiidx.cli.terminal import marked

    table = Table(box=None, pad_edge=False, show_header=False)
    for name in ("check", "status", "found"):
        table.add_column(name, overflow="fold")
    for f in findings:
        status = marked((f["status"], _STYLES[f["status"]]))
        table.add_row(f["check"], status, marked((f["found"], ""), (f["advice"], "bold")))
    out.console().print(table)


def _finding(check: str, status: str, found: str, advice: str = "") -> Finding:
    return {"check": check, "status": status, "found": found, "advice": advice}


def _python() -> Finding:
    from hudiidx import __version__

    return _finding("hudiidx", "ok", f"{__version__}, Python {platform.python_version()}")


def _java() -> Finding:
    try:
        path = java()
        said = subprocess.run([path, "-version"], capture_output=True, text=True, check=True).stderr
    except (CommandFailed, OSError, subprocess.CalledProcessError) as e:
        return _finding("Java", "failed", str(e), f"install Java {_JAVA}, or set JAVA_HOME to it")
    found = re.search(r'version "(\d+)(?:\.(\d+))?', said)
    major = 0 if found is None else int(found[2] if found[1] == "1" and found[2] else found[1])
    if major < _JAVA:
        return _finding(
            "Java", "failed", f"{major} at {path}", f"install Java {_JAVA}, or set JAVA_HOME to it"
        )
    if major > _JAVA:
        return _finding(
            "Java", "warning", f"{major} at {path}", f"Java {_JAVA} is what hudiidx is tested with"
        )
    return _finding("Java", "ok", f"{major} at {path}")


def _spark() -> Finding:
    from hudiidx._spark import spark_jars, spark_line
    from hudiidx.session import jar_path

    try:
        jars = spark_jars()
        jar = jar_path()
    except RuntimeError as e:
        return _finding("Spark", "failed", str(e))
    try:
        installed = version("pyspark")
    except PackageNotFoundError:
        installed = spark_line(jars)
    other = os.environ.get("SPARK_HOME")
    if other and Path(other).resolve() != jars.parent.resolve():
        return _finding(
            "Spark",
            "warning",
            f"{installed} at {jars.parent}, and SPARK_HOME is {other}",
            "unset SPARK_HOME, or let it be the Spark that PySpark is of: spark-submit takes that one",
        )
    return _finding("Spark", "ok", f"{installed}, with {jar.name}")


def _stores() -> list[Finding]:
    extra = [e for e in os.environ.get("HUDIIDX_CLASSPATH", "").split(os.pathsep) if e]
    gone = [e for e in extra if not Path(e.removesuffix("*")).exists()]
    if not gone:
        return []
    return [_finding("stores", "failed", f"HUDIIDX_CLASSPATH names {gone[0]}, which is not there")]


def _of_table(table: str, index_path: str | None) -> list[Finding]:
    try:
        found: Any = plain("doctor", table, index_path=index_path)
    except (HudiIdxException, CommandFailed) as e:
        return [_finding("table", "failed", str(e))]
    return list(found["findings"])
