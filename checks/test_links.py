"""Links of pages lead somewhere, and every page and record can be found."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / f"{n}.md" for n in ("README", "CONTRIBUTING", "CHANGELOG", "SECURITY")] + sorted(
    (ROOT / "docs").glob("*.md")
)


def test_links_lead_to_files_and_headings_that_there_are() -> None:
    wrong = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.S)):
            path, _, anchor = target.partition("#")
            if "://" in target:
                continue
            file = page.parent / path if path else page
            if not file.exists() or (anchor and anchor not in anchors(file)):
                wrong.append(f"{page.name}: {target}")
    assert wrong == []


def anchors(page: Path) -> set[str]:
    """As GitHub and MyST name headings."""
    titles = re.findall(
        r"^#+ (.*)$", re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S), re.M
    )
    return {re.sub(r"[^\w\- ]", "", t.strip().lower()).replace(" ", "-") for t in titles}


def test_every_page_is_in_the_navigation() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    listed = {
        name
        for toc in re.findall(r"```\{toctree\}\n(.*?)```", index, re.S)
        for name in toc.split()
        if ":" not in name
    }
    pages = {p.stem for p in (ROOT / "docs").glob("*.md")} - {"index"} | {"api"}
    assert pages - listed == set()


def test_every_decision_is_in_the_list_of_records_and_has_its_date_and_parts() -> None:
    page = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8")
    _, listed, *records = re.split(r"^## ", page, flags=re.M)
    titles = [record.splitlines()[0] for record in records]
    assert len(titles) > 100 and len(set(titles)) == len(titles)
    assert sorted(re.findall(r"^- \[(.+?)\]\(#", listed, re.M)) == sorted(titles)
    for record in records:
        assert re.search(r"^\*\d{4}-\d\d-\d\d\*$", record, re.M), record.splitlines()[0]
        assert all(f"**{part}.**" in record for part in ("Context", "Decision")), record.splitlines()[0]
