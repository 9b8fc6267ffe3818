"""Keeps the indexes of many tables in step with their timelines."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from os import PathLike
from random import Random
from threading import Lock, Semaphore, Thread, Timer
from typing import TYPE_CHECKING, Any

from hudiidx._schedule import Schedule
from hudiidx._text import shown
from hudiidx.index import HudiIndex
from hudiidx.poll import Poll, bring_up, named, one_line

if TYPE_CHECKING:
    from types import TracebackType

    from pyspark.sql import SparkSession

    from hudiidx._metrics import MetricsServer, WatchMetrics

_log = logging.getLogger("hudiidx.watch")
_MOST_PATIENCE = 366 * 86400.0
_NAP = 0.25  # seconds after which an idle worker looks whether it is to stop


@dataclass(eq=False)
class _Place:
    """One of the places of workers. A worker whose poll does not end loses it to another."""

    thread: Thread | None = None
    is_polling: bool = False
    is_lost: bool = False


class Watcher:
    """Follows the timelines of many tables, and updates their indexes one by one as instants complete.

    ``run()`` does so until another thread, or a signal handler, calls ``stop()``; in a ``with`` block it is
    done in the background until the block ends. What fails of one table is told, and tried again later; the
    others go on. No table is looked at twice at once, and the one that has waited longest comes first.
    """

    def __init__(
        self,
        spark: SparkSession,
        tables: Iterable[str | PathLike[str] | HudiIndex],
        *,
        interval: float = 10.0,
        jitter: float = 0.1,
        max_backoff: float = 300.0,
        create: bool | Mapping[str, Any] = False,
        workers: int = 2,
        patience: float = 3600.0,
        metrics_port: int | None = None,
        metrics_address: str = "127.0.0.1",
        on_poll: Callable[[Poll], None] | None = None,
    ) -> None:
        """Touches no table yet.

        Args:
            spark: a session as for `HudiIndex`.
            tables: paths of tables, or their indexes; a path that comes twice counts once.
            interval: seconds from the beginning of one poll of a table to that of the next.
            jitter: share of the interval by which that varies at random, so that tables spread over it.
            max_backoff: most seconds between tries of a table that fails: they begin with twice the interval
                and double; never less than the interval.
            create: make the index of a table that has none: True, or the arguments of `HudiIndex.create`.
            workers: tables that are worked on at once.
            patience: seconds. A poll that has not ended by then, as of a store that does not answer, is told
                as failed and keeps no other table waiting: another worker takes its place. The table is
                looked at again once that poll ends.
            metrics_port: serve counters for Prometheus on this port; 0: on a free one, see `metrics_port`.
            metrics_address: where that listens; by default this machine alone can reach it.
            on_poll: told of every poll, by a worker's thread, one at a time. By default syncs and failures
                are logged by ``logging.getLogger("hudiidx.watch")``.

        Raises:
            ValueError: no tables, or a number out of its range.
        """
        by_path = dict(map(named, tables))
        if not by_path:
            raise ValueError("no tables: name at least one")
        if workers < 1:
            raise ValueError(f"workers must be at least 1, got {workers}")
        if not 0 < patience <= _MOST_PATIENCE:
            raise ValueError(f"patience must be more than 0 seconds, and at most a year, got {patience}")
        self._spark, self._create, self._patience = spark, create, patience
        self._paths, self._opened = [*by_path], [*by_path.values()]
        self._workers = min(workers, len(by_path))
        self._schedule = Schedule(
            len(by_path),
            time.monotonic(),
            interval=interval,
            jitter=jitter,
            max_backoff=max_backoff,
            random=Random(),
        )
        self._endpoint = (metrics_port, metrics_address)
        self._metrics: WatchMetrics | None = None
        self._server: MetricsServer | None = None
        self._on_poll = on_poll or _log_poll
        self._lock, self._telling = Lock(), Lock()
        self._threads: list[Thread] = []
        self._running = 0
        self._hanging: set[int] = set()  # tables that a pass looks at, or one before it still does
        self._stopping = False
        self._ended_by: Exception | None = None

    @property
    def tables(self) -> tuple[str, ...]:
        """Paths of the tables."""
        return tuple(self._paths)

    @property
    def metrics_port(self) -> int | None:
        """Where the metrics are served; None: nowhere."""
        return self._server.port if self._server else None

    def run(self) -> None:
        """Watches until `stop`.

        Raises:
            RuntimeError: the metrics' port is taken, the Spark session has ended, or it is a second run.
        """
        self.start()
        self.join()

    def start(self) -> Watcher:
        """Watches in the background; the watcher itself. Raises as `run`."""
        if self._threads:
            raise RuntimeError("a watcher runs once: make another one")
        self._serve_metrics()
        self._running = self._workers
        self._threads = [self._worker(f"hudiidx-watch-{n}") for n in range(self._workers)]
        for thread in list(self._threads):
            thread.start()
        return self

    def _worker(self, name: str) -> Thread:
        place = _Place()
        place.thread = Thread(target=self._work, args=(place,), name=name, daemon=True)
        return place.thread

    def stop(self) -> None:
        """Begins nothing more; what has begun ends. Returns at once; a signal handler may call it."""
        self._stopping = True

    def join(self) -> None:
        """Waits for the end, but of no poll that takes longer than `patience`.

        Raises:
            RuntimeError: the Spark session has ended.
        """
        while alive := [thread for thread in list(self._threads) if thread.is_alive()]:
            alive[0].join(_NAP)
        if self._ended_by is not None:
            raise self._ended_by

    def __enter__(self) -> Watcher:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        self.join()

    def run_once(self) -> list[Poll]:
        """Polls every table once, in the order given; after `stop` the rest is left out. Serves no metrics.

        A poll that has not ended after `patience` is told as failed, and is not waited for.

        Raises:
            RuntimeError: the Spark session has ended.
        """
        polls: dict[int, Poll] = {}
        free = Semaphore(self._workers)

        def settle(table: int, poll: Poll) -> None:
            with self._lock:
                if table in polls:  # it was told as overdue
                    return
                polls[table] = poll
            self._tell(poll)
            free.release()

        def give_up(table: int) -> None:
            settle(table, self._late(table, "is not waited for"))

        def one(table: int) -> None:
            with self._lock:
                hangs = table in self._hanging
                self._hanging.add(table)
            if hangs:  # since an earlier pass
                give_up(table)
                return
            timer = Timer(self._patience, give_up, (table,))
            timer.daemon = True
            timer.start()
            poll = self._look(table)
            timer.cancel()
            with self._lock:
                self._hanging.discard(table)
            settle(table, poll)

        for table in range(len(self._paths)):
            free.acquire()
            if self._stopping:
                free.release()
                break
            Thread(target=one, args=(table,), name=f"hudiidx-watch-{table}", daemon=True).start()
        for _ in range(self._workers):
            free.acquire()
        if self._ended_by is not None:
            raise self._ended_by
        return [polls[table] for table in sorted(polls)]

    def _serve_metrics(self) -> None:
        port, address = self._endpoint
        if port is None:
            return
        from hudiidx._metrics import MetricsServer, WatchMetrics

        self._metrics = WatchMetrics(self._paths)
        try:
            self._server = MetricsServer(self._metrics, port, address)
        except (OSError, OverflowError) as e:
            raise RuntimeError(
                f"metrics cannot be served on {address}:{port} ({e}); port 0 takes a free one"
            ) from e

    def _work(self, place: _Place) -> None:
        """A worker: takes turns until the end, or until it has lost its place."""
        try:
            while not self._stopping and not place.is_lost:
                now = time.monotonic()
                with self._lock:
                    table = self._schedule.take(now)
                    wait = self._schedule.wait(now)
                if table is None:
                    time.sleep(_NAP if wait is None else min(wait, _NAP))
                else:
                    self._turn(table, place)
        except Exception as e:  # a fault of ours: nobody may go on as if all were well
            self._end(e)
        finally:
            if not place.is_lost:
                self._leave()

    def _leave(self) -> None:
        with self._lock:
            self._running -= 1
            last = self._running == 0
        if last and self._server:
            self._server.close()

    def _turn(self, table: int, place: _Place) -> None:
        place.is_polling = True
        timer = Timer(self._patience, self._overdue, (table, place))
        timer.daemon = True
        timer.start()
        try:
            poll = self._look(table)
        finally:
            timer.cancel()
            with self._lock:
                place.is_polling = False
        if poll.error is None:
            self._tell(poll)
            with self._lock:
                self._schedule.succeeded(table, time.monotonic())
        else:
            with self._lock:
                failures, pause = self._schedule.failed(table, time.monotonic())
            self._tell(replace(poll, failures=failures, retry_seconds=pause))

    def _overdue(self, table: int, place: _Place) -> None:
        """A poll has not ended: another worker takes the place of the one that waits for it."""
        with self._lock:
            if not place.is_polling:
                return
            place.is_lost = True
            self._threads = [thread for thread in self._threads if thread is not place.thread]
            goes_on = not self._stopping
            if goes_on:
                other = self._worker(f"{place.thread.name if place.thread else 'hudiidx-watch'}+")
                self._threads.append(other)
                other.start()
        if not goes_on:
            self._leave()
        self._tell(self._late(table, "waits for it"))

    def _late(self, table: int, becomes: str) -> Poll:
        """Of a poll that has not ended; what becomes of its table."""
        why = (
            f"the poll has not ended after {self._patience:g} s: other tables go on, this one {becomes}; "
            "look whether its store answers"
        )
        at = datetime.now().astimezone()
        return Poll(self._paths[table], at, self._patience, error=TimeoutError(why), failures=1)

    def _look(self, table: int) -> Poll:
        path, began = self._paths[table], time.monotonic()

        def poll(**what: Any) -> Poll:
            return Poll(path, datetime.now().astimezone(), time.monotonic() - began, **what)

        try:
            index = self._opened[table] or HudiIndex(self._spark, path)
            self._opened[table] = index  # kept: its settings need not be sent again
            done = bring_up(index, self._create)
        except Exception as e:
            if _is_over(self._spark):
                self._end(RuntimeError(f"the Spark session has ended; start anew ({one_line(e)})"))
            return poll(error=e, failures=1)
        lag = done.get("lag_millis")
        return poll(
            published=bool(done["published"]),
            rebuilt=bool(done["rebuilt"]),
            index_version=done["index_version"],
            instants=tuple(done["instants"]),
            lag_seconds=None if lag is None else lag / 1000,
        )

    def _end(self, why: Exception) -> None:
        self._ended_by = self._ended_by or why
        self._stopping = True

    def _tell(self, poll: Poll) -> None:
        with self._telling:
            if self._metrics:
                self._metrics.count(poll)
            try:
                self._on_poll(poll)
            except Exception:
                _log.exception("%s: on_poll failed", shown(poll.table))


def _log_poll(poll: Poll) -> None:
    if poll.error is not None:
        _log.warning("%s", poll)
    elif poll.published:
        _log.info("%s", poll)


def _is_over(spark: SparkSession) -> bool:
    """No call can succeed any more: the JVM is gone, or its context was stopped."""
    try:
        return bool(spark.sparkContext._jsc.sc().isStopped())
    except Exception:
        return True
