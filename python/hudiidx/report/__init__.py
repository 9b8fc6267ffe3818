"""The report of a table: facts that the JVM gathers, as one page that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from hudiidx.report.markup import frame
from hudiidx.report.page import page


class Report:
    """What there is to know of a table and its index; a notebook shows it by itself.

    ``facts`` is the document of ``hudiidx report --json``: docs/report.md has its form.
    """

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self.facts = facts

    def __repr__(self) -> str:
        table = self.facts["table"]
        return f"Report({table['path']!r}, advice: {len(self.advice)})"

    @property
    def advice(self) -> list[Mapping[str, str]]:
        """What would help, the most urgent first: ``kind``, ``title``, ``why``, ``command``, ``runs_in``."""
        return list(self.facts["advice"])

    def html(self) -> str:
        """The page: one HTML document, scripts and styles inside; it asks no network."""
        return page(self.facts)

    def save(self, path: str | PathLike[str]) -> Path:
        """Writes the page to a local file, in the place of what is there.

        Raises:
            OSError: the file cannot be written.
        """
        target = Path(path)
        target.write_text(self.html(), encoding="utf-8")
        return target

    def _repr_html_(self) -> str:
        """For notebooks."""
        style = "width: 100%; height: 760px; border: 1px solid #8884; border-radius: 6px"
        return frame(self.html(), f"Report of {self.facts['table']['name']}", style)
