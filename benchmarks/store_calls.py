"""The tables of "Stores" in RESULTS.md, from the file that HUDIIDX_FIGURES named to the suites."""

from __future__ import annotations

import re
import sys
from pathlib import Path

LINE = re.compile(
    r"(?P<store>S3|HDFS), (?P<operation>.+), (?P<size>\d+) partitions: (?P<kind>[\w ]+)\t(?P<count>\d+)\n"
)

COLUMNS = {
    "S3": ["list", "head", "get", "put", "post", "delete", "round trips"],
    "HDFS": ["list_status", "get_file_status", "open", "create", "rename", "delete", "mkdirs"],
}


def main(figures: str) -> None:
    """Prints a table for each store. Ends with an error if a kind of call has no column."""
    cells: dict[str, dict[tuple[str, str], dict[int, int]]] = {}
    with Path(figures).open() as lines:
        for f in filter(None, map(LINE.fullmatch, lines)):
            kinds = cells.setdefault(f["operation"], {})
            kinds.setdefault((f["store"], f["kind"].removeprefix("op_")), {})[int(f["size"])] = int(
                f["count"]
            )
    for store, columns in COLUMNS.items():
        print(f"| {store} | " + " | ".join(columns) + " |\n|---|" + "--:|" * len(columns))
        for operation, kinds in cells.items():
            each = [kinds.pop((store, c), {}) for c in columns]
            sizes = sorted({size for counts in each for size in counts})
            print(f"| {operation} | " + " | ".join(shown(counts, sizes) for counts in each) + " |")
        print()
    left = {kind for kinds in cells.values() for kind in kinds}
    if left:
        sys.exit(f"no column for {left}")


def shown(counts: dict[int, int], sizes: list[int]) -> str:
    """One number where all sizes have the same."""
    each = [counts.get(size, 0) for size in sizes]
    if not any(each):
        return ""
    return str(each[0]) if len(set(each)) == 1 else " / ".join(map(str, each))


if __name__ == "__main__":
    main(sys.argv[1])
