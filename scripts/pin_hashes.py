"""Writes the hashes of all files of each pinned package into lists of packages.

Usage: pin_hashes.py LIST...

A list has `name==version` lines, with markers and old hashes or without. pip-compile (of pip-tools) must
be on the path: it asks the index for each package that the list names, and for what these need, all of
which the list must name too.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

_PIN = re.compile(r"^([\w.-]+)==([\w.]+)(; [^\\]+?)?(?: \\)?$")
_OPTIONS = [
    "--generate-hashes",
    "--allow-unsafe",
    "--no-header",
    "--no-annotate",
    "--quiet",
    "--strip-extras",
]


def name_of(name: str) -> str:
    """As the index writes it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pinned(text: str) -> str:
    """The list without hashes and markers."""
    return "".join(f"{m[1]}=={m[2]}\n" for m in map(_PIN.match, text.splitlines()) if m)


def hashes_of(compiled: str) -> dict[str, list[str]]:
    """By name and version."""
    found: dict[str, list[str]] = {}
    for line in compiled.splitlines():
        if pin := _PIN.match(line):
            hashes = found.setdefault(f"{name_of(pin[1])}=={pin[2]}", [])
        elif line.startswith("    --hash="):
            hashes.append(line.strip().removesuffix(" \\"))
    return found


def with_hashes(text: str, hashes: dict[str, list[str]]) -> str:
    """The list with these hashes alone; its comments, order and markers stay."""
    lines = []
    for line in text.splitlines():
        if pin := _PIN.match(line):
            found = hashes[f"{name_of(pin[1])}=={pin[2]}"]
            head = f"{pin[1]}=={pin[2]}{pin[3] or ''}"
            lines.append(" \\\n".join([head, *(f"    {h}" for h in found)]))
        elif not line.startswith(" "):
            lines.append(line)
    return "\n".join(lines) + "\n"


def compiled(text: str) -> str:
    """What pip-compile makes of a list."""
    with tempfile.TemporaryDirectory() as folder:
        wanted, made = Path(folder) / "wanted.in", Path(folder) / "made.txt"
        wanted.write_text(pinned(text))
        subprocess.run(["pip-compile", *_OPTIONS, "-o", made, wanted], check=True)
        return made.read_text()


def main() -> int:
    """Rewrites the lists."""
    for path in map(Path, sys.argv[1:]):
        text = path.read_text(encoding="utf-8")
        hashes = hashes_of(compiled(text))
        missing = hashes.keys() - {
            f"{name_of(m[1])}=={m[2]}" for m in map(_PIN.match, text.splitlines()) if m
        }
        if missing:
            print(f"{path}: lacks {', '.join(sorted(missing))}", file=sys.stderr)
            return 1
        path.write_text(with_hashes(text, hashes), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
