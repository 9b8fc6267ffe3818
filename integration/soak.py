"""Stock Hudi writes a table without pause while indexers sync it and readers ask; what that took over time.

Usage: soak.py FOLDER MINUTES READS SEED. FOLDER takes the table, `soak.json` (the counts, printed too) and
`soak.svg`, the curves. Ends when so many minutes have passed and so many reads were compared, each with the
answer of a second stock Hudi as of the same instant.
"""

import contextlib
import json
import os
import random
import re
import sys
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "fixtures" / "make"))

import hudifix
from curves import Curves
from processes import live_heap, resident
from pyspark.sql import SparkSession
from stock_hudi import NEWEST, RELEASES, StockHudi

from hudiidx import HudiIndex
from hudiidx.cli.spark import session

SETTINGS = [
    "spark.driver.memory=1g",
    "spark.sql.session.timeZone=UTC",
    "spark.sql.shuffle.partitions=2",
    "spark.default.parallelism=2",
]
ROWS = 400
KEPT = 12  # commits whose files stay
DEEDS = {"upsert": 10, "insert": 2, "delete": 2, "compact": 2, "cluster": 1, "clean": 2}
FILTERS = (
    "true",
    "id = 'k{n:06d}'",
    "id in ('k{n:06d}', 'k{n:06d}x', 'k000001')",
    "fare > {n}",
    "city = 'sf' and ts > {n}000",
    "rider = 'rider-{n}' or fare < 20",
    "id > 'k{n:06d}' and city = 'sf'",
    "not (fare > {n})",
    "id like 'k000{n}%'",
    "ts between {n}000 and 200000 and fare is not null",
    "city in ('sf', 'la') and fare < {n}",
    "rider = 'rider-{n}' and id >= 'k000100'",
)
NUMBERS = 2  # what FILTERS are asked with of one instant
MEBI = 1 << 20
KEPT_MINUTES = 5  # what no index version names any more stays so long
FILES = ("index files", "old index files", "table files")
OFTEN = 10.0  # seconds from one sample to the next


class Soak:
    """A table, who writes it, who is asked, and what was seen."""

    def __init__(self, spark: SparkSession, folder: Path, seed: int) -> None:
        self.spark, self.drawn = spark, random.Random(seed)
        self.ended, self.failure = threading.Event(), ""
        self.counts = dict.fromkeys(("writes", "refused", "syncs", "reads", "skipped"), 0)
        self.curves = Curves(["heap MiB", "cached blocks MiB", "resident MiB", "file handles", *FILES])
        for name in ("writer", "oracle"):
            (folder / name).mkdir(parents=True)
        self.writer = StockHudi(RELEASES[NEWEST], folder / "writer")
        self.oracle = StockHudi(RELEASES[NEWEST], folder / "oracle")
        quick = {"hoodie.metadata.index.column.stats.enable": "false", "hoodie.clean.automatic": "false"}
        self.path = Path(self.writer.new(name="soak", kind="MOR", options=quick))
        self.writer.write(name="soak", first=0, end=ROWS, seed=1, operation="insert")
        self.oracle.adopt(name="soak", path=str(self.path), kind="MOR")
        self.index().create(record="global", columns=["ts", "fare"], bloom=["rider"], logs=True)

    def index(self) -> HudiIndex:
        names = ("hudiidx.expire.older.than.minutes", "hudiidx.expire.orphan.minutes")
        return HudiIndex(self.spark, self.path, **dict.fromkeys(names, str(KEPT_MINUTES)))

    def write(self) -> None:
        """One deed after the other, as stock Hudi does them; what it refuses is counted."""
        drawn, seed = random.Random(self.drawn.random()), 1
        while not self.ended.is_set():
            seed += 1
            deed = drawn.choices([*DEEDS], [*DEEDS.values()])[0]
            first = drawn.randrange(ROWS)
            try:
                if deed == "clean":
                    self.writer.clean_up(name="soak", commits=KEPT)
                elif deed in ("compact", "cluster"):
                    getattr(self.writer, deed)(name="soak")
                else:
                    end = first + drawn.randint(1, 60)
                    self.writer.write(name="soak", first=first, end=end, seed=seed, operation=deed)
                self.counts["writes"] += 1
            except RuntimeError:
                self.counts["refused"] += 1

    def sync(self) -> None:
        """One of two indexers, which do not know of each other."""
        drawn = random.Random(self.drawn.random())
        while not self.ended.wait(drawn.uniform(0, 4)):
            self.index().update()
            self.counts["syncs"] += 1

    def done(self) -> list[str]:
        """Requested times of the commits whose files are there for certain."""
        names = (f.name for f in (self.path / ".hoodie" / "timeline").iterdir())
        written = [re.match(r"(\d{17})_\d{17}\.(?:delta|replace)?commit$", name) for name in names]
        return sorted(m[1] for m in written if m)[-KEPT // 2 :]

    def read(self) -> None:
        """Queries as of an instant, with the index and without, beside stock Hudi's answers."""
        at = self.drawn.choice(self.done())
        filters = [f.format(n=n) for n in self.drawn.sample(range(ROWS), NUMBERS) for f in FILTERS]
        try:
            options = {"as.of.instant": at}
            wanted = self.oracle.filtered(name="soak", filters=filters, options=options, read_once=True)
        except RuntimeError:
            self.counts["skipped"] += len(filters)  # cleaned meanwhile
            return
        how = self.drawn.choice(({}, {}, {}, {"hudiidx.index.enabled": "false"}))
        rows = self.spark.read.format("hudiidx").options(**{"as.of.instant": at, **how}).load(str(self.path))
        for where, answer in zip(filters, wanted, strict=True):
            got = hudifix.answer(rows.where(where))[1]
            if got != answer:
                raise AssertionError(f"{where} as of {at}, {how}: {got}, stock has {answer}")
            self.counts["reads"] += 1

    def sample(self) -> None:
        """What this process's JVM holds, and how many files there are."""
        java = self.spark.sparkContext._gateway.proc.pid
        ages = ages_below(self.path / ".hoodie" / "hudiidx")
        past = sum(age > 2 * KEPT_MINUTES * 60 for age in ages)
        files = len(ages_below(self.path)) - len(ages)
        handles = len([*Path(f"/proc/{java}/fd").iterdir()])
        cached = self.spark._jvm.hudiidx.engine.Tables.sharedCache().sizeBytes()
        bytes_held = (live_heap(java), cached, resident(java))
        self.curves.add(*(held / MEBI for held in bytes_held), handles, len(ages), past, files)

    def run(self, minutes: float, reads: int) -> None:
        threads = [
            threading.Thread(target=self.guarded, args=[f]) for f in (self.write, self.sync, self.sync)
        ]
        for thread in threads:
            thread.start()
        end, sampled = time.monotonic() + minutes * 60, 0.0
        try:
            while not self.failure and (time.monotonic() < end or self.counts["reads"] < reads):
                self.read()
                if time.monotonic() - sampled > OFTEN:
                    sampled = time.monotonic()
                    self.sample()
                    print(f"{time.strftime('%H:%M:%S')} {self.counts} {self.curves.last()}", file=sys.stderr)
        finally:
            self.ended.set()
            for thread in threads:
                thread.join()
            self.oracle.close()
        if self.failure:
            raise AssertionError(self.failure)
        self.index().update()
        report = HudiIndex(self.spark, self.path, strict=True).verify(record=True, columns=True)
        assert report.ok, report

    def guarded(self, work: Any) -> None:
        try:
            work()
        except BaseException as failed:
            self.failure = f"{work.__name__}: {failed!r}"


def ages_below(folder: Path) -> list[float]:
    """Seconds since each file was written; what goes away meanwhile has none."""
    ages = []
    for where, _, files in os.walk(folder):
        for name in files:
            with contextlib.suppress(FileNotFoundError):
                ages.append(time.time() - Path(where, name).stat().st_mtime)
    return ages


def main(folder: Path, minutes: float, reads: int, seed: int) -> None:
    os.environ["TZ"] = "UTC"
    time.tzset()
    soak = Soak(session("local[2]", SETTINGS), folder, seed)
    soak.run(minutes, reads)
    soak.curves.save(folder / "soak.svg")
    said = json.dumps({**soak.counts, "curves": soak.curves.values})
    (folder / "soak.json").write_text(said)
    print(said)
    soak.spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
