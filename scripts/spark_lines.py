"""The Spark lines beside the one that .venv has, as project/SparkVersions.scala lists them.

Usage: spark_lines.py         prints their short forms, one a line
       spark_lines.py LINE    prints the release of Spark that the line's jar is built with: its PySpark's
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_LIST = ROOT / "project" / "SparkVersions.scala"
_SPARK = re.compile(r'SparkLine\("((\d+\.\d+)\.\d+)"')
_OF_VENV = "3.5"


def others() -> dict[str, str]:
    """Short form to release."""
    found = {short: release for release, short in _SPARK.findall(_LIST.read_text(encoding="utf-8"))}
    assert found.pop(_OF_VENV, None), f"{_LIST}: names no Spark {_OF_VENV}"
    return found


def python_of(line: str) -> Path:
    """The Python of a line's own environment, which `make lines` makes."""
    return ROOT / "build" / "lines" / line / "bin" / "python"


if __name__ == "__main__":
    print(*([others()[name] for name in sys.argv[1:]] or others()), sep="\n")
