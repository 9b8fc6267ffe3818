"""`hudiidx report`: a table and its index as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hudiidx.cli import out
from hudiidx.cli.app import CHECK, IndexPath, Path_, command, plain


@command(
    CHECK,
    "hudiidx report /data/trips",
    "hudiidx report /data/trips -o trips.html",
    "hudiidx report s3a://lake/trips --json",
)
def report(
    table: Path_,
    output: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="FILE", help="The page; replaced if it is there."),
    ] = Path("report.html"),
    json_: Annotated[bool, typer.Option("--json", help="Print the facts as JSON; write no page.")] = False,
    index_path: IndexPath = None,
) -> None:
    """Write a page on the table: files, logs, timeline, index, clustering, queries, and what would help."""
    facts = plain("report", table, index_path=index_path)
    if json_:
        out.document(facts)
        return
    from hudiidx.report import Report

    made = Report(facts)
    try:
        made.save(output)
    except OSError as e:
        raise out.usage(f"--output {output}: {e.strerror}") from e
    out.line(output)
    for advice in made.advice:
        out.line(f"{advice['title']}: {advice['command'] or advice['why']}")
