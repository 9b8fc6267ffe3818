"""`hudiidx watch`: follows the timelines of many tables until it is told to stop."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hudiidx.cli import out
from hudiidx.cli.app import MAKE, Conf, IndexPath, Master, argument, command, finite, lines_of, optional

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from hudiidx.index import HudiIndex
    from hudiidx.poll import Poll
    from hudiidx.watch import Watcher

# What Spark remembers of jobs that are over, for a page that nobody opens: enough for some minutes.
_SHORT_MEMORY = (
    "spark.ui.retainedJobs=100",
    "spark.ui.retainedStages=100",
    "spark.ui.retainedTasks=1000",
    "spark.sql.ui.retainedExecutions=20",
)
_FAILED = 4


@command(
    MAKE,
    "hudiidx watch /data/trips /data/riders --interval 30",
    "hudiidx watch --tables-file tables.txt --create --metrics-port 9400",
    "hudiidx watch /data/trips --once",
)
def watch(
    tables: Annotated[
        list[str] | None,
        argument("TABLE...", "Folders or URIs of Hudi tables."),
    ] = None,
    tables_file: Annotated[
        str | None,
        optional("--tables-file", metavar="FILE", help="Also those in a file, one a line; - is stdin."),
    ] = None,
    interval: Annotated[
        float,
        typer.Option(
            "--interval",
            min=0.1,
            metavar="SECONDS",
            help="From one poll of a table to the next.",
            callback=finite,
        ),
    ] = 10.0,
    jitter: Annotated[
        float,
        typer.Option(
            "--jitter",
            min=0,
            max=0.99,
            metavar="SHARE",
            help="Of the interval: it varies by so much.",
            callback=finite,
        ),
    ] = 0.1,
    max_backoff: Annotated[
        float,
        typer.Option(
            "--max-backoff",
            min=0,
            metavar="SECONDS",
            help="Most between tries of a table that fails.",
            callback=finite,
        ),
    ] = 300.0,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Tables worked on at once.")] = 2,
    patience: Annotated[
        float,
        typer.Option(
            "--patience",
            min=0.1,
            max=31622400,
            metavar="SECONDS",
            help="A poll that has not ended by then is told as failed, and keeps no other table waiting.",
            callback=finite,
        ),
    ] = 3600.0,
    create: Annotated[bool, typer.Option("--create", help="Make the index where there is none.")] = False,
    once: Annotated[
        bool, typer.Option("--once", help="One pass over all tables; exit code 4 if any failed.")
    ] = False,
    metrics_port: Annotated[
        int | None,
        optional("--metrics-port", min=0, max=65535, help="Serve Prometheus metrics; 0: a free port."),
    ] = None,
    metrics_address: Annotated[
        str, typer.Option("--metrics-address", metavar="ADDRESS", help="Where the metrics are served.")
    ] = "127.0.0.1",
    json_: Annotated[bool, typer.Option("--json", help="Print a JSON document a line.")] = False,
    index_path: IndexPath = None,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Keep the indexes of many tables in step with their timelines, until SIGTERM or SIGINT."""
    paths = [*(tables or ()), *(lines_of(tables_file, "--tables-file") if tables_file else ())]
    if not paths:
        raise out.usage("no tables: name them, or pass --tables-file")
    if index_path and len(paths) > 1:
        raise out.usage("--index-path is for one table: two cannot share it")
    if once and metrics_port is not None:
        raise out.usage("--metrics-port is not for --once")
    from hudiidx.cli.spark import session
    from hudiidx.watch import Watcher

    printer = _Printer(json_, every=once)
    spark = session(master, [*_SHORT_MEMORY, *(conf or [])])
    try:
        watcher = Watcher(
            spark,
            [_index(spark, paths[0], index_path)] if index_path else paths,
            interval=interval,
            jitter=jitter,
            max_backoff=max_backoff,
            create=create,
            workers=workers,
            patience=patience,
            metrics_port=metrics_port,
            metrics_address=metrics_address,
            on_poll=printer,
        )
        printer.watcher = watcher
        with _stopped_by_signals(watcher):
            if once:
                failed = any(poll.error for poll in watcher.run_once())
            else:
                failed = False
                watcher.start()
                out.line(_greeting(watcher, interval, metrics_address), stderr=True)
                watcher.join()
    finally:
        with suppress(Exception):  # nothing is left of a session whose JVM died
            spark.stop()
    if failed:
        raise typer.Exit(_FAILED)


def _index(spark: SparkSession, path: str, index_path: str) -> HudiIndex:
    from hudiidx.index import HudiIndex

    return HudiIndex(spark, path, index_path=index_path)


def _greeting(watcher: Watcher, interval: float, address: str) -> str:
    n = len(watcher.tables)
    host = f"[{address}]" if ":" in address else address
    metrics = f"; metrics: http://{host}:{watcher.metrics_port}/metrics" if watcher.metrics_port else ""
    return f"hudiidx: watching {n} table{'' if n == 1 else 's'} every {interval:g} s{metrics}"


class _Printer:
    """Prints what polls did, those that found nothing to do if ``every``."""

    watcher: Watcher | None = None

    def __init__(self, as_json: bool, every: bool) -> None:
        self._as_json, self._every = as_json, every

    def __call__(self, poll: Poll) -> None:
        if not (self._every or poll.published or poll.error):
            return
        try:
            if self._as_json:
                out.document(poll.document(), indent=None)
            else:
                out.line(f"{poll.at:%Y-%m-%d %H:%M:%S} {poll}")
        except BrokenPipeError:  # nobody reads any more
            if self.watcher:
                self.watcher.stop()


@contextmanager
def _stopped_by_signals(watcher: Watcher) -> Iterator[None]:
    """The first SIGTERM or SIGINT stops the watcher; the second has its usual effect."""
    usual: dict[signal.Signals, Any] = {
        signal.SIGTERM: signal.SIG_DFL,
        signal.SIGINT: signal.default_int_handler,
    }

    def stop(number: int, frame: Any) -> None:
        watcher.stop()
        for s, handler in usual.items():
            signal.signal(s, handler)

    before = {s: signal.signal(s, stop) for s in usual}
    try:
        yield
    finally:
        for s, handler in before.items():
            signal.signal(s, handler)
