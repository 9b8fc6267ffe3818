"""When each of many tables is to be looked at again. No clock, no threads: moments come in as seconds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random

_MOST_DOUBLINGS = 32  # a failing table's back-off is at its cap long before


@dataclass
class _Turn:
    due: float
    failures: int = 0
    began: float | None = None  # None: nobody is at it


class Schedule:
    """Turns of tables, known by number. A turn that was taken has to be given back before it is taken again.

    A table's turns begin ``interval`` seconds apart, more or less a share ``jitter`` of that; one that takes
    longer is due again when it ends. Behind failures the time from its end to the next doubles, up to
    ``max_backoff``; the first success ends that. The table that has been due for longest comes first.
    """

    def __init__(
        self, tables: int, now: float, *, interval: float, jitter: float, max_backoff: float, random: Random
    ) -> None:
        """All tables are due at once.

        Raises:
            ValueError: a number out of its range.
        """
        if not 0 < interval < math.inf:
            raise ValueError(f"interval must be more than 0 seconds, got {interval}")
        if not 0 <= jitter < 1:
            raise ValueError(f"jitter must be a share of the interval, from 0 to less than 1, got {jitter}")
        if not 0 <= max_backoff < math.inf:
            raise ValueError(f"max_backoff must be seconds, got {max_backoff}")
        self._interval, self._jitter, self._random = interval, jitter, random
        self._most = max(max_backoff, interval * (1 + jitter))
        self._turns = [_Turn(now) for _ in range(tables)]

    def take(self, now: float) -> int | None:
        """The table whose turn it is; None if none is due that is not taken."""
        first = self._first()
        if first is None or self._turns[first].due > now:
            return None
        self._turns[first].began = now
        return first

    def wait(self, now: float) -> float | None:
        """Seconds until `take` has one; None while all are taken."""
        first = self._first()
        return None if first is None else max(0.0, self._turns[first].due - now)

    def succeeded(self, table: int, now: float) -> None:
        """Gives a turn back."""
        turn = self._turns[table]
        began = self._given_back(turn)
        turn.failures = 0
        turn.due = max(now, began + self._varied(self._interval))

    def failed(self, table: int, now: float) -> tuple[int, float]:
        """Gives a turn back. Failures in a row, and seconds until the next try."""
        turn = self._turns[table]
        self._given_back(turn)
        turn.failures += 1
        doubled = self._interval * 2 ** min(turn.failures, _MOST_DOUBLINGS)
        pause = min(self._most, self._varied(doubled))
        turn.due = now + pause
        return turn.failures, pause

    def _first(self) -> int | None:
        free = [n for n, turn in enumerate(self._turns) if turn.began is None]
        return min(free, key=lambda n: self._turns[n].due, default=None)

    @staticmethod
    def _given_back(turn: _Turn) -> float:
        if turn.began is None:
            raise ValueError("a turn was given back that nobody has")
        began, turn.began = turn.began, None
        return began

    def _varied(self, seconds: float) -> float:
        return seconds * (1 + self._random.uniform(-self._jitter, self._jitter))
