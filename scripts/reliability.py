"""Runs what tries hudiidx hardest and writes how much was tried into docs/reliability.md.

Usage: reliability.py [PART]... [--schedules N] [--commits N] [--minutes N] [--kills N]
    [--faults N] [--reads N] [--soak-minutes N] [--fuzz N] [--forged-minutes N]

The counts come from the tests themselves (HUDIIDX_FIGURES). Without a PART all run, one after the other, for
some hours. A part that is done replaces its rows of the page; one that fails ends the run.
"""

import argparse
import datetime
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reliability.md"
LAWS = ROOT / "docs" / "laws.md"
PYTHON = str(ROOT / ".venv" / "bin" / "python")
BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"
HEAD = ["| part | tried | how much | law | last run |", "|---|---|---|---|---|"]
BEGIN_LAWS, END_LAWS = "<!-- laws -->", "<!-- end of laws -->"
HEAD_LAWS = ["| law | how much was tried last |", "|---|---|"]
ROWS = "1. Same rows"
LISTED = "2. Same files"
KEYS = "3. Exact locations"
FILES = "1. Same rows, 2. Same files"
STALE = "1. Same rows, 4. Never stale"
ORDERS = "2. Same files, 4. Never stale, 6. Atomic"
WRITES = "1. Same rows, 3. Exact locations, 6. Atomic"


@dataclass(frozen=True)
class Part:
    """What is run, and of what it counts the law that it is about; ``long`` makes the tests long."""

    command: list[str]
    laws: dict[str, str]
    long: bool = True


def suites(laws: dict[str, str], **modules: str) -> Part:
    """Scala suites by module."""
    tests = [f"{module}/testOnly {suites}" for module, suites in modules.items()]
    return Part(["build/sbt", *tests], laws)


def pytest(file: str, laws: dict[str, str]) -> Part:
    """A file of tests in Python, the long ones too."""
    return Part([PYTHON, "-m", "pytest", "-q", "-s", "-m", "", file], laws)


PARTS = {
    "fixtures": pytest("tests/test_fixtures.py", {"answers compared with stock Hudi's": FILES}),
    "answers": suites(
        {"answers compared with stock Hudi's": ROWS}, spark="*StockRowsSuite *StockMergedRowsSuite"
    ),
    "filters": suites(
        {"random filters held against rows": ROWS, "file slices held against them": ROWS},
        spark="*ConditionSuite",
    ),
    "plans": suites(
        {"accounts of what a filter left out, held against its plan": "7. Explained"},
        spark="*ColumnPruningSuite",
    ),
    "listings": suites(
        {
            "view calls compared with stock Hudi's": LISTED,
            "view calls held against the literal rules": LISTED,
        },
        core="*TableListingSuite *FileSystemViewSuite",
        engine="*FixtureIndexSuite",
    ),
    "keys": suites(
        {
            "keys of files where stock Hudi has them": KEYS,
            "keys looked up that are where files have them": KEYS,
        },
        engine="*SliceKeysSuite *RecordPartSuite",
    ),
    "lookups": pytest("tests/test_lookup.py", {"keys located as stock Hudi has them": KEYS}),
    "simulation": suites(
        {
            "orders of steps simulated": ORDERS,
            "steps of them": ORDERS,
            "reads in them": ORDERS,
            "keys looked up in them": KEYS,
            "accounts of reads in them": "7. Explained",
            "processes killed in them": "6. Atomic",
            "faults of the store in them": "5. Derived, 6. Atomic",
        },
        engine="*SimulationSuite *RecordSimulationSuite",
    ),
    "damage": suites(
        {
            "bytes of index files changed": "5. Derived",
            "bytes of logs changed": ROWS,
            "hostile files given to parsers": "5. Derived",
            "writes of an index stopped at a step": "6. Atomic",
            "processes killed at a write step": "6. Atomic",
        },
        core="*HFileDamageSuite *ParserFuzzSuite",
        engine="*IndexFaultSuite *KillSuite *RecordFaultSuite *DamagedLogSuite",
    ),
    "forged": suites(
        {
            "forged versions of an index read and updated": "1. Same rows, 5. Derived",
            "stored expressions judged": "1. Same rows, 5. Derived",
        },
        spark="*ForgedVersionsSuite",
    ),
    "fuzz": Part(
        [str(ROOT / "scripts" / "fuzz"), "60"], {"files that Jazzer chose for parsers": "5. Derived"}
    ),
    "stores": suites(
        {
            "calls of a store with a fault": WRITES,
            "rounds of six who publish at once on S3": "6. Atomic",
            "rounds of six who publish at once on a store without conditions": "6. Atomic",
        },
        fs="*S3StorageSuite *ClaimsSuite",
        engine="*FaultyStoreSuite",
        spark="*FaultyTablesSuite",
    ),
    "writers": suites(
        {
            "rounds of two writers at once": "6. Atomic",
            "races of a late writer and the one that takes it for dead": "6. Atomic",
            "orders of two processes on models of stores": "6. Atomic",
            "random orders of five processes on models of stores": "6. Atomic",
            "calls whose answer is lost on models of stores": "6. Atomic",
        },
        engine="*LateWriteSuite *LeaseModelSuite *ClaimedModelSuite",
        spark="*ConcurrentWritesSuite *ConcurrentOverwritesSuite",
    ),
    "executors": pytest(
        "integration/test_killed_executors.py",
        {
            "executors killed in indexing, tagging and writes": WRITES,
            "tasks that ran twice meanwhile": WRITES,
        },
    ),
    "random": pytest(
        "integration/test_random.py", {"random sequences of stock Hudi's writes and services": ROWS}
    ),
    "soak": pytest(
        "integration/test_soak.py",
        {
            "reads beside a stock writer without pause": STALE,
            "writes and table services of that writer": STALE,
            "minutes that they took": STALE,
        },
    ),
    "watch": pytest(
        "integration/test_watch.py",
        {
            "commits of stock writers that a watch of a hundred tables took in": STALE,
            "minutes that it watched": STALE,
        },
    ),
    "long": pytest(
        "integration/test_long_run.py",
        {
            "writes and table services of one table by stock Hudi and hudiidx by turns": ROWS,
            "writers killed among them": "6. Atomic",
        },
    ),
    "cluster": Part(
        [PYTHON, "scripts/run_tests.py", "cluster"],
        {"tests beside stock Hudi with our session on executors that are processes": ROWS},
        long=False,
    ),
    "bugs": Part(
        [PYTHON, "scripts/seeded_bugs.py"],
        {"bugs planted, caught by the tests that they name": "each"},
        long=False,
    ),
    "builds": Part(
        ["scripts/reproducible"], {"jars and wheels built twice, the same to the byte": ""}, long=False
    ),
}


def environment(part: Part, arguments: argparse.Namespace, figures: Path) -> dict[str, str]:
    """Where the tests count, and what makes them long."""
    counting = {**os.environ, "HUDIIDX_FIGURES": str(figures)}
    return {**counting, **lengths(arguments)} if part.long else counting


def lengths(arguments: argparse.Namespace) -> dict[str, str]:
    """What the tests read."""
    return {
        "HUDIIDX_TEST_EVERY_BYTE": "1",
        "HUDIIDX_TEST_ALL_FIXTURES": "1",
        "HUDIIDX_SCHEDULES": str(arguments.schedules),
        "HUDIIDX_COMMITS": str(arguments.commits),
        "HUDIIDX_MINUTES": str(arguments.minutes),
        "HUDIIDX_KILLS": str(arguments.kills),
        "HUDIIDX_FAULTS_OF_CALL": str(arguments.faults),
        "HUDIIDX_SOAK_READS": str(arguments.reads),
        "HUDIIDX_SOAK_MINUTES": str(arguments.soak_minutes),
        "HUDIIDX_WATCH_MINUTES": str(arguments.soak_minutes),
        "HUDIIDX_SOAK_PLOT": str(ROOT / "docs" / "soak.svg"),
        "HUDIIDX_FUZZ_ROUNDS": str(arguments.fuzz),
        "HUDIIDX_FORGED_MINUTES": str(arguments.forged_minutes / 2),
    }


def counted(figures: Path) -> Counter[str]:
    """Counts by what was counted."""
    counts: Counter[str] = Counter()
    for line in figures.read_text().splitlines():
        what, count = line.split("\t")
        counts[what] += int(count)
    return counts


def commit() -> str:
    """What is tried, in short."""
    return subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, text=True).strip()


def rows_of(name: str, counts: Counter[str], tried: str, minutes: float) -> list[str]:
    """The part's rows; a count that is missing ends the run."""
    laws = PARTS[name].laws
    missing = sorted(set(laws) - set(counts))
    if missing:
        raise SystemExit(f"{name} did not count: {', '.join(missing)}")
    when = f"{datetime.date.today()}, {tried}, {minutes:.0f} min"
    return [f"| {name} | {what} | {counts[what]:,} | {law} | {when} |" for what, law in laws.items()]


def with_rows(page: str, name: str, rows: list[str]) -> str:
    """The page with the part's rows in place of those that it had."""
    before, rest = page.split(BEGIN)
    old, after = rest.split(END)
    kept = {p: [line for line in old.splitlines() if line.startswith(f"| {p} |")] for p in PARTS}
    kept[name] = rows
    lines = [line for p in PARTS for line in kept[p] or [f"| {p} | not run yet | | | |"]]
    return with_laws(before + "\n".join([BEGIN, *HEAD, *lines, END]) + after, lines)


def with_laws(page: str, rows: list[str]) -> str:
    """The page with its table of laws, from the rows of all parts."""
    before, rest = page.split(BEGIN_LAWS)
    _, after = rest.split(END_LAWS)
    tried = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    lines = []
    for law in re.findall(r"^### (\d\. .*)$", LAWS.read_text(), re.MULTILINE):
        parts: dict[str, list[str]] = {}
        for part, what, count, laws, _ in tried:
            if law in laws.split(", "):
                parts.setdefault(part, []).append(f"{count} {what}")
        figures = "; ".join(f"{part}: {', '.join(figures)}" for part, figures in parts.items())
        anchor = law.lower().replace(".", "").replace(" ", "-")
        lines.append(f"| [{law}](laws.md#{anchor}) | {figures} |")
    return before + "\n".join([BEGIN_LAWS, *HEAD_LAWS, *lines, END_LAWS]) + after


def run(name: str, arguments: argparse.Namespace) -> None:
    """Runs one part and writes its rows."""
    start, tried = time.monotonic(), commit()
    with tempfile.TemporaryDirectory() as folder:
        figures = Path(folder, "figures")
        figures.touch()
        part = PARTS[name]
        print(f"=== {name}: {' '.join(part.command)}", flush=True)
        done = subprocess.run(part.command, cwd=ROOT, env=environment(part, arguments, figures), check=False)
        if done.returncode:
            raise SystemExit(f"{name} failed; its rows of {PAGE.name} stay as they are")
        rows = rows_of(name, counted(figures), tried, (time.monotonic() - start) / 60)
    PAGE.write_text(with_rows(PAGE.read_text(), name, rows))
    print("\n".join(rows), flush=True)


def main() -> int:
    """Runs the parts and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all of them")
    parser.add_argument("--schedules", type=int, default=200_000)
    parser.add_argument("--commits", type=int, default=1000)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="at most, of each long run")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--faults", type=int, default=100, help="of each call of a store, at most")
    parser.add_argument("--reads", type=int, default=10_000, help="of the soak, at least")
    parser.add_argument(
        "--soak-minutes", type=float, default=60, help="of the soak, at least, and of the watch"
    )
    parser.add_argument("--fuzz", type=int, default=100_000)
    parser.add_argument("--forged-minutes", type=float, default=60, help="at least, two tests together")
    arguments = parser.parse_args()
    unknown = set(arguments.parts) - set(PARTS)
    if unknown:
        parser.error(f"no part is called {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    for name in arguments.parts or PARTS:
        run(name, arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
