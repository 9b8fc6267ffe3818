"""The tables of `benchmarks/scale`, with how each figure grows: scale.py FIGURES [--page].

With --page they become a section of RESULTS.md.
"""

from __future__ import annotations

import json
import math
import re
import sys

from results_page import PAGE, made, replace_sections

Row = tuple[str, str, str]
HEAD = """## Growth with keys and commits

Record index pages of keys that a generator makes, and timelines of as many completed commits; the last column is the power that fits best.
"""


def main(figures: str, page: bool) -> None:
    keys: dict[Row, dict[int, float]] = {}
    commits: dict[Row, dict[int, float]] = {}
    with open(figures) as lines:
        for f in map(json.loads, lines):
            row = (f["what"], f["state"], f["unit"])
            generated = re.match(r"record \w+ (\d+) in ", f["table"])
            of, n = (keys, int(generated[1])) if generated else (commits, int(f["table"]))
            of.setdefault(row, {})[n] = f["value"]
    named = (("UUID keys", keys), ("commits on the active timeline", commits))
    tables = ["\n".join(table(name, rows)) + "\n" for name, rows in named if rows]
    text = "\n".join([HEAD, *tables, made("`benchmarks/scale DIR`")])
    print(text)
    if page:
        replace_sections(PAGE, [text])


def table(name: str, rows: dict[Row, dict[int, float]]) -> list[str]:
    sizes = sorted({n for cells in rows.values() for n in cells})
    head = [
        f"| {name} | " + " | ".join(f"{n:,}" for n in sizes) + " | grows as |",
        "|---|" + "--:|" * (len(sizes) + 1),
    ]
    return head + [
        f"| {', '.join(p for p in (what, state, unit) if p)} | "
        + " | ".join(
            f"{cells[n]:,.3g}" if n in cells and cells[n] < 1000 else f"{cells.get(n, math.nan):,.0f}"
            for n in sizes
        )
        + f" | {growth(cells)} |"
        for (what, state, unit), cells in rows.items()
    ]


def growth(cells: dict[int, float]) -> str:
    """The exponent of the power of n that fits best (least squares of the logarithms)."""
    points = [(math.log(n), math.log(value)) for n, value in cells.items() if value > 0]
    if len(points) < 2:
        return ""
    x, y = (sum(p[i] for p in points) / len(points) for i in (0, 1))
    slope = sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)
    return f"n^{slope:.2f}"


if __name__ == "__main__":
    main(sys.argv[1], "--page" in sys.argv[2:])
