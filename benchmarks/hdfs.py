"""The table of `benchmarks/hdfs`: hdfs.py FIGURES."""

from __future__ import annotations

import json
import sys

STORES = ["local disk", "HDFS", "NameNode"]


def main(figures: str) -> None:
    cells: dict[tuple[str, str, str], dict[str, str]] = {}
    with open(figures) as lines:
        for f in map(json.loads, lines):
            cells.setdefault((f["table"], f["what"], f["state"]), {})[f["system"]] = f"{f['value']:.3g} ({f['best']:.3g})"
    print("| ms | " + " | ".join(STORES) + " |\n|---|" + "--:|" * len(STORES))
    for (table, what, state), row in cells.items():
        print(f"| {table}: {what}, {state} | " + " | ".join(row.get(s, "") for s in STORES) + " |")


if __name__ == "__main__":
    main(sys.argv[1])
