"""What tables, progress and coloured lines are drawn on."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from hudiidx._text import shown


class Terminal(Console):
    """A text in a line or a cell is shown as it is: no markup, control characters as escapes."""

    def __init__(self, **more: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **more)

    def render_str(self, text: str, **more: Any) -> Text:
        """What Rich makes of every text in lines and cells."""
        return super().render_str(shown(text), **{**more, "markup": False, "emoji": False})


def marked(*parts: tuple[str, str]) -> Text:
    """A cell of texts, each in a style, below one another."""
    return Text("\n").join(Text(shown(text), style) for text, style in parts if text)
