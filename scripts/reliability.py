"""Runs what tries hudiidx hardest and writes how much was tried into docs/reliability.md.

Usage: reliability.py [--schedules N] [--commits N] [--kills N] [--reads N] [--fuzz N] [--only PART]...

The counts come from the tests themselves (HUDIIDX_FIGURES). A part that fails ends the run; the page stays.
`--only PART` runs the parts of that name alone, for a look; the page then stays too.
"""

import argparse
import datetime
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"
PYTEST = [str(ROOT / ".venv" / "bin" / "python"), "-m", "pytest", "-q"]

# The law that a count is about.
LAWS = {
    "answers compared with stock Hudi's": "1. Same rows",
    "random sequences of stock Hudi's writes and services": "1. Same rows",
    "random filters held against rows": "1. Same rows",
    "file slices held against them": "1. Same rows",
    "commits of one table by stock Hudi and hudiidx, some of them killed": "1. Same rows",
    "reads beside a stock writer without pause": "1. Same rows, 4. Never stale",
    "orders of steps simulated": "2. Same files, 4. Never stale, 6. Atomic",
    "steps of them": "2. Same files, 4. Never stale, 6. Atomic",
    "reads in them": "2. Same files, 4. Never stale, 6. Atomic",
    "bytes of index files changed": "5. Derived",
    "bytes of logs changed": "1. Same rows",
    "hostile files given to parsers": "5. Derived",
    "writes of an index stopped at a step": "6. Atomic",
    "calls of a store with a fault": "1. Same rows, 3. Exact locations, 6. Atomic",
    "executors killed while an index or a table was written": "1. Same rows, 3. Exact locations, 6. Atomic",
    "rounds of two writers at once": "6. Atomic",
    "rounds of six who publish at once on S3": "6. Atomic",
}


def parts(arguments: argparse.Namespace) -> dict[str, list[list[str]]]:
    """Commands by the part that they belong to."""
    core = "*SimulationSuite *IndexFaultSuite *HFileDamageSuite *ParserFuzzSuite"
    hadoop = "*RecordFaultSuite *FaultyStoreSuite *DamagedLogSuite *S3StorageSuite"
    spark = "*ConditionSuite *ConcurrentWritesSuite *StockRowsSuite *StockMergedRowsSuite"
    tests = {"core": core, "hadoopModule": hadoop, "spark": spark}
    return {
        "scala": [["build/sbt", *(f"{module}/testOnly {suites}" for module, suites in tests.items())]],
        "random": [[*PYTEST, "-m", "slow", "integration/test_random.py"]],
        "executors": [[*PYTEST, "-m", "slow", "integration/test_killed_executors.py"]],
        "fixtures": [[*PYTEST, "-m", "", "tests/test_fixtures.py"]],
        "soak": [[*PYTEST, "integration/test_soak.py"]],
        "long": [[*PYTEST, "-m", "slow", "integration/test_long_run.py"]],
    }


def environment(arguments: argparse.Namespace, figures: Path) -> dict[str, str]:
    """What makes the tests long."""
    return {
        **os.environ,
        "HUDIIDX_FIGURES": str(figures),
        "HUDIIDX_TEST_EVERY_BYTE": "1",
        "HUDIIDX_SCHEDULES": str(arguments.schedules),
        "HUDIIDX_COMMITS": str(arguments.commits),
        "HUDIIDX_KILLS": str(arguments.kills),
        "HUDIIDX_SOAK_READS": str(arguments.reads),
        "HUDIIDX_FUZZ_ROUNDS": str(arguments.fuzz),
    }


def counted(figures: Path) -> Counter[str]:
    """Counts by what was counted."""
    counts: Counter[str] = Counter()
    for line in figures.read_text().splitlines():
        what, count = line.split("\t")
        counts[what] += int(count)
    return counts


def table(counts: Counter[str], took: float) -> str:
    """The generated part of the page."""
    missing = sorted(set(LAWS) - set(counts))
    if missing:
        raise SystemExit(f"not counted: {', '.join(missing)}")
    commit = subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, text=True).strip()
    made = f"Made on {datetime.date.today()} at commit {commit}"
    rows = [
        f"| {law} | {what} | {counts[what]:,} |" for what, law in sorted(LAWS.items(), key=lambda x: x[1])
    ]
    return "\n".join(
        [
            BEGIN,
            "| law | tried | how much |",
            "|---|---|---|",
            *rows,
            "",
            f"{made} by `make reliability`, in {took / 3600:.1f} hours.",
            END,
        ]
    )


def main() -> int:
    """Runs the parts and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--schedules", type=int, default=200_000)
    parser.add_argument("--commits", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--reads", type=int, default=10_000)
    parser.add_argument("--fuzz", type=int, default=100_000)
    parser.add_argument("--only", action="append", default=[])
    arguments = parser.parse_args()
    wanted = {k: v for k, v in parts(arguments).items() if not arguments.only or k in arguments.only}
    start = datetime.datetime.now()
    with tempfile.TemporaryDirectory() as folder:
        figures = Path(folder, "figures")
        figures.touch()
        for name, commands in wanted.items():
            for command in commands:
                print(f"=== {name}: {' '.join(command)}", flush=True)
                if subprocess.run(
                    command, cwd=ROOT, env=environment(arguments, figures), check=False
                ).returncode:
                    print(f"{name} failed; {PAGE.name} stays as it is", file=sys.stderr)
                    return 1
        counts = counted(figures)
    if arguments.only:
        print("\n".join(f"{count:>12,}  {what}" for what, count in sorted(counts.items())))
        return 0
    page = PAGE.read_text()
    before, after = page.split(BEGIN)[0], page.split(END)[1]
    PAGE.write_text(before + table(counts, (datetime.datetime.now() - start).total_seconds()) + after)
    return 0


if __name__ == "__main__":
    sys.exit(main())
