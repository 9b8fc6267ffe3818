"""What a watcher counts, for Prometheus. A registry of its own: the process may have others."""

from __future__ import annotations

from collections.abc import Iterable
from threading import Thread
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIServer

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, start_http_server

from hudiidx._text import shown

if TYPE_CHECKING:
    from hudiidx.poll import Poll

_SYNC_SECONDS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800)


class WatchMetrics:
    """Counters and gauges by table, all of them there from the beginning."""

    def __init__(self, tables: Iterable[str]) -> None:
        self.registry = CollectorRegistry()
        ours: dict[str, Any] = {"namespace": "hudiidx_watch", "registry": self.registry}

        def counter(name: str, told: str) -> Counter:
            return Counter(name, told, ("table",), **ours)

        def gauge(name: str, told: str) -> Gauge:
            return Gauge(name, told, ("table",), **ours)

        self._polls = counter("polls", "Looks at the table's timeline.")
        self._syncs = counter("syncs", "Index versions that polls published.")
        self._instants = counter("instants", "Instants that the index took in.")
        self._failures = counter("failures", "Polls that failed.")
        self._in_a_row = gauge("consecutive_failures", "Polls that failed since one succeeded.")
        self._lag = gauge(
            "lag_seconds", "Lag of what the last successful poll took in; 0: it took in nothing."
        )
        self._seconds = gauge("last_sync_duration_seconds", "What the last sync took.")
        self._version = gauge("index_version", "Version of the index as of the last success.")
        self._success = gauge(
            "last_success_timestamp_seconds",
            "When a poll last succeeded, as seconds since 1970; 0: none has.",
        )
        self._syncs_of_all = Histogram(
            "sync_duration_seconds", "What syncs took, of all tables.", buckets=_SYNC_SECONDS, **ours
        )
        counters = (self._polls, self._syncs, self._instants, self._failures)
        gauges = (self._in_a_row, self._lag, self._seconds, self._version, self._success)
        for table in map(shown, tables):
            for metric in (*counters, *gauges):
                metric.labels(table)

    def count(self, poll: Poll) -> None:
        """Takes in what a poll did."""
        table = shown(poll.table)
        self._polls.labels(table).inc()
        self._in_a_row.labels(table).set(poll.failures)
        if poll.error is not None:
            self._failures.labels(table).inc()
            return
        self._success.labels(table).set(poll.at.timestamp())
        self._lag.labels(table).set(poll.lag_seconds or 0)
        if poll.index_version is not None:
            self._version.labels(table).set(poll.index_version)
        if poll.published:
            self._syncs.labels(table).inc()
            self._instants.labels(table).inc(len(poll.instants))
            self._seconds.labels(table).set(poll.seconds)
            self._syncs_of_all.observe(poll.seconds)


class MetricsServer:
    """The endpoint ``/metrics`` until `close`."""

    def __init__(self, metrics: WatchMetrics, port: int, address: str) -> None:
        """Listens at once.

        Raises:
            OSError: the port is taken, or the address is not of this machine.
        """
        self._server: WSGIServer
        self._thread: Thread
        self._server, self._thread = start_http_server(port, address, registry=metrics.registry)

    @property
    def port(self) -> int:
        """Where it listens: the port asked for, or the one that was free."""
        return self._server.server_port

    def close(self) -> None:
        """Ends it: the port is free again."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
