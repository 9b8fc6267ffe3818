"""The section "Record index" of RESULTS.md: tables of `KeyTables`, hudiidx beside stock Hudi and plain Spark."""

from __future__ import annotations

from typing import Any, Protocol

OURS = "hudiidx"
STOCK = "Hudi 1.1.1 record index"
PARQUET = "Spark 3.5.9 Parquet"
READER = "Hudi 1.1.1 reader"
SHAPES = ["U1", "U5", "U20", "U50", "D20", "P365", "K2"]
INDEXES = ["Hudi 1.1.1 BLOOM", "Hudi 1.1.1 SIMPLE", "Hudi 1.1.1 GLOBAL_SIMPLE", "Hudi 1.1.1 RECORD_INDEX", OURS]

# (what, state): every figure is of the whole table. Milliseconds; hudiidx's are measured from Python.
TIMES = [
    ("create", ""),
    ("create files only", ""),
    ("open", "cold"),
    *[(f"lookup {n}", state) for n in ("1 key", "1000 keys", "10000 keys") for state in ("warm", "cold")],
    *[(f"where key in ({n})", "warm") for n in (1, 10, 1000)],
    ("scan of the key column", "warm"),
    *[(f"{deed} {n} keys", "warm") for n in (1000, 100000, 1000000) for deed in ("tag", "inner join")],
    ("update 50000 rows", ""),
    ("update 50000 rows", "steady"),
]
SIZES = [
    (what, state)
    for state in ("created", "50 upserts")
    for what in ("bytes a mapping", "bytes a mapping on disk")
]


class Results(Protocol):
    """What the section asks of the figures."""

    facts: dict[str, Any]

    def value(
        self, table: str, system: str, what: str, where: str, state: str, unit: str = "ms"
    ) -> float | None: ...

    def cell(self, table: str, system: str, what: str, where: str, state: str) -> str: ...


def record_section(results: Results) -> str:
    """Markdown; empty when no key table was measured."""
    shapes = [s for s in SHAPES if results.facts.get(s, {}).get("kind") == "keys"]
    if not shapes:
        return ""
    parts = ["## Record index", *[shape_text(results, s) for s in shapes]]
    upserts = upsert_text(results, shapes)
    return "\n\n".join(parts + ([upserts] if upserts else []))


def shape_text(results: Results, shape: str) -> str:
    facts = results.facts[shape]
    title = (
        f"### {shape}: {facts['rows']:,} keys ({facts['key_form']}), {facts['files']:,} files, "
        f"{facts['partitions']:,} partitions"
    )
    systems = [STOCK, PARQUET, READER, OURS]
    body = []
    for what, state in TIMES:
        cells = [results.cell(shape, s, what, "table", state) for s in systems]
        if any(cells):
            body.append([f"{what}, {state}" if state else what, *cells, faster(results, shape, what, state)])
    for what, state in SIZES:
        values = [results.value(shape, s, what, "table", state, "bytes") for s in systems]
        if any(v is not None for v in values):
            body.append([f"{what}, {state}", *["" if v is None else f"{v:.2f}" for v in values], ""])
    return title + "\n\n" + table(["ms", *systems, "stock's ÷ hudiidx's"], body)


def faster(results: Results, shape: str, what: str, state: str) -> str:
    ours, stock = (results.value(shape, s, what, "table", state) for s in (OURS, STOCK))
    return "" if not ours or stock is None else f"{stock / ours:.1f}"


def upsert_text(results: Results, shapes: list[str]) -> str:
    body = []
    for shape in shapes:
        cells = [results.cell(shape, s, "upsert 50000 rows", "table", "warm") for s in INDEXES]
        if any(cells):
            body.append([shape, *cells])
    if not body:
        return ""
    head = "### Whole upserts of 50,000 rows, 10 % inserts, by stock's writer"
    return head + "\n\n" + table(["ms", *INDEXES], body)


def table(head: list[str], body: list[list[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(r) + " |" for r in body])
