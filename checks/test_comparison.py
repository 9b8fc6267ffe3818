"""docs/comparison.md has the figures of benchmarks/RESULTS.md."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Rows of the page by those of the results.
ROWS = {
    "plan one day of 384,757 files": "plan a query of one day of M (384,757 files)",
    "a range of a sorted column": "a thousandth of the rows by a sorted column",
    "one record key": "one record key",
    "1,000 record keys": "1,000 record keys",
    "upsert of 100,000 rows": "upsert of a batch",
    "all rows, merged on read": "all rows, merged on read",
}


def table(page: str, heading: str) -> dict[str, list[str]]:
    """Cells of the first table under a heading that has figures, by its first column."""
    section = page.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    rows = [line[1:-1].split("|") for line in section.splitlines() if line.startswith("| ")]
    return {cells[0].strip(): [c.strip() for c in cells[1:]] for cells in rows}


def shown(cell: str) -> str:
    """``284 (145 to 444), 2.8 x`` as the page has it, ``284 (2.8)``; the first column has no ratio."""
    found = re.fullmatch(r"([\d,]+) \(.*?\)(?:, ([\d.]+) x)?", cell)
    assert found, cell
    return f"{found[1]} ({found[2]})" if found[2] else found[1]


def test_figures_and_versions_are_those_of_the_results() -> None:
    results = table((ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8"), "Side by side")
    text = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
    page = table(text, "The same rows, asked the same")
    peers = results["ms"][:4]
    assert page.pop("") == peers
    assert page == {ours: [shown(c) for c in results[row][:4]] for ours, row in ROWS.items()}
    named = text.split("\n", 3)[2]
    assert all(version in named for version in (p.rsplit(" ", 1)[1] for p in peers[1:])), named
