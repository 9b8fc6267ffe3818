"""A stock Hudi of one version in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

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
