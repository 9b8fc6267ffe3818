"""hudiidx and its peers on an S3-compatible store that is a network away: python -m on_store DIR [--rows 5000000] [--rounds 5].

S3Proxy keeps the tables in DIR/store-ROWS; a door before it makes each request wait and counts it (`--delay`, `--tail` of one in 100,
`--bandwidth`). Tables are made at the speed of the local disk. Every system is asked the same by turns, each in a process of its own, and
their answers must be equal. Writes the section of benchmarks/RESULTS.md (`--out`); a run of some systems or operations prints its table alone.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyspark
from bench.__main__ import make_m, make_rows
from bench.data import Data
from bench.engine import Process
from bench.turns import is_whole, one_round, parser_of
from results_page import made, replace_sections

from .s3 import BUCKET, S3Proxy, write_core_site
from .slow_door import FAR, NEAR, Pace, SlowDoor
from .table import OPERATIONS, OURS, SYSTEMS, Figures, rendered

BENCHMARKS = Path(__file__).resolve().parents[1]


class OnStore:
    """The systems at work behind the door. Round 0 warms up, at the speed of the disk, and does not count."""

    def __init__(
        self, data: Data, door: SlowDoor, pace: Pace, plain: str, systems: list[str], wanted: list[str], rounds: int
    ) -> None:
        """``plain`` is the class path of the store's client for a JVM without Spark."""
        self.plain = plain
        self.data, self.door, self.pace, self.wanted, self.rounds = data, door, pace, wanted, rounds
        self.systems = systems
        self.figures = Figures()
        self.processes = {name: Process(name, data) for name in systems}

    def round(self, operation: str, turn: int, *arguments: Any) -> None:
        """Every system once, if the operation is wanted."""

        def ask(name: str) -> dict[str, Any]:
            method = OPERATIONS[operation].method
            return self.measured(operation, turn, name, lambda: self.processes[name].ask(method, *arguments))

        if operation in self.wanted:
            one_round(self.systems, operation, turn, ask)

    def measured(self, operation: str, turn: int, name: str, call: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        self.door.reset()
        self.door.pace = self.pace if turn else NEAR
        try:
            reply = call()
        finally:
            self.door.pace = NEAR
        account = self.door.account()
        if "missing" not in reply:
            print(f"{operation}, round {turn}, {name}: {reply['millis']:,.0f} ms, {account}", file=sys.stderr, flush=True)
            if turn:
                self.figures.add(operation, name, reply["millis"], account)
        return reply

    def fresh(self) -> None:
        for process in self.processes.values():
            process.ask("fresh")

    def run(self, days: list[str]) -> None:
        data = self.data
        few = max(1, self.rounds // 2)
        for turn in range(few + 1):
            for operation in ("create listing", "create"):
                self.fresh()
                self.round(operation, turn)
        if "create" not in self.wanted:
            self.fresh()
            for process in self.processes.values():
                process.ask("bootstrap")
        for turn in range(self.rounds + 1):
            if days:
                self.round("files", turn, days[turn])
                self.round("plan", turn, days[turn])
            self.round("plan range", turn, *data.amounts(turn))
            self.round("locate", turn, *data.keys(turn, 1))
            self.round("point", turn, *data.keys(turn, 1))
            self.shell(turn)
        for turn in range(few + 1):
            self.round("keys", turn, data.keys(turn, 1000))
            self.round("tag", turn, turn)
        self.writes(few)

    def shell(self, turn: int) -> None:
        """The command, each in a process of its own."""
        table = self.data.url("hudiidx")
        first, end = self.data.amounts(turn)
        asked = {
            "shell info": ["info", table],
            "shell lookup": ["lookup", table, *self.data.keys(turn, 1)],
            "shell prune": ["prune", table, f"amount between {first} and {end}"],
        }
        for operation, words in asked.items():
            if operation in self.wanted and OURS in self.systems:
                self.measured(operation, turn, OURS, partial(self.command, words))

    def command(self, words: list[str]) -> dict[str, Any]:
        line = [str(Path(sys.prefix) / "bin" / "hudiidx"), *words, "--json"]
        environment = {**os.environ, "HUDIIDX_CLASSPATH": self.plain}
        began = time.perf_counter()
        subprocess.run(line, check=True, stdout=subprocess.DEVNULL, env=environment)
        return {"millis": (time.perf_counter() - began) * 1000}

    def writes(self, few: int) -> None:
        for turn in range(few + 1):
            self.round("upsert row", turn, 2 * turn, 1)
            self.round("increment", turn)
            self.round("upsert", turn, 2 * turn + 1)
            self.round("update nothing", turn)
            if {"hudi", "hudiidx"} <= set(self.systems) and "update commit" in self.wanted:
                self.processes["hudi"].ask("commit_to", "hudiidx", 1000 + turn)
                self.round("update commit", turn)
        self.round("compact", 1)

    def close(self) -> None:
        for process in self.processes.values():
            process.close()


def class_path(name: str) -> list[Path]:
    file = BENCHMARKS / "target" / f"peer-{name}.txt"
    if not file.exists():
        subprocess.run([str(BENCHMARKS.parent / "build" / "sbt"), "-error", "benchmarks/writePeerClasspaths"], check=True)
    return [Path(jar) for jar in file.read_text().split(os.pathsep)]


def without_sparks_own(jars: list[Path]) -> list[Path]:
    """Those of which Spark has no other release."""
    sparks = {artifact(jar) for jar in Path(pyspark.__file__).with_name("jars").glob("*.jar")}
    return [jar for jar in jars if artifact(jar) not in sparks]


def artifact(jar: Path) -> str:
    return re.sub(r"-\d[^/]*\.jar$", "", jar.name)


def main() -> None:
    parser = parser_of(__doc__, SYSTEMS, OPERATIONS, rounds=5)
    parser.add_argument("--delay", type=float, default=FAR.delay, help="seconds that a request waits")
    parser.add_argument("--tail", type=float, default=FAR.tail, help="seconds that one request in 100 waits")
    parser.add_argument("--bandwidth", type=float, default=FAR.bandwidth, help="bytes a second of a connection")
    args = parser.parse_args()
    store = args.folder.resolve() / f"store-{args.rows}"
    folder = store / BUCKET
    folder.mkdir(parents=True, exist_ok=True)
    proxy = S3Proxy(class_path("s3proxy"), store)
    door = SlowDoor(proxy.port)
    settings = store.with_suffix(".site")
    write_core_site(settings, door.port)
    client = without_sparks_own(class_path("s3"))
    os.environ["HUDIIDX_JARS"] = os.pathsep.join(map(str, [settings, *client]))
    plain = os.pathsep.join(map(str, [settings, *class_path("s3")]))
    data = Data(folder, args.rows, args.batch, place=f"s3a://{BUCKET}")
    pace = Pace(args.delay, args.tail, 100, args.bandwidth)
    wanted = args.operations.split(",")
    start = time.monotonic()
    try:
        make_rows(data)
        has_m = bool({"files", "plan"} & set(wanted))
        if has_m:
            make_m(data)
        bench = OnStore(data, door, pace, plain, args.systems.split(","), wanted, args.rounds)
        try:
            bench.run(data.days() if has_m else [])
        finally:
            bench.close()
    finally:
        door.close()
        proxy.close()
    when = made(f"`benchmarks/store`, {(time.monotonic() - start) / 60:.0f} minutes")
    text = rendered(bench.figures, data, pace, when)
    print(text)
    if is_whole(parser, args):
        replace_sections(args.out, ["## On an object store\n\n" + text])


if __name__ == "__main__":
    main()
