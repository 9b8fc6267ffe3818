"""All systems by turns: python -m bench DIR [--rows 5000000] [--batch 100000] [--rounds 7] [--systems hudiidx,hudi,...].

Makes what is missing in DIR (rows as plain Parquet and as a Hudi table, RFC-15's table M), asks every system the same by turns, holds
their answers against each other, writes figures to DIR/results and the table to benchmarks/RESULTS.md (`--out`). A run of some systems or
operations prints its table alone.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from results_page import made

from .data import Data
from .engine import LIB, Process
from .planned import BENCHMARKS, register_with_iceberg, write_list
from .systems import NAMES
from .table import Figures, rendered, write, write_kept
from .turns import is_whole, one_round, parser_of
from .versions import HUDI


class Bench:
    """The systems at work; `figures` has the milliseconds of each operation and system, in the order of the rounds."""

    def __init__(self, data: Data, systems: list[str], rounds: int) -> None:
        self.data, self.systems, self.rounds = data, systems, rounds
        self.figures = Figures()
        self.processes = {name: Process(name, data) for name in systems}

    def by_turns(self, operation: str, rounds: int, arguments: Callable[[int], list[Any]]) -> None:
        """Every system so many times, and once more before that to warm up."""
        for turn in range(rounds + 1):
            self.round(operation, turn, arguments(turn))

    def round(self, operation: str, turn: int, arguments: list[Any]) -> None:
        """Every system once. Round 0 does not count."""

        def ask(name: str) -> dict[str, Any]:
            reply = self.processes[name].ask(operation, *arguments)
            if "missing" in reply:
                self.figures.missing(operation, name, reply["missing"])
            else:
                if turn > 0:
                    self.figures.add(operation, name, reply["millis"])
                print(f"{operation}, round {turn}, {name}: {reply['millis']:,.0f} ms", file=sys.stderr, flush=True)
            return reply

        one_round(self.systems, operation, turn, ask)

    def bootstrap(self, rounds: int) -> None:
        """By turns as all else, on new copies of the data files."""
        for turn in range(rounds + 1):
            for name in self.systems:
                self.processes[name].ask("fresh")
            self.round("bootstrap", turn, [])
        for name in self.systems:
            size = self.processes[name].ask("bytes")
            if "answer" in size:
                self.figures.add("bytes", name, size["answer"])

    def run(self, days: list[str], wanted: list[str]) -> None:
        data, few = self.data, max(1, self.rounds // 2)
        self.bootstrap(few)
        asked: dict[str, tuple[int, Callable[[int], list[Any]]]] = {
            "files": (self.rounds, lambda i: [days[i]]),
            "plan": (self.rounds, lambda i: [days[i]]),
            "selective": (self.rounds, lambda i: list(data.amounts(i))),
            "point": (self.rounds, lambda i: data.keys(i, 1)),
            "keys": (few, lambda i: [data.keys(i, 1000)]),
            "tag": (few, lambda i: [i]),
        }
        for operation, (rounds, arguments) in asked.items():
            if operation in wanted:
                self.by_turns(operation, rounds, arguments)
        if "upsert" in wanted:
            for salt in range(few + 1):
                self.round("upsert", salt, [salt])
                self.round("increment", salt, [])
            self.by_turns("read", few, lambda i: [])

    def close(self) -> None:
        for process in self.processes.values():
            process.close()


def make(data: Data) -> None:
    """What all runs share; minutes the first time."""
    make_rows(data)
    make_m(data)


def make_rows(data: Data) -> None:
    """The rows as plain Parquet and as a Hudi table."""
    data.folder.mkdir(parents=True, exist_ok=True)
    classes = BENCHMARKS / "target" / "bench-classes"
    classes.mkdir(parents=True, exist_ok=True)
    pyspark = Path(sys.prefix).glob("lib/python*/site-packages/pyspark/jars")
    class_path = f"{LIB / f'hudi-spark3.5-bundle_2.12-{HUDI}.jar'}:{next(pyspark)}/*"
    source = BENCHMARKS / "peers" / "StockCalls.java"
    subprocess.run(["javac", "-nowarn", "-d", str(classes), "-cp", class_path, str(source)], check=True)
    for name in ("parquet", "hudi"):
        once(data.folder / f"{name}.done", lambda name=name: one_call(name, data, "make_base"))


def make_m(data: Data) -> None:
    """M, with the metadata of each system."""
    if not data.m.exists():
        run = [str(BENCHMARKS / "run"), "-Xmx3g", "GenerateTables", "--dir", str(data.folder), data.m.name]
        subprocess.run(run, check=True)
    facts, out, listed = (data.folder / name for name in ("M.json", "M-create.jsonl", "M-files.tsv"))
    stock = [str(BENCHMARKS / "peer"), "hudi", "-Xmx3g", "StockHudi", "create", data.url("M"), str(facts), str(out)]
    once(data.folder / "M-metadata.done", lambda: subprocess.run(stock, check=True))
    once(listed, lambda: write_list(data.m, listed))
    once(data.folder / "M-iceberg.done", lambda: register_with_iceberg(listed, data))
    once(data.folder / "M-delta.done", lambda: one_call("delta", data, "make_log_of_m"))
    once(data.folder / "M-hudiidx.done", lambda: one_call("hudiidx", data, "make_index_of_m"))


def one_call(name: str, data: Data, operation: str) -> None:
    process = Process(name, data)
    process.ask(operation)
    process.close()


def once(mark: Path, call: Callable[[], Any]) -> None:
    if not mark.exists():
        call()
        mark.touch()


def main() -> None:
    operations = ["files", "plan", "selective", "point", "keys", "tag", "upsert"]
    parser = parser_of(__doc__, NAMES, operations, rounds=7)
    parser.add_argument("--page-only", action="store_true", help="writes the section anew from the figures of the last run")
    args = parser.parse_args()
    data = Data(args.folder.resolve() / f"bench-{args.rows}", args.rows, args.batch)
    if args.page_only:
        write_kept(data, args.out)
        return
    start = time.monotonic()
    make(data)
    bench = Bench(data, args.systems.split(","), args.rounds)
    try:
        bench.run(data.days(), args.operations.split(","))
    finally:
        bench.close()
    when = made(f"`make bench`, {(time.monotonic() - start) / 60:.0f} minutes")
    if is_whole(parser, args):
        write(bench.figures, data, args.out, when)
    else:
        print(rendered(bench.figures, data, when))


if __name__ == "__main__":
    main()
