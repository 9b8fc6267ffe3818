"""Runs a suite and ends with the line `N passed, N failed`.

Usage: run_tests.py lint | fast | test | all | cluster

    lint     scalafmt, ruff (rules and format), mypy --strict, words of docs/glossary.md, what pages
             name (checks/)
    fast     lint, the Scala suites of core, parquet and engine but for its slowest, Python tests that need
             no Spark session, some on each Spark 4
    test     lint, every Scala suite, the Python tests, stock Hudi live in short form, lines/ on each Spark 4
    all      test, with every fixture and every live case
    cluster  stock Hudi live in short form, our session on executor processes: of a local cluster, then of a
             standalone master with two workers

The closing line adds up ScalaTest's and pytest's own reports; a failed check counts as one failure, and so
does a run that ended without a report. The lines before it name what failed. The exit code is 0 only if
something passed and nothing failed.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import reports
import short_jvm
import spark_lines
from figures import figure

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / ".venv" / "bin"
REPORTS = ROOT / "build" / "test-reports"
PYTHON = ["python", "tests", "integration", "lines", "checks", "examples", "scripts", "conftest.py"]
SCALA_REPORTS = "jvm/*/target/test-reports"
IN_HALVES = ["-n", "2", "--dist", "loadfile"]
CLUSTERS = {"a local cluster": "local-cluster[2,1,2048]", "a standalone cluster": "standalone"}

LINT = {
    "ruff": [str(BIN / "ruff"), "check", *PYTHON],
    "ruff format": [str(BIN / "ruff"), "format", "--check", *PYTHON],
    "mypy": [str(BIN / "mypy"), "--config-file=python/pyproject.toml", "python/hudiidx"],
    "words": [str(BIN / "python"), "scripts/check_words.py"],
    "pages": [str(BIN / "python"), "-m", "pytest", "-q", "--noconftest", "checks"],
}
SCALAFMT = {"scalafmt": ["build/sbt", "scalafmtCheckAll"]}
# Of the engine all but what waits for stores, and walks through many orders of steps.
SLOW_ENGINE = (
    "LateFilesSuite",
    "LateWriteSuite",
    "LeaseModelSuite",
    "FaultyStoreSuite",
    "S3CallsSuite",
    "ThrottledStoreSuite",
    "NameNodeCallsSuite",
)
FAST_ENGINE = " ".join(["engine/testOnly", "*", *(f"-*{suite}" for suite in SLOW_ENGINE)])
# What no test runs, but a change may break.
COMPILED = ["benchmarks/compile", "jmh/compile"]
# What shell scripts of Spark give to the JVMs that tests start.
SHORT_LIVES = " ".join(short_jvm.FLAGS)
BRIEFLY = {"SPARK_SUBMIT_OPTS": SHORT_LIVES, "SPARK_LAUNCHER_OPTS": SHORT_LIVES}
# A file system in memory, and the room that a suite needs there and leaves to its processes.
MEMORY = Path("/dev/shm")
ROOM_BYTES = 8 << 30


@dataclass(frozen=True)
class Counts:
    """How many tests passed, and the names of those that failed, each with the first line of why."""

    passed: int = 0
    failed: tuple[str, ...] = ()

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.passed + other.passed, self.failed + other.failed)


def run(title: str, command: list[str]) -> bool:
    """Runs a command with its output passed on; true when it ended with 0."""
    print(f"\n=== {title}: {' '.join(command)}", flush=True)
    start = time.monotonic()
    ok = subprocess.run(command, cwd=ROOT, env={**os.environ, **BRIEFLY}, check=False).returncode == 0
    print(f"=== {title}: {'ok' if ok else 'FAILED'} in {time.monotonic() - start:.0f} s", flush=True)
    return ok


@contextmanager
def scratch() -> Iterator[None]:
    """Temporary files in memory where there is room: who writes tables on a disk waits for its fsync."""
    if (
        not MEMORY.is_dir()
        or shutil.disk_usage(MEMORY).free < ROOM_BYTES
        or available_bytes() < 2 * ROOM_BYTES
    ):
        yield
        return
    before = dict(os.environ), dict(BRIEFLY)
    with tempfile.TemporaryDirectory(prefix="hudiidx-", dir=MEMORY, ignore_cleanup_errors=True) as folder:
        os.environ["TMPDIR"] = folder
        BRIEFLY["SPARK_SUBMIT_OPTS"] += f" -Djava.io.tmpdir={folder}"
        try:
            yield
        finally:
            environment, options = before
            os.environ.clear()
            os.environ.update(environment)
            BRIEFLY.update(options)


def available_bytes() -> int:
    """Memory that processes may still take; 0 where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))


def shared_classes() -> str:
    """Options by which JVMs of sessions map the classes of one that ended: half the work of a short command.

    A JVM with another class path, or without the archive, loads its classes by itself, and says nothing.
    """
    archive = ROOT / "build" / "sessions.jsa"
    archive.unlink(missing_ok=True)
    options = f"{BRIEFLY['SPARK_SUBMIT_OPTS']} -XX:ArchiveClassesAtExit={archive} -Xlog:disable"
    env = {**os.environ, "SPARK_SUBMIT_OPTS": options}
    example = [str(BIN / "python"), "examples/quickstart.py"]
    # Its JVM writes the archive when Python has ended already, and holds the pipes until then.
    subprocess.run(example, cwd=ROOT, env=env, capture_output=True, check=False)
    return f"-XX:SharedArchiveFile={archive} -Xlog:disable"


def lint(checks: dict[str, list[str]]) -> Counts:
    """The checks of form, two at a time. They count when they fail only: the closing line counts tests."""
    with ThreadPoolExecutor(2) as two:
        passed = list(two.map(run, checks.keys(), checks.values()))
    return Counts(failed=tuple(name for name, ok in zip(checks, passed, strict=True) if not ok))


def read_reports(files: list[Path]) -> Counts:
    """Adds up JUnit reports. Errors are failures; a skipped test is neither.

    A suite that failed outside its tests has a count of errors without a test that bears them.
    """
    total = Counts()
    for file in files:
        for suite in reports.read(file).iter("testsuite"):
            n = {k: int(suite.get(k) or 0) for k in ("tests", "failures", "errors", "skipped")}
            named = [failure(case) for case in suite.iter("testcase") if reports.is_failed(case)]
            passed = n["tests"] - len(named) - n["skipped"]
            named += [f"{suite.get('name')} (outside its tests)"] * (n["failures"] + n["errors"] - len(named))
            total += Counts(passed, tuple(named))
    return total


def failure(case: ElementTree.Element) -> str:
    """A failed test's name and the first line of its message."""
    why = case.find("failure")
    why = case.find("error") if why is None else why
    message = (why.get("message") or why.text or "").strip() if why is not None else ""
    return (
        f"{case.get('classname')} {case.get('name')}: {message.splitlines()[0] if message else 'no message'}"
    )


def scala(tasks: list[str]) -> Counts:
    """Runs sbt tasks, of tests and of form, and counts from the reports that sbt writes."""
    for old in ROOT.glob(SCALA_REPORTS + "/*.xml"):
        old.unlink()
    ok = run("Scala tests", ["build/sbt", *tasks])
    return checked("Scala tests", read_reports(sorted(ROOT.glob(SCALA_REPORTS + "/*.xml"))), ok)


def pytest(
    title: str, arguments: list[str], lanes: list[str] = IN_HALVES, python: Path = BIN / "python"
) -> Counts:
    """Runs pytest, two files at a time unless told otherwise, and counts from its report.

    Each of the two has a Spark session and stock Hudis of its own. What took longest is told at the end.
    """
    REPORTS.mkdir(parents=True, exist_ok=True)
    report = REPORTS / f"{title.replace(' ', '-')}.xml"
    report.unlink(missing_ok=True)
    told = ["-q", "--durations=30", "--durations-min=10", f"--junitxml={report}"]
    ok = run(title, [str(python), "-m", "pytest", *told, *lanes, *arguments])
    return checked(title, read_reports([report] if report.exists() else []), ok)


def on_spark_4(*which: str) -> Counts:
    """The tests of each Spark 4, or ``which`` of them, in its own environment; two lines at a time."""

    def tested(line: str) -> Counts:
        return pytest(f"Spark {line}", [*which, "lines"], lanes=[], python=spark_lines.python_of(line))

    with ThreadPoolExecutor(2) as two:
        return sum(two.map(tested, spark_lines.others()), Counts())


def checked(title: str, counts: Counts, ok: bool) -> Counts:
    """A run that failed without a failed test (form, compilation, it died) is one failure."""
    return (
        counts if ok or counts.failed else counts + Counts(failed=(f"{title}: ended without a failed test",))
    )


def main(suite: str) -> int:
    """Runs the suite and prints the closing line."""
    counts = Counts() if suite == "cluster" else lint(LINT if suite != "lint" else {**SCALAFMT, **LINT})
    if suite == "fast":
        counts += scala(["core/test", "parquet/test", FAST_ENGINE, *COMPILED, "scalafmtCheckAll"]) + pytest(
            "Python tests", ["-m", "not spark and not slow", "tests"]
        )
        counts += on_spark_4("-m", "smoke")
    elif suite in ("test", "all"):
        which = [] if suite == "all" else ["-m", "not slow"]
        if suite == "all":
            os.environ["HUDIIDX_TEST_EVERY_BYTE"] = "1"  # DamagedLogSuite: not a sample
            os.environ["HUDIIDX_TEST_ALL_FIXTURES"] = "1"
        counts += scala(["test", *COMPILED, "scalafmtCheckAll"])
        BRIEFLY["SPARK_SUBMIT_OPTS"] += f" {shared_classes()}"
        # In this order, files that take long are the first: both lanes end at about the same time.
        counts += pytest("Python tests", [*which, "--no-loadscope-reorder", "integration", "tests"])
        counts += on_spark_4()
    elif suite == "cluster":
        for name, master in CLUSTERS.items():
            os.environ["HUDIIDX_TEST_MASTER"] = master
            counts += pytest(f"on {name}", ["-m", "not slow", "integration"], lanes=[])
        figure("tests beside stock Hudi with our session on executors that are processes", counts.passed)
    elif suite != "lint":
        print(__doc__)
        return 2
    nothing = suite != "lint" and counts.passed == 0
    print(*["", *(f"failed: {name}" for name in counts.failed)], sep="\n")
    print(f"{counts.passed} passed, {len(counts.failed)} failed", flush=True)
    return 1 if counts.failed or nothing else 0


if __name__ == "__main__":
    with scratch():
        code = main(sys.argv[1] if len(sys.argv) > 1 else "")
    sys.exit(code)
