"""Bar charts: what the script draws, and the table behind each for those who cannot see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hudiidx._text import counted, size, unit_of
from hudiidx.report.markup import Markup, Text, html, moment, table, tag

_COLORS = ("--blue", "--teal", "--amber", "--violet", "--red")


@dataclass(frozen=True)
class Series:
    """Bars of one colour, a number for each place, None where there is no bar."""

    name: str
    values: Sequence[float | None]


@dataclass(frozen=True)
class Chart:
    """Bars side by side.

    Attributes:
        id: of the element that it is drawn in.
        title: what it shows.
        labels: short names of the places, for the axis.
        full: the same in full, for who points at a bar.
        told: what its bars say, in a sentence.
        unit: of the numbers, for the axis and the bars.
        rows: the table behind it, below ``headings``.
        texts: how many of its first columns are no numbers.
        counts: the bars are whole numbers.
    """

    id: str
    title: str
    labels: Sequence[str]
    full: Sequence[str]
    series: Sequence[Series]
    unit: str
    told: str
    headings: Sequence[str]
    rows: Sequence[Sequence[Text]] = field(repr=False)
    texts: int = 1
    counts: bool = True

    def spec(self) -> dict[str, Any]:
        """What the script needs."""
        series = [
            {"name": s.name, "color": color, "values": list(s.values)}
            for s, color in zip(self.series, _COLORS, strict=False)
        ]
        return {
            "id": self.id,
            "unit": self.unit,
            "counts": self.counts,
            "labels": list(self.labels),
            "full": list(self.full),
            "series": series,
        }

    def figure(self) -> Markup:
        """Where it is drawn, and its text."""
        key = Markup("")
        if len(self.series) > 1:
            names = zip(self.series, _COLORS, strict=False)
            key = tag(
                "span",
                *(tag("span", s.name, class_="key", style=f"--key: var({color})") for s, color in names),
                class_="keys",
            )
        numbers = range(self.texts, len(self.headings))
        return tag(
            "figure",
            tag("figcaption", tag("b", self.title), key),
            tag(
                "div",
                class_="chart",
                id=self.id,
                role="img",
                aria_label=f"Bar chart, {self.title}. {self.told}",
            ),
            tag("p", self.told, class_="told"),
            tag("details", tag("summary", "As a table"), table(self.headings, self.rows, numbers)),
        )


def counts(id: str, title: str, bins: Sequence[Mapping[str, int]], what: str, of: str) -> Chart:
    """How many ``what`` have how many ``of``."""
    names = [_range(f"{b['from']:,}", f"{b['last']:,}") for b in bins]
    return _histogram(id, title, bins, names, names, what, of + "s")


def sizes(id: str, title: str, bins: Sequence[Mapping[str, int]], what: str) -> Chart:
    """How many ``what`` are how large."""
    short = [size(b["from"]).replace(".0 ", " ") for b in bins]
    full = [f"{s} to {size(b['last'] + 1).replace('.0 ', ' ')}" for s, b in zip(short, bins, strict=True)]
    return _histogram(id, title, bins, short, full, what, "size")


def _histogram(
    id: str,
    title: str,
    bins: Sequence[Mapping[str, int]],
    short: Sequence[str],
    full: Sequence[str],
    what: str,
    heading: str,
) -> Chart:
    numbers = [b["count"] for b in bins]
    most = max(range(len(bins)), key=numbers.__getitem__)
    unit = "" if heading == "size" else f" {heading}"
    told = f"{numbers[most]:,} of {counted(sum(numbers), what)}: {full[most]}{unit}."
    rows = [(name, f"{n:,}") for name, n in zip(full, numbers, strict=True)]
    return Chart(
        id, title, short, full, [Series(what, numbers)], f"{what}s", told, (heading, f"{what}s"), rows
    )


def _range(low: str, high: str) -> str:
    return low if low == high else f"{low}–{high}"  # noqa: RUF001


def writes(timeline: Mapping[str, Any]) -> Chart:
    """What each of the newest writes left, by action."""
    found: Sequence[Mapping[str, Any]] = timeline["writes"]
    unit, factor = unit_of(max(w["bytes"] for w in found))
    actions = sorted({w["action"] for w in found}, key=_ACTIONS.index)
    series = [
        Series(a, [round(w["bytes"] / factor, 3) if w["action"] == a else None for w in found])
        for a in actions
    ]
    rows: list[list[Text]] = [
        [
            w["instant_time"],
            w["operation"].lower() or w["action"],
            moment(w["millis"]),
            "" if w["seconds"] is None else f"{w['seconds']:,.1f}",
            f"{w['inserts']:,}",
            f"{w['updates']:,}",
            f"{w['deletes']:,}",
            f"{w['files']:,}",
            size(w["bytes"]),
        ]
        for w in reversed(found)
    ]
    full = [f"{w['operation'].lower() or w['action']}, {moment(w['millis'])}" for w in found]
    total, older = sum(w["bytes"] for w in found), timeline["older_writes"]
    more = f" {counted(older, 'older write')} of the active timeline not shown." if older else ""
    files = counted(sum(w["files"] for w in found), "file")
    told = f"The last {counted(len(found), 'write')} left {size(total)} in {files}.{more}"
    headings = ("instant", "write", "at", "seconds", "inserts", "updates", "deletes", "files", "bytes")
    labels = [moment(w["millis"])[5:16] for w in found]
    return Chart(
        "writes", "Data written", labels, full, series, unit, told, headings, rows, texts=3, counts=False
    )


_ACTIONS = ("commit", "deltacommit", "compaction", "replacecommit")


def pictured(charts: Sequence[Chart]) -> Markup:
    """Charts beside each other as far as there is room."""
    return tag("div", *(html(c.figure()) for c in charts), class_="charts")
