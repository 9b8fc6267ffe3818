"""The page: its parts in one HTML document, with the styles and scripts that they need."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from hudiidx.report import overlap, sections
from hudiidx.report.markup import html, in_script, joined

_HERE = Path(__file__).parent
_PLACE = re.compile(r"\{\{(\w+)\}\}")


def page(facts: Mapping[str, Any]) -> str:
    """The document of these facts."""
    of_files, of_logs = sections.file_charts(facts), sections.log_charts(facts)
    of_timeline = sections.timeline_charts(facts)
    body = joined(
        [
            sections.header(facts),
            sections.advice(facts),
            overlap.columns(facts["columns"], facts["table"]["path"], facts["index"]["index_path"]),
            sections.queries(facts),
            sections.files(facts, of_files),
            sections.logs(facts, of_logs),
            sections.timeline(facts, of_timeline),
            sections.index(facts),
        ]
    )
    specs = [chart.spec() for chart in (*of_files, *of_logs, *of_timeline)]
    from hudiidx import __version__

    places = {
        "title": html(f"{facts['table']['name']}: hudiidx report"),
        "library_style": _file("vendor/uPlot.min.css"),
        "style": _file("page.css"),
        "body": body,
        "version": __version__,
        "charts": in_script(specs),
        "library": _file("vendor/uPlot.iife.min.js"),
        "script": _file("page.js"),
    }
    return _PLACE.sub(lambda place: places[place[1]], _file("page.html"))


@cache
def _file(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")
