"""A stock Hudi in a process of its own: one bundle a JVM. Takes JSON requests on stdin, one a line.

Usage: stock_worker.py <hudi version> <jars> <work folder>; jars separated by colons, the bundle first
Each request is {"op": name, ...arguments}; each answer is {"ok": value} or {"error": text}.
"""

import json
import os
import re
import sys
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "fixtures" / "make"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

from stock_reads import StockReads
from stock_services import StockServices
from stock_writes import StockWrites


class Stock(StockWrites, StockServices, StockReads):
    """All requests, over one session."""


def main() -> None:
    """Answers requests until stdin ends."""
    version, jars, work, memory = sys.argv[1:5]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what Spark and Hive print goes to stderr
    stock = Stock(version, jars, work, memory)
    print(json.dumps({"ok": version}), file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"ok": getattr(stock, "op_" + request.pop("op"))(**request)}
        except Exception:
            told = traceback.format_exc()
            causes = "\n".join(line for line in told.splitlines() if re.match(r"(Caused by)?: ", line))
            answer = {"error": f"{told[-3000:]}\n{causes[:1500]}"}
        print(json.dumps(answer), file=answers, flush=True)
    stock.spark.stop()


if __name__ == "__main__":
    main()
