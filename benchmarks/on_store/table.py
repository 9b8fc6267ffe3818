"""The table of a run, a section of benchmarks/RESULTS.md."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from bench.data import Data
from bench.systems import NAMES

from .requests import KINDS, Account
from .slow_door import Pace

SYSTEMS = ["hudiidx", "hudi", "iceberg", "delta"]
OURS = "hudiidx"


@dataclass(frozen=True)
class Operation:
    """What an engine is asked, and what the page calls it."""

    method: str
    label: str


OPERATIONS = {
    "create listing": Operation("listing", "make the listing"),
    "create": Operation("bootstrap", "make metadata or all indexes"),
    "files": Operation("files", "files of one day of M, opened anew"),
    "plan": Operation("plan", "plan a query of one day of M, opened anew"),
    "plan range": Operation("plan_range", "plan a thousandth of the rows by a sorted column, opened anew"),
    "locate": Operation("locate", "where one record key is, opened anew"),
    "point": Operation("point", "rows of one record key"),
    "shell info": Operation("", "`hudiidx info`"),
    "shell lookup": Operation("", "`hudiidx lookup` of one key"),
    "shell prune": Operation("", "`hudiidx prune` by a sorted column"),
    "keys": Operation("keys", "rows of 1,000 record keys"),
    "tag": Operation("tag", "files of a batch's keys"),
    "upsert row": Operation("upsert", "upsert of one row"),
    "increment": Operation("increment", "what that upsert changed"),
    "upsert": Operation("upsert", "upsert of a batch"),
    "update nothing": Operation("update", "update with nothing to do"),
    "update commit": Operation("update", "update after a commit of stock Hudi"),
    "compact": Operation("compact", "compaction"),
}


class Figures:
    """Milliseconds and accounts by operation and system, in the order of the rounds."""

    def __init__(self) -> None:
        self.values: dict[str, dict[str, list[tuple[float, Account]]]] = {}

    def add(self, operation: str, system: str, millis: float, account: Account) -> None:
        self.values.setdefault(operation, {}).setdefault(system, []).append((millis, account))


def rendered(figures: Figures, data: Data, pace: Pace, when: str) -> str:
    head = ["", "", "ms", "x", "round trips", "requests", *KINDS, "MB read", "MB written"]
    lines = ["| " + " | ".join(head) + " |", "|---|---|" + "--:|" * (len(head) - 2)]
    for operation, asked in OPERATIONS.items():
        found = figures.values.get(operation, {})
        own = _millis(found[OURS]) if OURS in found else None
        for i, system in enumerate(s for s in SYSTEMS if s in found):
            lines.append(_line(asked.label if i == 0 else "", NAMES[system], found[system], own))
    text = [
        f"Each request waits {pace.delay * 1000:.0f} ms, one in {pace.tail_in} of them {pace.tail * 1000:.0f} ms; a connection has "
        f"{pace.bandwidth / 1e6:.0f} MB/s. {data.rows:,} rows in {data.files} files,",
        f"batches of {data.batch:,} rows; M has 384,757 files. Medians; `x` is hudiidx's time. Round trips are the most requests of which "
        "each began after the one before it had ended.",
        "",
        *lines,
        "",
        when,
    ]
    return "\n".join(text) + "\n"


def _millis(found: list[tuple[float, Account]]) -> float:
    return median(millis for millis, _ in found)


def _line(label: str, system: str, found: list[tuple[float, Account]], own: float | None) -> str:
    accounts = [account for _, account in found]
    millis = _millis(found)
    numbers = [
        f"{millis:,.0f}",
        "" if own is None else f"{millis / own:.1f}",
        f"{median(a.round_trips for a in accounts):,.0f}",
        f"{median(a.requests for a in accounts):,.0f}",
        *(f"{n:,.0f}" if (n := median(a.kinds.get(kind, 0) for a in accounts)) else "" for kind in KINDS),
        f"{median(a.received for a in accounts) / 1e6:,.2f}",
        f"{median(a.sent for a in accounts) / 1e6:,.2f}",
    ]
    return "| " + " | ".join([label, system, *numbers]) + " |"
