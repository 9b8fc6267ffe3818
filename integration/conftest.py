"""Stock Hudi writers, one process a version, beside the session of ``tests``."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from stored import ROOT

from hudiidx.session import writer_jars

HERE = Path(__file__).parent


class StockHudi:
    """A stock Hudi of one version, asked by name: ``stock.write(name="t", ...)``."""

    def __init__(self, version: str, work: Path, memory: str = "2g") -> None:
        jar = ROOT / "build" / "lib" / f"hudi-spark3.5-bundle_2.12-{version}.jar"
        assert jar.exists(), f"{jar}: missing; run `make bundles`"
        jars = ":".join(map(str, (jar, *writer_jars())))
        self.release = version
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


@pytest.fixture(scope="session")
def stock_work() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="hudiidx-stock-") as d:
        yield Path(d)


@pytest.fixture(scope="session")
def stock_0_15(stock_work: Path) -> Iterator[StockHudi]:
    yield from _stock("0.15.0", stock_work)


@pytest.fixture
def fresh_stock_0_15(tmp_path: Path) -> Iterator[StockHudi]:
    """A process of its own: 0.15.0 keeps what it knows of a table's columns beyond that table."""
    yield from _stock("0.15.0", tmp_path)


@pytest.fixture(scope="session")
def stock_1_0(stock_work: Path) -> Iterator[StockHudi]:
    yield from _stock("1.0.2", stock_work)


@pytest.fixture(scope="session")
def stock_1_1(stock_work: Path) -> Iterator[StockHudi]:
    yield from _stock("1.1.1", stock_work)


@pytest.fixture
def large_stock_1_1(tmp_path: Path) -> Iterator[StockHudi]:
    """With memory for file groups of gigabytes, which it rewrites whole."""
    yield from _stock("1.1.1", tmp_path, "9g")


def _stock(version: str, work: Path, memory: str = "2g") -> Iterator[StockHudi]:
    folder = work / version
    folder.mkdir()
    stock = StockHudi(version, folder, memory)
    yield stock
    stock.close()
