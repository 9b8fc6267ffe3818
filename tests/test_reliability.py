"""The page of how much was tried (`make reliability`): what is counted, and how its rows are kept."""

import re
from collections import Counter
from pathlib import Path

import pytest
import reliability

ROOT = reliability.ROOT


def test_what_tests_count_is_what_the_page_has() -> None:
    asked = {what for part in reliability.PARTS.values() for what in part.laws}
    sources = [
        *ROOT.glob("jvm/*/src/test/**/*.scala"),
        *ROOT.glob("tests/*.py"),
        *ROOT.glob("integration/*.py"),
        *(ROOT / "scripts" / name for name in ("fuzz", "reproducible", "run_tests.py", "seeded_bugs.py")),
    ]
    text = "".join(f.read_text() for f in sources if f.name != Path(__file__).name)
    assert set(re.findall(r'(?:Figures\.add\(|\bfigure\(|figures\.py"? )"([^"]+)"', text)) == asked


def test_parts_name_suites_and_files_that_exist() -> None:
    scala = "".join(f.read_text() for f in ROOT.glob("jvm/*/src/test/scala/**/*.scala"))
    for part in reliability.PARTS.values():
        for argument in part.command[1:]:
            for suite in re.findall(r"\*(\w+Suite)", argument):
                assert f"class {suite} " in scala, suite
            assert not argument.endswith(".py") or (ROOT / argument).exists(), argument


def test_a_part_replaces_its_own_rows() -> None:
    page = reliability.PAGE.read_text()
    first = reliability.with_rows(page, "soak", ["| soak | reads | 1 | law | then |"])
    both = reliability.with_rows(first, "long", ["| long | commits | 2 | law | then |"])
    again = reliability.with_rows(both, "soak", ["| soak | reads | 3 | law | now |"])
    assert "| soak | reads | 3 |" in again and "| soak | reads | 1 |" not in again
    assert "| long | commits | 2 |" in again and "| long | not run" not in again
    assert again.split(reliability.END_LAWS)[1] == page.split(reliability.END_LAWS)[1]


def test_every_law_has_what_its_parts_tried() -> None:
    rows = ["| lookups | keys tried | 7,654,321 | 3. Exact locations | now |"]
    page = reliability.with_rows(reliability.PAGE.read_text(), "lookups", rows)
    table = page.split(reliability.BEGIN_LAWS)[1].split(reliability.END_LAWS)[0].splitlines()
    laws = dict(line.strip("| ").split(" | ", 1) for line in table[3:])
    assert [law[:3] for law in laws] == [f"[{n}." for n in range(1, 8)]
    tried = [law for law, tried in laws.items() if "lookups: 7,654,321 keys tried" in tried]
    assert tried == ["[3. Exact locations](laws.md#3-exact-locations)"]


def test_a_part_that_counted_nothing_writes_nothing() -> None:
    counts = Counter({"random filters held against rows": 5})
    with pytest.raises(SystemExit, match="file slices held against them"):
        reliability.rows_of("filters", counts, "abc1234", 1.0)
    rows = reliability.rows_of(
        "filters", counts + Counter({"file slices held against them": 7000}), "abc1234", 1.4
    )
    assert len(rows) == 2 and "| 7,000 |" in rows[1] and "1 min" in rows[1]
