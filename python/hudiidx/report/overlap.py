"""How well columns are clustered: a picture of each, which files may hold which values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from hudiidx._shell import line
from hudiidx._text import counted, share
from hudiidx.report.markup import Markup, code, joined, section, table, tag

_GOOD, _FAIR = 0.8, 0.5


def columns(found: Mapping[str, Any], path: str, index_path: str) -> Markup:
    """The section of all columns whose bounds are indexed."""
    bounds: Sequence[Mapping[str, Any]] = found["bounds"]
    if found["problem"]:
        return section("How values lie in the files", tag("p", found["problem"], class_="problem"))
    if not bounds:
        elsewhere = None if index_path == f"{path}/.hoodie/hudiidx" else index_path
        command = line("add-index", path, "COLUMN", index_path=elsewhere) or "HudiIndex.add_index"
        how = joined(
            [
                "No bounds of columns are indexed. Those of a column that queries filter by show here how "
                "well it is clustered: ",
                code(command),
            ]
        )
        return section("How values lie in the files", lead=how)
    notes = []
    if found["stride"] > 1:
        notes.append(f"One of {found['stride']:,} file slices was looked at.")
    if found["left_out"]:
        notes.append(f"{counted(found['left_out'], 'more column')} not shown.")
    lead = joined(["A filter skips the files whose values it cannot match. ", " ".join(notes)])
    cards = tag("div", *(_card(c) for c in bounds), class_="columns")
    return section("How values lie in the files", _key(), cards, _numbers(bounds), lead=lead)


def quality(skipped: float) -> tuple[str, str]:
    """A class and words for the share of files that a query skips."""
    if skipped >= _GOOD:
        return "good", "well clustered"
    return ("fair", "partly clustered") if skipped >= _FAIR else ("poor", "spread out")


def picture(grid: Sequence[str], told: str) -> Markup:
    """Rows are files, columns are values; the darker, the more of the files may hold the values.

    Args:
        grid: a row a text, in it a digit for each group of values: tenths of the files.
        told: the same in words.
    """
    by_tone: dict[str, list[str]] = {}
    for y, row in enumerate(grid):
        x = 0
        for tone, run in groupby(row):
            length = len(list(run))
            if tone != "0":
                by_tone.setdefault(tone, []).append(f"M{x} {y}h{length}v1h-{length}z")
            x += length
    paths = "".join(f'<path class="t{tone}" d="{"".join(d)}"/>' for tone, d in sorted(by_tone.items()))
    width = len(grid[0]) if grid else 1
    return tag(
        "svg",
        tag("title", told),
        Markup(paths),
        viewBox=f"0 0 {width} {max(1, len(grid))}",
        preserveAspectRatio="none",
        role="img",
        class_="picture",
    )


def _card(c: Mapping[str, Any]) -> Markup:
    skipped = c["skipped_of_one"]
    kind, words = quality(skipped)
    told = (
        f"{c['column']}, {words}: a query for one value skips {share(skipped)} of "
        f"{counted(c['slices'], 'file slice')}, one for a tenth of the values {share(c['skipped_of_tenth'])}."
    )
    ends = tag("p", tag("span", c["least"]), tag("span", c["greatest"]), class_="ends")
    drawn = picture(c["grid"], told) if c["grid"] else tag("p", "No bounds are known.", class_="problem")
    return tag(
        "article",
        tag("h3", c["column"], " ", tag("small", c["type"])),
        tag(
            "p",
            tag("b", share(skipped)),
            " skipped",
            tag("span", words, class_=f"pill {kind}"),
            class_="figure",
        ),
        drawn,
        ends if c["least"] or c["greatest"] else Markup(""),
    )


def _key() -> Markup:
    """Two made-up pictures, to compare with."""
    side = 16
    sorted_ = ["0" * y + "9" + "0" * (side - 1 - y) for y in range(side)]
    mixed = ["7" * side for _ in range(side)]
    return tag(
        "div",
        tag(
            "p",
            "Down are files, across are values from low to high. Filled: these files may hold these values, "
            "and a query for them reads the files.",
        ),
        tag(
            "figure", picture(sorted_, "Example: a thin line"), tag("figcaption", "Sorted: a query reads few")
        ),
        tag("figure", picture(mixed, "Example: a full square"), tag("figcaption", "Mixed: it reads all")),
        class_="legend",
    )


def _numbers(bounds: Sequence[Mapping[str, Any]]) -> Markup:
    headings = ("column", "type", "one value", "a tenth", "slices", "most at one value", "unknown", "empty")
    rows = [
        (
            c["column"],
            c["type"],
            share(c["skipped_of_one"]),
            share(c["skipped_of_tenth"]),
            f"{c['slices']:,}",
            f"{c['deepest']:,}",
            f"{c['unknown']:,}",
            f"{c['empty']:,}",
        )
        for c in bounds
    ]
    return tag("details", tag("summary", "As a table"), table(headings, rows, range(2, 8)))
