"""Indexes that only a test knows, what a watcher asks of a session, and what it told."""

import queue
from collections.abc import Callable, Mapping
from threading import Lock
from types import SimpleNamespace
from typing import Any

from hudiidx import Poll, Watcher

PATIENCE = 20  # seconds within which anything has happened


def session(is_stopped: bool = False) -> Any:
    """What the watcher asks of a session."""
    context = SimpleNamespace(isStopped=lambda: is_stopped)
    return SimpleNamespace(sparkContext=SimpleNamespace(_jsc=SimpleNamespace(sc=lambda: context)))


def done(version: int, *instants: str, rebuilt: bool = False, lag: int | None = 1500) -> dict[str, Any]:
    published = bool(instants) or rebuilt
    return {
        "index_version": version,
        "instants": list(instants),
        "published": published,
        "rebuilt": rebuilt,
        "lag_millis": lag if instants and not rebuilt else None,
    }


class Index:
    """An index of which each update runs ``work``; notices two at once."""

    def __init__(
        self, path: str, work: Callable[[int], Mapping[str, Any]] = lambda n: done(n, str(n))
    ) -> None:
        self.path, self._work, self._busy = path, work, Lock()
        self._options: dict[str, str] = {}
        self.updates, self.created, self.twice_at_once = 0, list[dict[str, Any]](), False

    def update(self) -> Mapping[str, Any]:
        if not self._busy.acquire(blocking=False):
            self.twice_at_once = True
            raise AssertionError("two updates at once")
        try:
            self.updates += 1
            return self._work(self.updates)
        finally:
            self._busy.release()

    def create(self, **arguments: Any) -> Mapping[str, Any]:
        self.created.append(arguments)
        return done(1, rebuilt=True)


def failing(error: Exception) -> Callable[[int], Mapping[str, Any]]:
    def fail(n: int) -> Mapping[str, Any]:
        raise error

    return fail


class Polls:
    """What a watcher told, in order."""

    def __init__(self) -> None:
        self._told: queue.Queue[Poll] = queue.Queue()
        self.seen: list[Poll] = []

    def __call__(self, poll: Poll) -> None:
        self._told.put(poll)

    def until(self, wanted: Callable[[Poll], bool]) -> Poll:
        while True:
            poll = self._told.get(timeout=PATIENCE)
            self.seen.append(poll)
            if wanted(poll):
                return poll


def watcher(*indexes: Index, **options: Any) -> Watcher:
    return Watcher(session(), indexes, **{"interval": 0.01, "max_backoff": 0.02, **options})
