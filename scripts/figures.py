"""How much was tried, for docs/reliability.md (`make reliability`): figures.py WHAT COUNT from a script."""

import os
import sys
from pathlib import Path


def figure(what: str, count: int = 1) -> None:
    """Notes it in the file that HUDIIDX_FIGURES names; nowhere without it."""
    file = os.environ.get("HUDIIDX_FIGURES")
    if file:
        with Path(file).open("a") as figures:
            figures.write(f"{what}\t{count}\n")


if __name__ == "__main__":
    figure(sys.argv[1], int(sys.argv[2]))
