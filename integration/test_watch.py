"""`hudiidx watch` beside stock writers: its lag, its memory, and what its indexes answer.

`make test` watches six tables of which two are written to, for some rounds of writes. `make test-all` watches
100 for some minutes, ten of them written to, and `make reliability PARTS=watch` for an hour.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import stored
from figures import figure
from processes import live_heap, resident
from pyspark.sql import SparkSession
from test_live import NO_STATS, assert_same

from hudiidx import HudiIndex

COMMAND = Path(sys.executable).with_name("hudiidx")
MINUTES = float(os.environ.get("HUDIIDX_WATCH_MINUTES", "5"))
IDLE = (
    "v6-cow-part",
    "v6-mor-part",
    "v8-cow-part",
    "v8-mor-part",
    "v9-cow-part",
    "v9-mor-part",
    "v9-moved-mor",
)
PATIENCE = 120
MEBI = 1 << 20


@dataclass(frozen=True)
class Written:
    """A table that a stock writer goes on writing."""

    stock: Any
    name: str
    kind: str
    path: Path

    def write(self, seed: int) -> None:
        first = seed * 7 % 60
        self.stock.write(name=self.name, first=first, end=first + 40, seed=seed)


class Watch:
    """The command in a process of its own; ``polls`` are its lines so far."""

    def __init__(self, tables: list[Path], folder: Path, interval: float) -> None:
        listed = folder / "tables.txt"
        listed.write_text("\n".join(map(str, tables)))
        arguments = ["--tables-file", str(listed), "--interval", str(interval), "--create", "--json"]
        local = ["--master", "local[2]", "--conf", "spark.driver.memory=512m", "--metrics-port", "0"]
        self._log = folder / "watch.log"
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [str(COMMAND), "watch", *arguments, *local],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={**os.environ, "TZ": "UTC"},
            )
        self.polls: list[dict[str, Any]] = []
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self.polls.append(json.loads(line))

    def until(self, what: Callable[[], bool], patience: float = PATIENCE) -> None:
        end = time.monotonic() + patience
        while not what():
            assert self._process.poll() is None, self._log.read_text()[-3000:]
            assert time.monotonic() < end, f"{self.polls[-5:]} {self._log.read_text()[-3000:]}"
            time.sleep(0.1)

    def metrics(self) -> dict[str, float]:
        told = re.search(r"http://\S+/metrics", self._log.read_text())
        assert told
        with urllib.request.urlopen(told.group(), timeout=PATIENCE) as page:
            lines = page.read().decode().splitlines()
        return {name: float(value) for name, value in (x.rsplit(" ", 1) for x in lines if x[0] != "#")}

    def memory(self) -> tuple[int, int]:
        """Bytes that live in the JVM's heap, by a count of its objects, and those that Python has."""
        pid = self._process.pid
        (java,) = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return live_heap(int(java)), resident(pid)

    def stop(self) -> int:
        self._process.send_signal(signal.SIGTERM)
        code = self._process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return code

    def kill(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()


@contextmanager
def watching(tables: list[Path], folder: Path, interval: float) -> Iterator[Watch]:
    watch = Watch(tables, folder, interval)
    try:
        yield watch
    finally:
        watch.kill()


def written_tables(spark: SparkSession, stocks: list[Any], many: int) -> list[Written]:
    """Tables with indexes of every kind, whose updates are Spark jobs."""
    made = []
    for n in range(many):
        stock, kind = stocks[n % len(stocks)], "MOR" if n % 3 else "COW"
        name = f"watched-{many}-{n}"
        path = Path(stock.new(name=name, kind=kind, options=NO_STATS))
        made.append(Written(stock, name, kind, path))
        stock.write(name=name, first=0, end=100, seed=1, operation="insert")
        HudiIndex(spark, path).create(
            record="global", columns=["fare", "ts"], bloom=["rider"], logs=kind == "MOR"
        )
    return made


def idle_tables(folder: Path, many: int) -> list[Path]:
    return [stored.load(IDLE[n % len(IDLE)]).unpack(folder / str(n)) for n in range(many)]


def assert_followed(spark: SparkSession, written: list[Written], idle: list[Path]) -> None:
    """Indexes are whole and in step, and answer with the files and rows of stock Hudi."""
    for path in [*idle, *(w.path for w in written)]:
        index = HudiIndex(spark, path, strict=True)
        assert index.info().state == "READY", path
        report = index.verify()
        assert report.ok, report.differences
    for w in written:
        report = HudiIndex(spark, w.path, strict=True).verify(record=True, columns=True)
        assert report.ok, report
        assert_same(spark, w.stock, w.name, w.path, w.kind)


def assert_lag(watch: Watch, interval: float) -> None:
    """Every sync of the run took in what had completed within two intervals, and nothing failed."""
    assert [p for p in watch.polls if p["error"]] == []
    lags = sorted(p["lag_seconds"] for p in watch.polls if p["lag_seconds"] is not None)
    seconds = sorted(p["seconds"] for p in watch.polls if p["instants"] and not p["rebuilt"])
    print(
        f"{len(lags)} syncs: lag {lags[len(lags) // 2]:.1f} s in the middle, {lags[-1]:.1f} s at most; "
        f"they took {seconds[len(seconds) // 2]:.2f} s in the middle, {seconds[-1]:.2f} s at most"
    )
    assert lags[-1] < 2 * interval


def run_watch(
    spark: SparkSession,
    written: list[Written],
    idle: list[Path],
    folder: Path,
    interval: float,
    go_on: Callable[[int, float], bool],
    grows_by: int,
) -> int:
    """Writes while ``go_on(rounds, seconds)``; memory may grow by so many bytes in its second half.

    How many commits the watch took in.
    """
    tables = [*idle, *(w.path for w in written)]
    marks: list[tuple[float, int, int]] = []
    with watching(tables, folder, interval) as watch:
        made = PATIENCE + 5 * len(tables)
        watch.until(lambda: len({p["table"] for p in watch.polls if p["rebuilt"]}) == len(idle), made)
        began, rounds = time.monotonic(), 0
        while go_on(rounds, time.monotonic() - began):
            rounds += 1
            for w in written:
                w.write(seed=rounds + 1)
            marks.append((time.monotonic() - began, *watch.memory()))
        watch.until(lambda: all(HudiIndex(spark, w.path).info().state == "READY" for w in written))
        found = watch.metrics()
        assert watch.stop() == 0
    assert_lag(watch, interval)
    shown = ", ".join(
        f"{at:.0f} s {heap >> 20} + {rss >> 20}" for at, heap, rss in marks[:: max(1, len(marks) // 12)]
    )
    print(f"{rounds} rounds; MiB of heap and of Python after {shown}")
    half = marks[len(marks) // 2 :]
    assert half[-1][1] - half[0][1] < grows_by and half[-1][2] - half[0][2] < grows_by
    commits = 0
    for w in written:
        taken = [i for p in watch.polls if p["table"] == str(w.path) for i in p["instants"]]
        commits += len(taken)
        assert len(taken) == len({*taken}) >= rounds
        assert found[f'hudiidx_watch_instants_total{{table="{w.path}"}}'] == len(taken)
    syncs = sum(v for name, v in found.items() if name.startswith("hudiidx_watch_syncs_total"))
    assert syncs == sum(p["published"] for p in watch.polls)
    assert sum(v for name, v in found.items() if name.startswith("hudiidx_watch_failures_total")) == 0
    assert_followed(spark, written, idle)
    return commits


def test_six_tables_are_followed(
    spark: SparkSession, stock_0_15: Any, stock_1_2: Any, tmp_path: Path
) -> None:
    written = written_tables(spark, [stock_1_2, stock_0_15], 2)
    run_watch(spark, written, idle_tables(tmp_path, 4), tmp_path, 6.0, lambda n, _: n < 4, 8 * MEBI)


@pytest.mark.slow
def test_a_hundred_tables_are_followed_for_long(
    spark: SparkSession, stock_0_15: Any, stock_1_2: Any, tmp_path: Path
) -> None:
    written = written_tables(spark, [stock_1_2, stock_0_15], 10)
    idle = idle_tables(tmp_path, 90)
    taken = run_watch(spark, written, idle, tmp_path, 10.0, lambda _, s: s < MINUTES * 60, 8 * MEBI)
    figure("commits of stock writers that a watch of a hundred tables took in", taken)
    figure("minutes that it watched", round(MINUTES))
    shutil.rmtree(tmp_path, ignore_errors=True)
