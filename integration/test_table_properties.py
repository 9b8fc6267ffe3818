"""Every property that a release of stock Hudi keeps in ``hoodie.properties`` has a decision in the docs."""

import re

import pytest
from stock_hudi import RELEASES
from stored import ROOT

PAGE = ROOT / "docs" / "properties.md"
ROW = re.compile(r"^\| `([^`]+)` \| (honoured|irrelevant|refused) \| [^|]+ \|$", re.MULTILINE)


@pytest.mark.parametrize("release", RELEASES)
def test_every_property_of_a_release_has_a_decision(release: str) -> None:
    printed = RELEASES[release].printed_by("TablePropertyKeys.java")
    keys = {line.removeprefix("key ") for line in printed if line.startswith("key ")}
    assert len(keys) > 30, printed
    decided = [key for key, _ in ROW.findall(PAGE.read_text(encoding="utf-8"))]
    families = tuple(key.removesuffix("*") for key in decided if key.endswith("*"))
    assert {key for key in keys if key not in decided and not key.startswith(families)} == set()
