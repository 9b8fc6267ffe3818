"""The metrics of a watcher, over indexes that only the test knows: no Spark."""

import socket
import urllib.request
from collections.abc import Mapping
from datetime import datetime, timezone
from threading import Event
from typing import Any

import pytest
from watched import PATIENCE, Index, Polls, done, failing, watcher

from hudiidx import DamagedTable


def scraped(port: int | None) -> dict[str, float]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE) as page:
        lines = page.read().decode().splitlines()
    pairs = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    return {name.removeprefix("hudiidx_watch_"): float(value) for name, value in pairs}


def test_metrics_tell_what_polls_did_until_the_watcher_ends() -> None:
    def five(n: int) -> Mapping[str, Any]:
        return done(n, "1", "2") if n <= 5 else done(5)

    polls = Polls()
    bad = Index("/bad", failing(DamagedTable("torn")))
    began = datetime.now(timezone.utc).timestamp()
    with watcher(Index("/t", five), bad, metrics_port=0, on_poll=polls) as running:
        port = running.metrics_port
        polls.until(lambda p: p.failures == 2)
        polls.until(lambda p: p.table == "/t" and not p.published)
        found = scraped(port)
    at_t = {name.removesuffix('{table="/t"}'): value for name, value in found.items() if "/t" in name}
    assert at_t["polls_total"] >= 6
    counted = ("syncs_total", "instants_total", "failures_total", "consecutive_failures", "index_version")
    assert [at_t[name] for name in counted] == [5, 10, 0, 0, 5]
    assert at_t["lag_seconds"] == 0
    assert 0 <= at_t["last_sync_duration_seconds"] < PATIENCE
    assert began <= at_t["last_success_timestamp_seconds"] <= datetime.now(timezone.utc).timestamp()
    assert found["sync_duration_seconds_count"] == 5
    assert found['sync_duration_seconds_bucket{le="+Inf"}'] == 5
    assert found['failures_total{table="/bad"}'] == found['polls_total{table="/bad"}'] >= 2
    assert found['last_success_timestamp_seconds{table="/bad"}'] == 0
    with pytest.raises(OSError):
        scraped(port)


def test_the_lag_of_a_sync_is_told_until_the_next_poll() -> None:
    polls, go_on = Polls(), Event()

    def once(n: int) -> Mapping[str, Any]:
        assert n == 1 or go_on.wait(PATIENCE)
        return done(1, "1") if n == 1 else done(1)

    with watcher(Index("/t", once), metrics_port=0, on_poll=polls) as running:
        assert polls.until(lambda p: p.published).lag_seconds == 1.5
        assert scraped(running.metrics_port)['lag_seconds{table="/t"}'] == 1.5
        go_on.set()


def test_a_port_that_is_taken_is_told_and_two_watchers_have_their_own_metrics() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(RuntimeError, match="port 0 takes a free one"):
            watcher(Index("/t"), metrics_port=taken.getsockname()[1]).run()
    with watcher(Index("/a"), metrics_port=0) as a, watcher(Index("/b"), metrics_port=0) as b:
        assert a.metrics_port != b.metrics_port
        assert not any("/b" in name for name in scraped(a.metrics_port))
        assert any("/b" in name for name in scraped(b.metrics_port))
    assert watcher(Index("/c")).metrics_port is None
