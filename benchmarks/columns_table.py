"""One table of the figures of `benchmarks/columns`: columns_table.py FIGURES.jsonl."""

from __future__ import annotations

import json
import pathlib
import sys

# RFC-27, "Hfile vs Parquet Comparison for Range index": HFile, Parquet, Parquet through Spark SQL.
RFC27 = {
    ("scan all", "warm"): ("15 s", "6.1 s", "7 s"),
    ("10 records", "warm"): ("51 ms", "1.9 s", "440 ms"),
    ("5,000 records", "warm"): ("17 s", "2.1 s", "1.5 s"),
    ("bytes", ""): ("100 MB", "43 MB", "43 MB"),
}


def shown(value: float, unit: str) -> str:
    if unit == "bytes" and value >= 1000:
        return f"{value / 1e6:.1f} MB"
    return f"{value:,.1f} {unit}" if value < 100 else f"{value:,.0f} {unit}"


def main(path: pathlib.Path) -> None:
    figures = [json.loads(line) for line in path.read_text().splitlines()]
    rfc = [f for f in figures if f["table"] == "rfc27"]
    systems = list(dict.fromkeys(f["system"] for f in rfc))
    print("| RFC-27's shape | " + " | ".join(systems) + " | RFC-27: HFile | Parquet | Spark SQL |")
    print("|---" * (len(systems) + 4) + "|")
    for what, state in dict.fromkeys((f["what"], f["state"]) for f in rfc):
        found = {f["system"]: f for f in rfc if (f["what"], f["state"]) == (what, state)}
        cells = [shown(found[s]["value"], found[s]["unit"]) if s in found else "-" for s in systems]
        name = f"{what}, {state}" if state else what
        print(f"| {name} | " + " | ".join([*cells, *RFC27.get((what, state), ("-", "-", "-"))]) + " |")
    print("\n| table | what | median | best |\n|---|---|---|---|")
    for f in figures:
        if f["table"] != "rfc27":
            name = f"{f['what']}, {f['state']}" if f["state"] else f["what"]
            print(
                f"| {f['table']} | {name} | {shown(f['value'], f['unit'])} | {shown(f['best'], f['unit'])} |"
            )


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
