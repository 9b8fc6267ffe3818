"""Plants the bugs of integration/seeded-bugs, one after the other: the test that each names must fail.

Usage: seeded_bugs.py [PATCH...]

A patch says above its lines which law it breaks, what is wrong then, and the module, suite and test that
must notice; `Form: long` where only the long form of that test tries each case. The work is done in a copy of
the committed tree. Exit code 1 if a bug passes.
"""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import reports
from figures import figure

ROOT = Path(__file__).resolve().parent.parent
BUGS = ROOT / "integration" / "seeded-bugs"
FIELDS = ("Law", "Bug", "Module", "Suite", "Test")
# Of a test, the long form too, on a busy machine: with a bug it may not end by itself.
LONGEST_SECONDS = 1800


@dataclass
class Bug:
    """A patch and what must notice it. ``test`` is a part of the test's name."""

    patch: Path
    law: str
    bug: str
    module: str
    suite: str
    test: str
    is_long: bool

    @classmethod
    def read(cls, patch: Path) -> "Bug":
        """ValueError, with the file's name, if one of the lines above the patch is missing."""
        head = patch.read_text().split("diff --git")[0]
        told = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
        missing = [f for f in FIELDS if f not in told]
        if missing:
            raise ValueError(f"{patch}: no line {', '.join(missing)}")
        return cls(patch, *(told[f] for f in FIELDS), told.get("Form") == "long")


def all_bugs() -> list[Bug]:
    """In the order of their numbers."""
    return [Bug.read(p) for p in sorted(BUGS.glob("*.patch"))]


class Sbt:
    """The build of a tree, which runs one task after the other; ``is_long``: tests in their long form.

    To start it for each bug would take longer than most tests.
    """

    def __init__(self, tree: Path, is_long: bool) -> None:
        self.tree = tree
        self.environment = {**os.environ, **({"HUDIIDX_TEST_EVERY_BYTE": "1"} if is_long else {})}
        self.process = self._started()

    def _started(self) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            ["build/sbt"],
            cwd=self.tree,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, task: str) -> str:
        """What it printed; a task that has ended says how long it took. One that does not end is killed."""
        if self.process.poll() is not None:
            self.process = self._started()
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(f"{task}\n")
        self.process.stdin.flush()
        printed = []
        end = threading.Timer(LONGEST_SECONDS, os.killpg, (self.process.pid, signal.SIGKILL))
        end.start()
        try:
            for line in self.process.stdout:
                printed.append(line)
                if "] Total time: " in line:
                    return "".join(printed)
        finally:
            end.cancel()
        self.process.wait()  # ScalaTest ends the build where it cannot read with what a test failed
        return "".join(printed)

    def close(self) -> None:
        """Ends it, and waits until it has."""
        if self.process.poll() is None:
            self.process.communicate("exit\n")


def is_caught(bug: Bug, tree: Path, sbt: Sbt) -> str:
    """Empty if the test fails with the bug; else what happened instead."""
    for old in tree.glob("jvm/*/target/test-reports/*.xml"):
        old.unlink()
    subprocess.run(["git", "apply", str(bug.patch)], cwd=tree, check=True)
    try:
        task = f'{bug.module}/testOnly {bug.suite} -- -z "{bug.test}"'
        printed = sbt.run(task)
        cases = [
            case
            for report in tree.glob("jvm/*/target/test-reports/*.xml")
            for case in reports.read(report).iter("testcase")
            if bug.test in (case.get("name") or "")
        ]
        said = any(bug.test in line and "*** FAILED ***" in line for line in printed.splitlines())
        if said or any(reports.is_failed(case) for case in cases):
            return ""
        return "the test passed" if cases else f"no such test ran:\n{printed[-2000:]}"
    finally:
        subprocess.run(["git", "apply", "--reverse", str(bug.patch)], cwd=tree, check=True)


def planted(bugs: list[Bug], tree: Path, is_long: bool) -> int:
    """Prints a line for each bug; how many passed."""
    if not bugs:
        return 0
    passed = 0
    sbt = Sbt(tree, is_long)
    try:
        for bug in bugs:
            start = time.monotonic()
            why = is_caught(bug, tree, sbt)
            passed += why != ""
            took = f"{time.monotonic() - start:.0f} s"
            print(f"{bug.patch.stem} ({bug.law}): {why or f'caught by {bug.suite}'}, {took}", flush=True)
    finally:
        sbt.close()
    return passed


def main(names: list[str]) -> int:
    """Prints a line for each bug."""
    passed = 0
    bugs = [b for b in all_bugs() if not names or any(n in b.patch.name for n in names)]
    with tempfile.TemporaryDirectory(prefix="hudiidx-bugs-") as folder:
        tree = Path(folder) / "tree"
        subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(tree)], check=True)
        for is_long in (False, True):
            passed += planted([b for b in bugs if b.is_long == is_long], tree, is_long)
    print(f"{len(bugs) - passed} of {len(bugs)} bugs caught")
    figure("bugs planted, caught by the tests that they name", len(bugs) - passed)
    return 1 if passed or not bugs else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
