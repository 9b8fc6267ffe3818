"""Turns the figures of a run into sections of benchmarks/RESULTS.md: results.py RESULTS_DIR... --command "..." [--out FILE].

Each RESULTS_DIR holds *.jsonl (one figure a line) and <shape>.json (facts of the generated tables).
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import pathlib
import platform
import subprocess
from typing import Any

from record_results import record_section, table as rows
from results_page import PAGE, replace_sections

Figure = dict[str, Any]
Key = tuple[str, str, str, str]

CALLS = [
    ("partitions", "table"),
    ("files", "average"),
    ("all base files", "average"),
    ("file groups", "average"),
    ("file slices", "average"),
    ("latest base files", "average"),
    ("latest file slices", "average"),
    ("latest uncompacted slices", "average"),
    ("latest merged slices", "average"),
]

# RFC-15, "metadata perf": milliseconds of plain listing and of its prototype, in the order of CALLS.
RFC15: dict[str, tuple[list[float | None], list[float | None]]] = {
    "C": ([7798, 6.4, 1, 102, 277, 11, 2, 1, None], [0.2, 0.1, 1, 1, 39, 3, 2, 2, None]),
    "M": ([135839, 146, 75, 36, 23, 100, 65, 26, None], [11.3, 0.5, 193, 140, 82, 187, 106, 109, None]),
    "E": ([602342, 17.2, 207, 247, 287, 1086, 927, 496, None], [2.9, 267.6, 1394, 2021, 626, 2519, 3701, 3214, None]),
}
# RFC-15's estimate for 2 million files in 2,000 partitions: manifest and partition index, with zstd.
RFC15_ESTIMATED_BYTES = {"S": 60_000_000}
RFC15_BYTES_A_FILE = {"C": 51190 / 1050, "M": 9413438 / 283675, "E": 97654024 / 2275402}

LISTING = "Hudi 1.1.1 listing"
METADATA = "Hudi 1.1.1 metadata table"
ICEBERG = "Iceberg 1.10.0, as appended"
ICEBERG_BY_MONTH = "Iceberg 1.10.0, manifests rewritten by month"
OURS = "hudiidx"
HFILE_READERS = (OURS, "HBase 2.5.10", "HBase 2.5.10, unchecked", "hudi-io 1.1.1")


class Results:
    def __init__(self, folders: list[pathlib.Path]) -> None:
        self.figures: dict[tuple[str, str, Key], Figure] = {}
        for file in [f for folder in folders for f in sorted(folder.glob("*.jsonl"))]:
            for line in file.read_text().splitlines():
                f = json.loads(line)
                key = (f["what"], f["where"], f["state"], f["unit"])
                self.figures[(f["table"], f["system"], key)] = f
        self.facts = {p.stem: json.loads(p.read_text()) for folder in folders for p in folder.glob("*.json")}

    def value(self, table: str, system: str, what: str, where: str, state: str, unit: str = "ms") -> float | None:
        f = self.figures.get((table, system, (what, where, state, unit)))
        return None if f is None else float(f["value"])

    def cell(self, table: str, system: str, what: str, where: str, state: str) -> str:
        """Milliseconds: the median, and in brackets the best where there was more than one try."""
        f = self.figures.get((table, system, (what, where, state, "ms")))
        if f is None:
            return ""
        text = show(float(f["value"]))
        return text if f["repeats"] == 1 else f"{text} ({show(float(f.get('best', f['value'])))})"

    def tables(self) -> list[str]:
        found = {table for table, _, _ in self.figures}
        return [t for t in ["C", "M", "E", "S"] if t in found]


def show(value: float | None) -> str:
    """Milliseconds for a table cell; blank where nothing was measured."""
    if value is None:
        return ""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"


def files_of(facts: Figure, where: str) -> int | None:
    if where == "table":
        return None
    return int(facts[f"{where}_partitions"][0]["files"])


def calls(results: Results, table: str, facts: Figure) -> str:
    """Warm calls: one row a call and partition size."""
    body = []
    existing, prototype = RFC15.get(table, ([None] * len(CALLS), [None] * len(CALLS)))
    for i, (what, where) in enumerate(CALLS):
        for place in [where, "largest"] if where == "average" else [where]:
            entries = files_of(facts, place)
            rfc = [show(existing[i]), show(prototype[i])] if place == where else ["", ""]
            bar = "" if entries is None else show(0.1 + entries / 1000)
            ours = results.cell(table, OURS, what, place, "warm")
            peers = [results.cell(table, s, what, place, "warm") for s in (LISTING, METADATA)]
            size = "" if entries is None else f" ({place}: {entries:,} files)"
            body.append([what + size, *rfc, *peers, bar, f"**{ours}**" if ours else ""])
    head = ["warm, ms", "RFC-15 listing", "RFC-15 prototype", LISTING, METADATA, "bar", OURS]
    return rows(head, body)


def cold(results: Results, table: str) -> str:
    systems = [LISTING, METADATA, ICEBERG, ICEBERG_BY_MONTH, OURS]
    body = []
    for what, where, state in [
        ("partitions", "table", "first in JVM"),
        ("partitions", "table", "cold"),
        ("files", "average", "first in JVM"),
        ("files", "average", "cold"),
        ("files", "largest", "cold"),
    ]:
        name = f"{what}, {state}" if where == "table" else f"{what} ({where} partition), {state}"
        body.append([name, *[results.cell(table, s, what, where, state) for s in systems]])
    all_files = [results.cell(table, s, "all files", "table", "cold") for s in systems[:-1]]
    body.append(["all files of the table", *all_files, results.cell(table, OURS, "all files", "table", "warm")])
    body.append(["update, 100 files", *[results.cell(table, s, "update 100 files", "table", "") for s in systems]])
    for what, where in [("partitions, cold", "table"), ("files, cold", "average"), ("all files", "table")]:
        ours = results.cell(table, OURS, what, where, "processor time")
        body.append([f"{what} ({where}), processor time", *[""] * (len(systems) - 1), ours])
    made = [show(results.value(table, s, "create", "table", "")) for s in systems[:-1]]
    body.append(["create", *made, ways(results, table, ("listing", "metadata", "timeline"))])
    through_spark = ways(results, table, ("listing, Spark", "metadata, Spark"))
    if through_spark:
        body.append(["create, Spark local[2]", *[""] * len(made), through_spark])
    for state in ("first in session", "ours", "load() in all", "where() to physical plan in all"):
        cell = results.cell(table, OURS, "planning, one partition", "table", state)
        if cell:
            body.append([f"Spark planning, one partition: {state}", *[""] * len(made), cell])
    return rows(["cold, ms", *systems], body)


def ways(results: Results, table: str, sources: tuple[str, ...]) -> str:
    """Times of `create` by where the files came from, with the ratio to stock Hudi's creation of its metadata table."""
    stock = results.value(table, METADATA, "create", "table", "")
    cells = []
    for source in sources:
        taken = results.value(table, OURS, f"create from {source}", "table", "")
        if taken is not None:
            ratio = "" if stock is None else f" (Hudi's metadata table: {stock / taken:.0f} x)"
            cells.append(f"{show(taken)} from {source.removesuffix(', Spark')}{ratio}")
    return "; ".join(cells)


def sizes(results: Results, table: str, facts: Figure) -> str:
    body = []
    if table in RFC15_BYTES_A_FILE:
        body.append(["RFC-15 prototype (no sizes, no instants)", "", f"{RFC15_BYTES_A_FILE[table]:.1f}"])
    if table in RFC15_ESTIMATED_BYTES:
        total = RFC15_ESTIMATED_BYTES[table]
        body.append(["RFC-15's estimate (zstd; no sizes, no instants)", f"{total:,}", f"{total / facts['files']:.1f}"])
    for system in (METADATA, ICEBERG, ICEBERG_BY_MONTH, OURS):
        total = results.value(table, system, "bytes", "table", "", "bytes")
        if total is not None:
            body.append([system, f"{total:,.0f}", f"{total / facts['files']:.1f}"])
    for (t, system, (what, _, _, _)), figure in results.figures.items():
        if t == table and system == OURS and what.startswith("bytes, "):
            body.append([f"{OURS}: {what[7:]}", f"{figure['value']:,.0f}", f"{figure['value'] / facts['files']:.1f}"])
    return rows(["index", "bytes", "bytes a file"], body)


def hfile(results: Results) -> str:
    body = []
    for codec in ("none", "gzip", "zstd"):
        for what in ("open", "scan", "get", "1000 sorted gets", "10000 sorted gets"):
            row = [results.cell(f"HFile {codec}", s, what, "table", "warm") for s in HFILE_READERS]
            if any(row):
                body.append([f"{codec}, {what}", *row])
    return "" if not body else rows(["1,000,000 cells, ms", *HFILE_READERS], body)


def machine(command: str) -> str:
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    java = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False).stderr.splitlines()[0]
    load = os.getloadavg()
    return (
        f"Made on {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC at commit {commit}: {os.cpu_count()} cores, "
        f"{platform.system()} {platform.machine()}, {java}; load average over the last 15 minutes {load[2]:.1f}.\n"
        f"Spark 3.5.9, Hudi 1.1.1, Iceberg 1.10.0, HBase 2.5.10; local disk. Command:\n\n    {command}\n"
    )


def table_text(results: Results, table: str) -> str:
    facts = results.facts[table]
    average, largest = facts["average_partitions"][0]["files"], facts["largest_partitions"][0]["files"]
    title = (
        f"## {table}: {facts['files']:,} files, {facts['partitions']:,} partitions\n\n"
        f"Average partition {average:,} files, largest {largest:,}; {facts['instants']} commits."
    )
    return "\n\n".join([title, calls(results, table, facts), cold(results, table), sizes(results, table, facts)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=pathlib.Path, nargs="+")
    parser.add_argument("--command", required=True)
    parser.add_argument("--note", default="", help="a paragraph that says what was special about this run")
    parser.add_argument("--out", type=pathlib.Path, default=PAGE)
    args = parser.parse_args()
    results = Results(args.folders)
    intro = (
        "Warm: files open, blocks cached within 64 MiB, another partition each call. Times are medians, in brackets the best; with\n"
        "a high load average the best is nearer to what an idle machine shows. Stock Hudi's view calls are timed on partitions that\n"
        "its view has not loaded yet. Bar: 0.1 ms plus 1 microsecond an entry. Cold: new objects in a warm JVM, opening the table\n"
        "included. RFC-15's timings of M were taken on 283,675 files. hudiidx ran with a heap of 1 GiB, peers with 3 GiB."
    )
    if args.note:
        intro += "\n\n" + args.note
    parts = [f"## Tables of RFC-15 and keys: how they were made\n\n{machine(args.command)}\n{intro}"]
    parts += [table_text(results, t) for t in results.tables() if t in results.facts]
    parts += [section for section in [record_section(results)] if section]
    if readers := hfile(results):
        text = "UUID keys, values of 20 bytes, blocks of 64 KiB; files open, in the page cache, no block kept."
        parts.append(f"## HFile readers\n\n{text}\n\n{readers}")
    replace_sections(args.out, parts)


if __name__ == "__main__":
    main()
