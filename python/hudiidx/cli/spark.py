"""The Spark session of the commands that write or check an index."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from hudiidx.cli import out
from hudiidx.cli.plain import JVM_LOG

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Options of the JVM that says how Spark is to be started (Spark's bin/spark-class).
_LAUNCHER = "SPARK_LAUNCHER_OPTS"
_LOGGING = Path(__file__).with_name("log4j2.properties")
# Spark remembers a thousand jobs for pages that no command shows: a watch would grow by them for an hour.
_FORGETFUL = {
    "spark.ui.retainedJobs": "20",
    "spark.ui.retainedStages": "20",
    "spark.ui.retainedTasks": "200",
    "spark.sql.ui.retainedExecutions": "5",
}


def session(master: str | None, settings: list[str]) -> SparkSession:
    """A quiet session with our jar.

    Args:
        master: Spark master URL; default: this machine, all cores, unless ``settings`` has ``spark.master``.
        settings: further Spark settings, each ``name=value``.

    Raises:
        typer.BadParameter: a setting without ``=``.
    """
    from pyspark.sql import SparkSession

    from hudiidx.session import configure_spark

    # When the JVM is gone its client tells of it with stacks of Python; the command says it in a line.
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    logging.getLogger().addFilter(_not_of_py4j)
    builder = (
        SparkSession.builder.appName("hudiidx")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.extraJavaOptions", f"-Dlog4j2.configurationFile=file:{_LOGGING}")
    )
    pairs = dict(_pair(s) for s in settings)
    # What starts the JVM takes Spark's own settings alone, and says of others that it ignores them.
    started = {name: value for name, value in pairs.items() if name.startswith("spark.")}
    for name, value in {**_FORGETFUL, **started}.items():
        builder = builder.config(name, value)
    if master or "spark.master" not in pairs:
        builder = builder.master(master or "local[*]")
    with _starting(), _stdout_for_us_alone():
        spark = configure_spark(builder).getOrCreate()
    for name in pairs.keys() - started.keys():
        spark.conf.set(name, pairs[name])
    return spark


def _not_of_py4j(record: logging.LogRecord) -> bool:
    """Some of its records are the root logger's: of calls too that its own thread makes, to free objects."""
    return Path(record.pathname).parent.name != "py4j"


@contextmanager
def _starting() -> Iterator[None]:
    """Says on a terminal what takes the first seconds."""
    terminal = out.console(stderr=True)
    with terminal.status("Starting Spark") if terminal.is_terminal else nullcontext():
        yield


@contextmanager
def _stdout_for_us_alone() -> Iterator[None]:
    """A JVM that is started meanwhile has stderr for its stdout: its warnings would stand among answers.

    Spark's launcher is a JVM too, and the script that runs it reads the command to run from its stdout: a
    line of the JVM's own log there and Spark does not start.
    """
    sys.stdout.flush()
    ours = os.dup(1)
    launcher = os.environ.get(_LAUNCHER)
    os.environ[_LAUNCHER] = " ".join([launcher or "", *JVM_LOG])
    try:
        os.dup2(2, 1)
        yield
    finally:
        os.environ.pop(_LAUNCHER)
        if launcher is not None:
            os.environ[_LAUNCHER] = launcher
        os.dup2(ours, 1)
        os.close(ours)


def _pair(setting: str) -> tuple[str, str]:
    name, eq, value = setting.partition("=")
    if not eq:
        raise out.usage(f"--conf {setting}: needs name=value")
    return name.strip(), value.strip()
