"""Progress bars from Spark's status tracker."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from hudiidx._text import shown

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from hudiidx.cli.terminal import Terminal

T = TypeVar("T")

_QUIET_SECONDS = 1.0
_POLL_SECONDS = 0.2


def with_progress(spark: SparkSession, console: Terminal, title: str, work: Callable[[], T]) -> T:
    """Runs ``work``; from one second on shows how far the Spark stages it started have come.

    A console that is not a terminal shows nothing.
    """
    with ThreadPoolExecutor(max_workers=1) as pool:
        future = pool.submit(work)
        if console.is_terminal:
            _wait(future, _QUIET_SECONDS)
            if not future.done():
                _draw(spark, console, title, future)
        return future.result()


def _wait(future: Future[Any], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not future.done() and time.monotonic() < end:
        time.sleep(0.02)


def _draw(spark: SparkSession, console: Terminal, title: str, future: Future[Any]) -> None:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(shown(title), total=None)
        while not future.done():
            done, total = task_counts(spark)
            if total:
                bar.update(task, completed=done, total=total)
            _wait(future, _POLL_SECONDS)


def task_counts(spark: SparkSession) -> tuple[int, int]:
    """Tasks done and tasks in all, over the stages that run at this moment."""
    tracker = spark.sparkContext.statusTracker()
    done = total = 0
    for stage in tracker.getActiveStageIds():
        info = tracker.getStageInfo(stage)
        if info is not None:
            done += info.numCompletedTasks
            total += info.numTasks
    return done, total
