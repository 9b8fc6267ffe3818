"""benchmarks/RESULTS.md: a heading and sections, each made by one command. A run replaces its own and leaves the others."""

from __future__ import annotations

import datetime
import os
import pathlib
import subprocess

PAGE = pathlib.Path(__file__).parent / "RESULTS.md"


def replace_sections(page: pathlib.Path, made: list[str]) -> None:
    """Puts sections (texts that begin with `## name: ...`) in the place of those of the same names, new ones at the end."""
    head, *kept = ("\n" + page.read_text() if page.exists() else "\n# Results\n").split("\n## ")
    sections = {name_of(s): s.strip() for s in kept}
    sections.update({name_of(text): text for text in (m.removeprefix("## ").strip() for m in made)})
    page.write_text("\n\n## ".join([head.strip(), *sections.values()]) + "\n")


def made(command: str) -> str:
    """How, when and of what a section was made."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    today, load = datetime.date.today(), os.getloadavg()[2]
    how = f"{os.cpu_count()} cores, Spark 3.5.9, load average over the last 15 minutes {load:.1f}"
    return f"Made on {today} at commit {commit}: {command}; {how}."


def name_of(section: str) -> str:
    """`C` of `C: 1,050 files, ...`."""
    return section.partition("\n")[0].partition(":")[0].strip()
