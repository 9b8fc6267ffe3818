"""Pages name tests, code, pages and results that are there."""

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "rfc-coverage.md").read_text(encoding="utf-8")
SECURITY = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
DESIGNS = {"6": "RFC-06", "8": "RFC-08", "15": "RFC-15", "27": "RFC-27"}
MENTION = re.compile(r'`([\w./]+)` "([^"]+)"')
ROW = re.compile(r"^\| (\d+)\.(\d+) \|.*\| ([^|]+) \|$", re.MULTILINE)
NONE = "None yet"
# A suite's class, and what may stand before a test's name: the fixture.
CLASS = re.compile(r"^class (\w+)", re.MULTILINE)
START = '(?:"|"\\$name: )'


def rows() -> list[tuple[str, int, str]]:
    """Design, number and proof of each row, but for those of the section at the top."""
    top, rest = PAGE.split("\n## RFC-06", 1)
    assert "## Without proof yet" in top
    return [(m[1], int(m[2]), m[3]) for m in ROW.finditer(rest)]


@cache
def suites() -> dict[str, str]:
    """Scala's test sources by the names of their files and classes."""
    files = [f for f in (ROOT / "jvm").glob("*/src/test/**/*.scala") if "target" not in f.parts]
    texts = {f.stem: f.read_text(encoding="utf-8") for f in files}
    return {n: t for f, t in texts.items() for n in {f, *CLASS.findall(t)}}


@cache
def headings(page: Path) -> set[str]:
    found = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {h.strip() for h in found}


def is_there(where: str, name: str) -> bool:
    if where == "RESULTS.md":
        return name in headings(ROOT / "benchmarks" / where)
    if where.endswith(".md"):
        return name in headings(ROOT / where if "/" in where else ROOT / "docs" / where)
    if where.endswith(".py"):
        files = [ROOT / folder / where for folder in ("tests", "integration", "lines", "checks")]
        return any(f.is_file() and f"def {name}(" in f.read_text(encoding="utf-8") for f in files)
    return re.search(f'{START}{re.escape(name)}"', suites().get(where, "")) is not None


def test_everything_that_is_named_exists() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "benchmarks").glob("*.md")]
    named = {p.name: set(MENTION.findall(p.read_text(encoding="utf-8"))) for p in pages}
    for page in ("rfc-coverage.md", "SECURITY.md", "reliability.md", "laws.md"):
        assert len(named[page]) > 150
    missing = {page: sorted(m for m in found if not is_there(*m)) for page, found in named.items()}
    assert {page: names for page, names in missing.items() if names} == {}


def test_code_that_the_security_page_names_exists() -> None:
    named = set(re.findall(r"`(\w+\.scala)`", SECURITY))
    assert len(named) > 20
    code = {f.name for f in (ROOT / "jvm").glob("*/src/main/**/*.scala")}
    assert sorted(named - code) == []


def test_what_the_security_page_says_is_done_has_a_test_or_says_none() -> None:
    said = SECURITY.split("## Who may do harm", 1)[1].split("## What an index discloses")[0]
    lines = [line for line in said.splitlines() if re.match(r"\| (?!wh(?:o|at|ere it stands) \|)", line)]
    assert len(lines) > 40
    assert [line for line in lines if not MENTION.search(line) and "none yet" not in line] == []


def test_the_threat_model_has_every_party_and_channel() -> None:
    model = SECURITY.split("## Who may do harm", 1)[1].split("\n## ", 1)[0]
    who = {line.split(" | ")[0].strip("| ") for line in model.splitlines() if line.startswith("| ")}
    parties = {
        "writers of the table's folder",
        "rows that are written",
        "links in a table's folder",
        "other users' sessions",
        "stores",
        "suppliers",
        "readers of an index folder",
    }
    assert parties <= who


def test_what_is_not_there_is_noticed() -> None:
    assert not is_there("RESULTS.md", "No such section")
    assert not is_there("laws.md", "No such heading")
    assert not is_there("test_named_tests.py", "test_of_nothing")
    assert not is_there("RecordIndexSuite", "a test that nobody wrote")
    assert not is_there(
        "NoSuchSuite", "a page gives back its entries, and finds exactly the entries of any key"
    )


def test_every_law_and_every_row_of_the_page_names_a_test() -> None:
    page = (ROOT / "docs" / "laws.md").read_text(encoding="utf-8")
    laws = [part.split("\n## ")[0] for part in page.split("\n### ")[1:]]
    assert len(laws) == 7 and [law.splitlines()[0] for law in laws if not MENTION.search(law)] == []
    lines = [line for line in page.splitlines() if line.startswith("| ")][1:]
    assert len(lines) > 15 and [line for line in lines if not MENTION.search(line)] == []


def test_rows_are_numbered_from_1_on_in_every_design() -> None:
    found = rows()
    assert {d for d, _, _ in found} == DESIGNS.keys()
    for design in DESIGNS:
        numbers = [n for d, n, _ in found if d == design]
        assert numbers == list(range(1, len(numbers) + 1)), design
    # No line of a table is another kind of line.
    lines = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| row |")]
    assert len(lines) == len(found) + len(without_proof())


def test_every_row_has_a_proof_or_is_named_at_the_top() -> None:
    silent = [f"{d}.{n}" for d, n, proof in rows() if not MENTION.search(proof)]
    assert silent == []
    assert without_proof() == [f"{d}.{n}" for d, n, proof in rows() if proof.startswith(NONE)]


def without_proof() -> list[str]:
    top = PAGE.split("\n## RFC-06", 1)[0]
    return re.findall(r"^\| (\d+\.\d+) \|", top, re.MULTILINE)


def test_every_design_and_its_sections_are_headings() -> None:
    for design in DESIGNS.values():
        assert any(h.startswith(design) for h in headings(ROOT / "docs" / "rfc-coverage.md")), design
    table_of = re.split(r"^### ", PAGE, flags=re.MULTILINE)[1:]
    assert [s.splitlines()[0] for s in table_of if "| row |" not in s] == []
