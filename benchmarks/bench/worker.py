"""One system in a process of its own: a line of JSON for each question and for each reply."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from . import systems
from .data import Data
from .engine import Engine, Missing


def answer(engine: Engine, operation: str, arguments: list[Any]) -> dict[str, Any]:
    started = time.perf_counter()
    try:
        found = getattr(engine, operation)(*arguments)
    except Missing as missing:
        return {"missing": str(missing)}
    except Exception as failed:
        return {"error": f"{type(failed).__name__}: {failed}"[:3000]}
    return {"millis": (time.perf_counter() - started) * 1000, "answer": found}


def main(name: str, folder: str, rows: str, batch: str, place: str) -> None:
    engine = systems.engine(name, Data(Path(folder), int(rows), int(batch), place=place))
    for line in sys.stdin:
        operation, *arguments = json.loads(line)
        print(json.dumps(answer(engine, operation, arguments)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
