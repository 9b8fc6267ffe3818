"""All that commands print: nothing else prints, but for what `terminal` draws.

Names of columns, partitions and files are others' choice. In lines they are texts: a line is one line, and a
control character is its escape. Documents in JSON stay exact, by escapes of JSON's.
"""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Any

import typer

from hudiidx._text import HIDDEN, shown

if TYPE_CHECKING:
    from hudiidx.cli.terminal import Terminal


def console(stderr: bool = False) -> Terminal:
    """Where tables and progress are drawn."""
    from hudiidx.cli.terminal import Terminal

    return Terminal(stderr=stderr)


def line(text: object, stderr: bool = False) -> None:
    """One line, at once."""
    print(shown(str(text)), file=sys.stderr if stderr else sys.stdout, flush=True)


def document(found: Any, indent: int | None = 2, stderr: bool = False) -> None:
    """A document in JSON: what a terminal would obey is an escape of JSON's, which says the same."""
    text = HIDDEN.sub(_json_escape, json.dumps(found, ensure_ascii=False, indent=indent))
    print(text, file=sys.stderr if stderr else sys.stdout, flush=True)


def _json_escape(found: re.Match[str]) -> str:
    """Ends of lines are the document's own: JSON has escapes for those in texts."""
    return found[0] if found[0] == "\n" else f"\\u{ord(found[0]):04x}"


def usage(text: str) -> Exception:
    """For what the caller got wrong."""
    return typer.BadParameter(shown(text))


def require_yes(question: str) -> None:
    """Asks, and ends the command unless the answer is yes."""
    typer.confirm(shown(question), abort=True)
