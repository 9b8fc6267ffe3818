"""The stock Hudis that the live tests run against, and one of them in a process of its own."""

import json
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyspark
import pytest

from hudiidx.session import writer_jars

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Release:
    """A release of stock Hudi, and the version of the tables that it makes."""

    number: str
    table_version: int

    @property
    def jar(self) -> Path:
        return HERE.parent / "build" / "lib" / f"hudi-spark3.5-bundle_2.12-{self.number}.jar"

    def printed_by(self, program: str, *arguments: str) -> list[str]:
        """Lines that a Java program of this folder prints, with the release and Spark on its class path."""
        jars = Path(pyspark.__file__).parent / "jars" / "*"
        done = subprocess.run(
            ["java", "-cp", f"{self.jar}:{jars}", str(HERE / program), *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()


# By the fixture of conftest.py that gives a session of it: `make test` runs the first and the last, which a
# test names by OLDEST and NEWEST, and `make test-all` every one.
RELEASES = {
    "stock_0_15": Release("0.15.0", 6),
    "stock_1_0": Release("1.0.2", 8),
    "stock_1_1": Release("1.1.1", 9),
    "stock_1_2": Release("1.2.0", 9),
}
OLDEST, *_, NEWEST = RELEASES
OF_VERSION_9 = tuple(name for name, release in RELEASES.items() if release.table_version == 9)


def each(of: Iterable[str] = RELEASES, short: Iterable[str] = (NEWEST,)) -> list[Any]:
    """Releases to run a test against, those of the short form without the mark ``slow``."""
    return [pytest.param(name, id=name, marks=() if name in short else pytest.mark.slow) for name in of]


class StockHudi:
    """A stock Hudi of one version, asked by name: ``stock.write(name="t", ...)``."""

    def __init__(self, release: Release, work: Path, memory: str = "2g") -> None:
        assert release.jar.exists(), f"{release.jar}: missing; run `make bundles`"
        jars = ":".join(map(str, (release.jar, *writer_jars())))
        self.release = version = release.number
        self._log = work / "stock.log"
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, str(HERE / "stock_worker.py"), version, jars, str(work), memory],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=work,
            )
        self._answer()

    def __getattr__(self, op: str) -> Any:
        if op.startswith("_"):  # what printers of objects look for
            raise AttributeError(op)

        def ask(**arguments: Any) -> Any:
            assert self._process.stdin
            self._process.stdin.write(json.dumps({"op": op, **arguments}) + "\n")
            self._process.stdin.flush()
            return self._answer()

        return ask

    def _answer(self) -> Any:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"stock Hudi {self.release} died: {self._log.read_text()[-3000:]}")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(f"stock Hudi {self.release}: {answer['error']}")
        return answer["ok"]

    def close(self) -> None:
        """Ends the process."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(60)
