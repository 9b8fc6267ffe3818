"""The table of a run, a section of benchmarks/RESULTS.md, with what hudiidx is behind in above it."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median

from results_page import replace_sections

from .data import Data
from .systems import NAMES

OURS = "hudiidx"
OPERATIONS = {
    "bootstrap": "metadata or index of files that are there",
    "bytes": "its bytes",
    "files": "files of one day of M (384,757 files)",
    "plan": "plan a query of one day of M (384,757 files)",
    "selective": "a thousandth of the rows by a sorted column",
    "point": "one record key",
    "keys": "1,000 record keys",
    "tag": "files of a batch's keys",
    "upsert": "upsert of a batch",
    "increment": "what that upsert changed",
    "read": "all rows, merged on read",
}
KEYLESS = "it keeps no record index"
RUST = "it has no Spark session, whose jobs take a tenth of a second each"
SPREAD = "some keys are in each file, and the record index tells files, not rows: all read each file's key column"
BY_POSITION = "its upserts mark rows by position and write the new ones as Parquet; Hudi's logs are Avro records that are merged by key"
CHANGE_FILES = (
    "a commit's changes stand once more in a few files of their own, Hudi's in a log of each file group; "
    "with a JVM that has been asked 20 times hudiidx needs less"
)
# Why hudiidx is behind a system in an operation. One that has no reason here is told to have none yet.
REASONS = {
    ("bootstrap", "iceberg"): KEYLESS + ", for which all keys are read and sorted",
    ("bytes", "iceberg"): KEYLESS + ", which is most of ours",
    ("bytes", "delta"): KEYLESS + ", which is most of ours",
    ("files", "hudi_rs"): "ours asks a JVM that has just begun: behind a dozen calls it takes some 20 ms",
    ("keys", "iceberg"): SPREAD,
    ("keys", "parquet"): SPREAD + ", and Hudi's files have five columns more",
    ("increment", "delta"): CHANGE_FILES,
    ("read", "iceberg"): BY_POSITION,
    ("read", "delta"): BY_POSITION,
    **{(operation, "hudi_rs"): RUST for operation in ("selective", "point", "keys", "increment", "read")},
}


class Figures:
    """Milliseconds (bytes of `bytes`) by operation and system, or why there are none."""

    def __init__(self) -> None:
        self.values: dict[str, dict[str, list[float]]] = {}
        self.reasons: dict[str, dict[str, str]] = {}

    def add(self, operation: str, system: str, value: float) -> None:
        self.values.setdefault(operation, {}).setdefault(system, []).append(value)

    def missing(self, operation: str, system: str, reason: str) -> None:
        self.reasons.setdefault(operation, {})[system] = reason

    def middle(self, operation: str, system: str) -> float | None:
        found = self.values.get(operation, {}).get(system)
        return median(found) if found else None


def behind(figures: Figures) -> list[str]:
    """A line for each operation and system that needs less than hudiidx."""
    lines = []
    for operation, label in OPERATIONS.items():
        own = figures.middle(operation, OURS)
        for system, name in NAMES.items():
            other = figures.middle(operation, system)
            if own is None or other is None or other >= own:
                continue
            reason = REASONS.get((operation, system), "no reason known yet")
            lines.append(f"- {label}: {name} needs {other / own:.2f} of hudiidx's: {reason}.")
    return lines


def cell(figures: Figures, operation: str, system: str) -> str:
    values = figures.values.get(operation, {}).get(system)
    if not values:
        return figures.reasons.get(operation, {}).get(system, "")
    middle, own = median(values), figures.middle(operation, OURS)
    ratio = "" if system == OURS or not own else f", {middle / own:.1f} x"
    if operation == "bytes":
        return f"{middle / 1e6:,.1f} MB{ratio}"
    spread = f" ({min(values):,.0f} to {max(values):,.0f})" if len(values) > 1 else ""
    return f"{middle:,.0f}{spread}{ratio}"


def rendered(figures: Figures, data: Data, when: str) -> str:
    rows = ["| ms | " + " | ".join(NAMES.values()) + " |", "|---|" + "--:|" * len(NAMES)]
    for operation, label in OPERATIONS.items():
        rows.append(f"| {label} | " + " | ".join(cell(figures, operation, name) for name in NAMES) + " |")
    worse = behind(figures) or ["- nothing of what was asked"]
    text = [
        "Where hudiidx is not ahead:",
        "",
        *worse,
        "",
        f"{data.rows:,} rows in {data.files} files, batches of {data.batch:,} rows of which one in five is new. All systems by turns in one",
        "run, each in a process of its own with two threads, another first each round; answers equal. Medians, in brackets the least and",
        "the greatest; times hudiidx's.",
        "",
        *rows,
        "",
        when,
    ]
    return "\n".join(text) + "\n"


def kept(data: Data) -> Path:
    return data.folder.parent / "results" / f"bench-{data.rows}.json"


def write(figures: Figures, data: Data, out: Path, when: str) -> None:
    """Keeps the figures beside the tables, and writes the section of `out`."""
    kept(data).parent.mkdir(exist_ok=True)
    run = {"figures": figures.values, "missing": figures.reasons, "made": when}
    kept(data).write_text(json.dumps(run, indent=1))
    write_kept(data, out)


def write_kept(data: Data, out: Path) -> None:
    """The section, of the figures of the last run."""
    run = json.loads(kept(data).read_text())
    figures = Figures()
    figures.values, figures.reasons = run["figures"], run["missing"]
    text = rendered(figures, data, run["made"])
    print(text)
    replace_sections(out, ["## Side by side\n\n" + text])
