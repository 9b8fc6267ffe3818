"""The bugs that `make bugs` plants: they fit the tree, and what must notice them is there."""

import re
import subprocess
import sys

import pytest
from stored import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
from seeded_bugs import Bug, all_bugs

BUGS = all_bugs()


def test_every_law_has_a_bug() -> None:
    laws = re.findall(r"^### (\d\. .*)$", (ROOT / "docs" / "laws.md").read_text(), re.MULTILINE)
    assert len(laws) == 7
    assert {b.law for b in BUGS} == set(laws)
    assert len(BUGS) >= 10


@pytest.mark.parametrize("bug", BUGS, ids=lambda b: b.patch.stem)
def test_a_bug_fits_the_tree_and_its_test_is_there(bug: Bug) -> None:
    subprocess.run(["git", "apply", "--check", str(bug.patch)], cwd=ROOT, check=True)
    name = bug.suite.split(".")[-1]
    sources = [
        f for f in (ROOT / "jvm").glob("*/src/test/scala/**/*.scala") if f"class {name}" in f.read_text()
    ]
    assert sources, bug.suite
    inherited = [*sources, *(ROOT / "jvm").glob("*/src/test/scala/**/*Contract.scala")]
    assert any(bug.test in f.read_text() for f in inherited), bug.test
    assert "$" not in bug.test, "tests are found by a part of the name that they have when they run"
