"""CONTRIBUTING.md: the files that it sends a change to are there."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_files_that_a_change_goes_to_are_there_once() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    files = tracked.stdout.splitlines()
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text.split("## Where a change goes")[1].split("\n\n")[1]
    names = re.findall(r"`([^`]+)`", table)
    assert len(names) > 30
    for name in names:
        if (ROOT / name).is_dir() or "*" in name:
            assert list(ROOT.glob(name)), name
        else:
            found = [f for f in files if f"/{f}".endswith(f"/{name}")]
            assert len(found) == 1, (name, found)
