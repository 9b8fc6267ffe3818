"""The first thing that a new user runs."""

import subprocess
import sys
from pathlib import Path

QUICKSTART = Path(__file__).parents[1] / "examples" / "quickstart.py"


def test_quickstart_tells_what_was_read() -> None:
    done = subprocess.run([sys.executable, QUICKSTART], capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    assert "Of 4 partitions 1 was read; of 4 data files" in done.stdout
    assert "Index and table agree." in done.stdout
