"""Pieces of HTML that all parts of the page are made of. Texts are escaped here, and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime, timezone
from html import escape
from typing import Any

from hudiidx._text import shown


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


Text = str | Markup


def html(text: Text) -> Markup:
    """The text, escaped unless it is HTML already."""
    return text if isinstance(text, Markup) else Markup(escape(shown(text)))


def tag(name: str, *content: Text, **attributes: str) -> Markup:
    """An element; ``class_`` is the attribute ``class``, and ``aria_label`` is ``aria-label``."""
    told = "".join(f' {k.rstrip("_").replace("_", "-")}="{escape(shown(v))}"' for k, v in attributes.items())
    return Markup(f"<{name}{told}>{''.join(map(html, content))}</{name}>")


def in_script(document: Any) -> Markup:
    """A document as a script of the page reads it: its texts are shown, and none ends the script."""
    return Markup(json.dumps(_shown(document), ensure_ascii=False).replace("<", "\\u003c"))


def _shown(document: Any) -> Any:
    if isinstance(document, str):
        return shown(document)
    if isinstance(document, dict):
        return {name: _shown(value) for name, value in document.items()}
    return [_shown(d) for d in document] if isinstance(document, list) else document


def frame(page: str, title: str, style: str) -> Markup:
    """A document in a frame of its own: the styles around it and its own do not mix."""
    return Markup(f'<iframe srcdoc="{escape(page)}" title="{html(title)}" style="{html(style)}"></iframe>')


def joined(parts: Iterable[Text]) -> Markup:
    """One behind the other."""
    return Markup("".join(map(html, parts)))


def table(headings: Sequence[str], rows: Iterable[Sequence[Text]], numbers: Iterable[int] = ()) -> Markup:
    """A table that scrolls by itself where it is too wide; ``numbers``: columns that are set to the right."""
    right = set(numbers)

    def cells(name: str, row: Sequence[Text]) -> Markup:
        return tag(
            "tr", *(tag(name, c, class_="n") if i in right else tag(name, c) for i, c in enumerate(row))
        )

    head, body = tag("thead", cells("th", headings)), tag("tbody", *(cells("td", r) for r in rows))
    return tag("div", tag("table", head, body), class_="scroll", tabindex="0")


def section(title: str, *content: Text, lead: Text = "") -> Markup:
    """A part of the page, with a sentence or two under its title."""
    intro = tag("p", lead, class_="lead") if lead else Markup("")
    return tag("section", tag("h2", title), intro, *content)


def bar(share: float) -> Markup:
    """A length that shows a share of 1; the number stands beside it."""
    width = f"--w: {max(0.0, min(1.0, share)) * 100:.1f}%"
    return tag("span", class_="bar", style=width, aria_hidden="true")


def code(text: str) -> Markup:
    """A name, a path or a command."""
    return tag("code", text)


def moment(millis: int | None) -> str:
    """``2026-01-31 17:05 UTC``; a dash where it is not known, or is not one of the years 1 to 9999."""
    try:
        if millis is not None:
            return f"{datetime.fromtimestamp(millis / 1000, timezone.utc):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, ValueError, OSError):
        pass
    return "–"  # noqa: RUF001
