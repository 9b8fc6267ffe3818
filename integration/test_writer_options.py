"""Every option that classes of a release of stock Hudi declare for writers and tables has a decision in the
docs, and stock's own default is never refused: no option that changes rows, keys, paths or files is taken by
our writer silently and not followed."""

import re

import pytest
from stock_hudi import RELEASES, each
from stored import ROOT

# The second has those of readers, some of which other classes declare too.
PAGES = [ROOT / "docs" / name for name in ("writer-options.md", "options.md")]
ROW = re.compile(r"^\| `([^`]+)` \| (followed|harmless|refused) \| (.+) \|$", re.MULTILINE)
# Of these beginnings the reader takes no name that it does not know.
OF_READERS = tuple(f"hoodie.datasource.{kind}." for kind in ("read", "query", "view", "merge", "streaming"))


def _declared(release: str) -> list[list[str]]:
    """Lines of ``WriterOptionKeys``: ``key NAME``, ``default NAME VALUE``, ``unread CLASS``."""
    of = RELEASES[release]
    return [line.split(" ", 2) for line in of.printed_by("WriterOptionKeys.java", str(of.jar))]


@pytest.mark.parametrize("release", each())
def test_every_option_of_stocks_writers_has_a_decision(release: str) -> None:
    lines = _declared(release)
    keys = {line[1].lstrip("_.").lower() for line in lines if line[0] == "key"}
    assert len(keys) > 400 and "hoodie.datasource.write.insert.drop.duplicates" in keys
    # Some classes stand on what no bundle has; those of writers are all read.
    assert not [line for line in lines if line[0] == "unread" and "rite" in line[1] and "onfig" in line[1]]
    pages = [page.read_text(encoding="utf-8") for page in PAGES]
    decided = {key: (what, why) for page in pages for key, what, why in ROW.findall(page)}
    readers = {key for key in keys if key.startswith(OF_READERS)}
    assert readers <= {key for key, _, _ in ROW.findall(pages[1])}
    families = tuple(key.removesuffix("*") for key in decided if key.endswith("*"))
    assert {key for key in keys if key not in decided and not key.startswith(families)} == set()
    defaults = [(line[1], line[2].strip()) for line in lines if line[0] == "default" and len(line) == 3]
    assert len(defaults) > 300
    refused = {
        f"{key}={value}"
        for key, value in defaults
        for what, why in [decided.get(key, ("", ""))]
        if value and what == "refused" and f"`{value.lower()}`" not in why
    }
    assert refused == set()
