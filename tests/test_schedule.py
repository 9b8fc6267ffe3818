"""Turns of watched tables, by a clock that only the test moves."""

import heapq
from dataclasses import dataclass
from itertools import cycle
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudiidx._schedule import Schedule

SLIP = 1e-6  # seconds that sums of floats may be off
TICK = 1e-9  # makes up for that where time has to go on


@dataclass(frozen=True)
class Turn:
    """A poll; ``failures`` and ``pause`` as told behind a failure."""

    table: int
    began: float
    ended: float
    failures: int = 0
    pause: float = 0.0


@dataclass(frozen=True)
class Run:
    """A schedule's settings, and what came of them: turns in the order of their ends."""

    tables: int
    workers: int
    interval: float
    jitter: float
    max_backoff: float
    turns: list[Turn]

    def of(self, table: int) -> list[Turn]:
        return [t for t in self.turns if t.table == table]

    @property
    def longest_pause(self) -> float:
        return max(self.max_backoff, self.interval * (1 + self.jitter))


@st.composite
def runs(draw: st.DrawFn, every_table_has_a_worker: bool = False) -> Run:
    tables = draw(st.integers(1, 6))
    workers = tables if every_table_has_a_worker else draw(st.integers(1, 4))
    interval = draw(st.floats(0.5, 20))
    jitter = draw(st.floats(0, 0.9))
    most = draw(st.floats(0, 300))
    polls = draw(st.lists(st.tuples(st.floats(0, 50), st.booleans()), min_size=1, max_size=20))
    schedule = Schedule(
        tables, 0.0, interval=interval, jitter=jitter, max_backoff=most, random=Random(draw(st.integers()))
    )
    return Run(tables, workers, interval, jitter, most, simulate(schedule, workers, cycle(polls)))


def simulate(
    schedule: Schedule, workers: int, polls: "cycle[tuple[float, bool]]", turns: int = 80
) -> list[Turn]:
    now, done = 0.0, list[Turn]()
    busy: list[tuple[float, int, float, bool]] = []  # end, table, begin, success
    while len(done) < turns:
        while len(busy) < workers and (table := schedule.take(now)) is not None:
            assert all(table != other for _, other, _, _ in busy), "two syncs of a table at once"
            seconds, ok = next(polls)
            heapq.heappush(busy, (now + seconds, table, now, ok))
        wait = schedule.wait(now) if len(busy) < workers else None
        ends = busy[0][0] if busy else None
        assert wait is not None or ends is not None, "nothing will ever happen"
        begins = None if wait is None else now + wait + TICK
        now = min(t for t in (ends, begins) if t is not None)
        while busy and busy[0][0] <= now:
            _, table, began, ok = heapq.heappop(busy)
            if ok:
                schedule.succeeded(table, now)
                done.append(Turn(table, began, now))
            else:
                done.append(Turn(table, began, now, *schedule.failed(table, now)))
    return done


@given(runs())
def test_no_table_is_polled_twice_at_once(run: Run) -> None:
    for n in range(run.tables):
        for before, after in zip(run.of(n), run.of(n)[1:], strict=False):
            assert before.ended <= after.began


@given(runs())
def test_no_table_starves(run: Run) -> None:
    """While one that is due waits, every other table begins once at most."""
    for n in range(run.tables):
        for before, after in zip(run.of(n), run.of(n)[1:], strict=False):
            latest = before.began + run.interval * (1 + run.jitter)
            due = before.ended + before.pause if before.failures else max(before.ended, latest)
            for other in range(run.tables):
                begun = [t for t in run.of(other) if due + SLIP < t.began < after.began - SLIP]
                assert len(begun) <= 1 or other == n


@given(runs(every_table_has_a_worker=True))
def test_intervals_are_within_the_jitter_and_pauses_are_kept(run: Run) -> None:
    for n in range(run.tables):
        for before, after in zip(run.of(n), run.of(n)[1:], strict=False):
            if before.failures:
                assert after.began == pytest.approx(before.ended + before.pause, abs=SLIP)
            else:
                shortest = max(before.ended, before.began + run.interval * (1 - run.jitter))
                longest = max(before.ended, before.began + run.interval * (1 + run.jitter))
                assert shortest - SLIP <= after.began <= longest + SLIP


@given(runs())
def test_pauses_double_up_to_the_cap_and_begin_anew_behind_a_success(run: Run) -> None:
    for n in range(run.tables):
        in_a_row = 0
        for turn in run.of(n):
            in_a_row = in_a_row + 1 if turn.failures else 0
            assert turn.failures == in_a_row
            if turn.failures:
                doubled = run.interval * 2**in_a_row
                assert turn.pause <= min(run.longest_pause, doubled * (1 + run.jitter)) + SLIP
                assert turn.pause >= min(run.longest_pause, doubled * (1 - run.jitter)) - SLIP


def test_a_table_that_has_failed_for_ever_is_still_tried() -> None:
    schedule = Schedule(1, 0.0, interval=10, jitter=0, max_backoff=300, random=Random(1))
    now = 0.0
    for n in range(1, 3000):
        assert schedule.take(now) == 0
        failures, pause = schedule.failed(0, now)
        assert (failures, pause) == (n, min(300, 10 * 2 ** min(n, 5)))
        assert schedule.take(now + pause - 1) is None
        now += pause


def test_a_turn_that_nobody_has_cannot_be_given_back() -> None:
    schedule = Schedule(1, 0.0, interval=1, jitter=0, max_backoff=1, random=Random(1))
    with pytest.raises(ValueError, match="nobody has"):
        schedule.succeeded(0, 1.0)


@pytest.mark.parametrize(
    "wrong",
    [
        *({"interval": x} for x in (0, -1, float("nan"), float("inf"))),
        *({"jitter": x} for x in (1, -0.1, float("nan"))),
        *({"max_backoff": x} for x in (-1, float("nan"), float("inf"))),
    ],
)
def test_numbers_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Schedule(1, 0.0, random=Random(1), **{"interval": 1, "jitter": 0, "max_backoff": 1, **wrong})
