"""Commands in the process of the tests: those with Spark in its session, those without in its JVM."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import typer
from pyspark.sql import SparkSession
from test_help import commands

from hudiidx.cli import main, plain


def of_the_command_line() -> dict[str, Any]:
    root: Any = typer.main.get_command(main.app)
    return {" ".join(path): command for path, command in commands(root)}


@dataclass
class Told:
    """What a command told."""

    code: int
    out: str
    err: str


def runner(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., Told]:
    """What runs a command by its arguments: `test_texts.py` and `test_cli.py` run them as they are."""
    monkeypatch.setattr("hudiidx.cli.spark.session", lambda master, conf: spark)
    monkeypatch.setattr(spark, "stop", lambda: None)
    monkeypatch.setattr("hudiidx.cli.plain._run", in_the_session(spark))

    def call(*arguments: str) -> Told:
        capfd.readouterr()
        monkeypatch.setattr(sys, "argv", ["hudiidx", *arguments])
        try:
            main.main()
            code = 0
        except SystemExit as e:
            assert e.code is None or isinstance(e.code, int)
            code = e.code or 0
        return Told(code, *capfd.readouterr())

    return call


def in_the_session(spark: SparkSession) -> Callable[..., Any]:
    """What stands in for a JVM of a command's own."""
    jvm: Any = spark._jvm
    gateway: Any = spark.sparkContext._gateway

    def run(flags: object, jars: object, main: str, arguments: list[str], stdin: bytes) -> Any:
        given = gateway.new_array(jvm.java.lang.String, len(arguments))
        for n, argument in enumerate(arguments):
            given[n] = argument
        streams = jvm.java.io
        out, err = streams.ByteArrayOutputStream(), streams.ByteArrayOutputStream()
        called = jvm
        for part in main.split("."):
            called = getattr(called, part)
        told = streams.PrintStream(err, True, "UTF-8")
        code = called.run(given, streams.ByteArrayInputStream(bytearray(stdin)), out, told)
        if code == 0:
            return json.loads(bytes(out.toByteArray()).decode())
        raise plain._failure(code, bytes(err.toByteArray()).decode())

    return run


def not_one_line(told: Told) -> list[str]:
    """An error is one line, or in the frame of wrong usage; no line is what a name would make of it."""
    lines = [line for line in told.err.split("\n") if line.strip()]
    framed = [line for line in lines if line[0] in "╭│╰" or line.startswith(("Usage: ", "Try '"))]
    errors = [line for line in lines if line.startswith(("hudiidx: ", "{")) and "warning: " not in line]
    beside = ("hudiidx: warning: ", "run ", "there is no ")
    other = [line for line in lines if line not in framed + errors and not line.startswith(beside)]
    other += [line for line in lines + told.out.split("\n") if line.startswith("26/11/26 WARN")]
    if "Traceback" in told.err or "MarkupError" in told.err:
        return [told.err]
    if told.code > 1 and not errors + framed and "failed" not in told.out and '"error": "' not in told.out:
        return ["no error"]
    return [*other, *errors[1:]]


def no_json(arguments: list[str], told: Told) -> list[str]:
    if arguments[-1] != "--json":
        return []
    lines = told.out.splitlines() if arguments[0] == "watch" else [told.out] if told.out else []
    if told.code > 2:
        lines += [line for line in told.err.splitlines() if not line.startswith("hudiidx: warning")]
    for text in lines:
        try:
            json.loads(text)
        except ValueError as e:
            return [f"no JSON: {e}"]
    return [] if lines or told.code == 2 else ["nothing told"]
