"""Hudiidx and stock Hudi write one table by turns, for as long as one likes, beside a copy of its rows.

`make test-all` runs some thirty commits. A long run, with its seed on the screen:

    HUDIIDX_COMMITS=3000 pytest -s -m slow integration/test_long_run.py -k stock_1_2

It ends before when HUDIIDX_MINUTES are over.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from written import VERSIONS, Written

from hudiidx import WriteConflict

COMMITS = int(os.environ.get("HUDIIDX_COMMITS", "30"))
MINUTES = float(os.environ.get("HUDIIDX_MINUTES", "inf"))
EACH = 10  # commits from one comparison to the next
# A writer that was killed is taken for dead soon.
BEATS = {"hoodie.client.heartbeat.interval_in_ms": "1000", "hoodie.client.heartbeat.tolerable.misses": "3"}
DEEDS = {
    "upsert": 8,
    "late": 2,
    "insert": 2,
    "delete": 2,
    "stock_upsert": 5,
    "stock_delete": 1,
    "stock_late": 1,
    "compact": 1,
    "schedule": 1,
    "clean": 1,
    "roll_back": 1,
    "crash": 1,
    "overwrite": 1,
    "crash_overwriting": 1,
}


class KilledWriter:
    """A session of its own that writes one batch and is killed meanwhile. The next one starts beforehand."""

    def __init__(self, table: Written) -> None:
        self.table = table
        self.process = self._start()

    def _start(self) -> "subprocess.Popen[str]":
        command = [
            sys.executable,
            __file__,
            str(self.table.path),
            json.dumps({**self.table.options, **BEATS}),
        ]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)

    def write(self, first: int, end: int, when: int, patience: float, mode: str = "append") -> None:
        assert self.process.stdin and self.process.stdout
        assert self.process.stdout.readline() == "ready\n"
        self.process.stdin.write(f"{first} {end} {when} {mode}\n")
        self.process.stdin.flush()
        time.sleep(patience)
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process = self._start()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


class LongRun:
    """Deeds at random; ``rows`` of the table is what it must hold."""

    def __init__(self, table: Written, seed: int) -> None:
        self.table, self.stock, self.drawn = table, table.stock, random.Random(seed)
        self.when, self.keys, self.counts = 1, 120, dict.fromkeys(DEEDS, 0)
        table.save(table.make(0, self.keys, 1, 1))
        table.expect(table.make(0, self.keys, 1, 1))
        table.adopt()
        self.killed = KilledWriter(table)

    def some(self) -> tuple[int, int]:
        first = self.drawn.randrange(self.keys)
        return first, first + self.drawn.randint(1, 40)

    def run(self, commits: int, minutes: float) -> int:
        """Commits done, when all are or the time is over."""
        end = time.monotonic() + minutes * 60
        for n in range(1, commits + 1):
            deed = self.drawn.choices([*DEEDS], [*DEEDS.values()])[0]
            self.when += 1
            self.counts[deed] += 1
            getattr(self, deed)()
            over = time.monotonic() > end
            if n % EACH == 0 or n == commits or over:
                self.table.assert_right()
                print(f"{n} commits, {len(self.table.rows)} rows, {time.strftime('%H:%M:%S')}", flush=True)
            if over:
                break
        return n

    def upsert(self, behind: int = 0) -> None:
        when = max(0, self.when - behind)
        rows = self.table.make(*self.some(), self.when, when)
        try:
            self.table.save(rows, **BEATS)
        except WriteConflict as e:  # deleted records that come again while their files wait for a compaction
            if "comes again" not in str(e):
                raise
            self.compact()
            self.table.save(rows, **BEATS)
        self.table.expect(rows)

    def late(self) -> None:
        self.upsert(behind=self.drawn.randint(1, 20))

    def insert(self) -> None:
        rows = self.table.make(10_000 + self.when * 50, 10_000 + self.when * 50 + 5, self.when, self.when)
        self.table.save(rows, "insert", **BEATS)
        self.table.expect(rows)

    def delete(self) -> None:
        self.table.delete(*self.some(), **BEATS)

    def stock_upsert(self, behind: int = 0) -> None:
        first, end = self.some()
        when = max(0, self.when - behind)
        self.stock.put(name=self.table.name, first=first, end=end, seed=self.when, when=when)
        self.table.expect(self.table.make(first, end, self.when, when))

    def stock_late(self) -> None:
        self.stock_upsert(behind=self.drawn.randint(1, 20))

    def stock_delete(self) -> None:
        first, end = self.some()
        self.stock.put(
            name=self.table.name, first=first, end=end, seed=self.when, when=self.when, operation="delete"
        )
        for n in range(first, end):
            self.table.rows.pop(f"k{n:06d}", None)

    def schedule(self) -> None:
        self.stock.schedule_compaction(name=self.table.name)

    def compact(self) -> None:
        self.stock.compact(name=self.table.name)

    def clean(self) -> None:
        self.stock.clean_up(name=self.table.name)

    def roll_back(self) -> None:
        """Stock takes a write back, ours or its own."""
        before = self.table.state()
        self.drawn.choice([self.upsert, self.stock_upsert])()
        self.stock.roll_back(name=self.table.name)
        self.table.restore(before)

    def overwrite(self) -> None:
        self.table.overwrite(self.table.make(*self.some(), self.when, self.when), **BEATS)

    def crash(self) -> None:
        """A writer of ours is killed: all of its write is there, or nothing."""
        self.kill("append")

    def crash_overwriting(self) -> None:
        """One that overwrites the table is killed: the rows before are all there, or the new ones."""
        self.kill("overwrite")

    def kill(self, mode: str) -> None:
        first, end = self.some()
        before = self.table.state()
        self.killed.write(first, end, self.when, self.drawn.uniform(0, 6), mode)
        expect = self.table.expect_only if mode == "overwrite" else self.table.expect
        expect(self.table.make(first, end, self.when, self.when))
        columns = ["id", "ts"]
        rows = [r.asDict() for r in self.table.ours().select(columns).collect()]
        found = {r["id"]: r for r in rows}
        assert len(rows) == len(found)
        if found != self.table.expected(found, columns):
            self.table.restore(before)
            assert found == self.table.expected(found, columns)
        time.sleep(3.5)  # its heartbeat


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_stock_and_we_write_by_turns_for_long(
    spark: SparkSession, request: pytest.FixtureRequest, version: str, tmp_path: Path
) -> None:
    from figures import figure  # this file is a program too, which has no path to it

    seed = int(os.environ.get("HUDIIDX_TEST_SEED", time.time_ns()))
    print(f"HUDIIDX_TEST_SEED={seed}, {COMMITS} commits")
    stock = request.getfixturevalue(version)
    table = Written(spark, stock, VERSIONS[version], tmp_path / f"long-{version[-2:]}-{seed}")
    run = LongRun(table, seed)
    try:
        done = run.run(COMMITS, MINUTES)
        figure("writes and table services of one table by stock Hudi and hudiidx by turns", done)
        figure("writers killed among them", run.counts["crash"] + run.counts["crash_overwriting"])
    finally:
        run.killed.close()
        print(run.counts)


def write_once(path: str, options: dict[str, str], read: Callable[[], str]) -> None:
    """The writer that is killed."""
    from hudiidx import configure_spark

    small = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    small = small.config("spark.sql.shuffle.partitions", "2").config("spark.sql.session.timeZone", "UTC")
    spark = configure_spark(small).getOrCreate()
    spark.range(10).selectExpr("sum(id)").collect()
    print("ready", flush=True)
    line = read()
    if line:
        *numbers, mode = line.split()
        first, end, when = map(int, numbers)
        table = Written(spark, None, 0, Path(path))
        rows = table.make(first, end, when, when)
        rows.write.format("hudiidx").options(**options).mode(mode).save(path)


if __name__ == "__main__":
    write_once(sys.argv[1], json.loads(sys.argv[2]), sys.stdin.readline)
