"""The command ``hudiidx``: arguments in, the answer out, an exit code that says how it went.

Exit codes: 0 done; 1 ``verify`` found differences, ``lookup`` or ``log find`` missed a key; 2 wrong usage,
or SQL that Spark cannot take; 3 the table; 4 the index; 5 anything else.
"""

from __future__ import annotations

import sys
from typing import Any, NoReturn

from typer import BadParameter

from hudiidx._text import masked
from hudiidx.cli import doctor, logs, out, reads, report, updates, upkeep, watch  # noqa: F401 - with them come the commands
from hudiidx.cli.app import app
from hudiidx.cli.plain import CommandFailed
from hudiidx.errors import HudiIdxException, exit_code

# Click's, which newer releases of Typer bring in a package of their own.
_USAGE: Any = BadParameter.__base__


def main() -> None:
    """Runs the command; a failure is one line on stderr, or with ``--json`` one JSON document."""
    try:
        _run()
    except HudiIdxException as e:
        _fail(type(e).__name__, str(e), exit_code(e))
    except (CommandFailed, RuntimeError, ValueError) as e:
        _fail(type(e).__name__, str(e), 5)
    except Exception as e:  # a Java stack trace says nothing to a user of a command
        kind, message = type(e).__name__, str(e).strip().split("\n\tat ")[0]
        if kind == "ParseException":  # Spark's, as is the next: its first line tells the place in the SQL
            _fail(kind, message.split("\n")[0], 2)
        if kind == "AnalysisException":  # behind its first line is a plan
            _fail(kind, message.split(";")[0].split("\n")[0], 2)
        _fail(kind, message, 5)


def _run() -> None:
    """With ``--json`` wrong usage is a document too, not Typer's picture of it."""
    if "--json" not in sys.argv:
        app()
    try:
        code = app(standalone_mode=False)
    except _USAGE as e:
        _fail("UsageError", e.format_message(), 2)
    sys.exit(code if isinstance(code, int) else 0)


def _fail(kind: str, message: str, code: int) -> NoReturn:
    if "--json" in sys.argv:
        out.document({"error": kind, "message": masked(message)}, indent=None, stderr=True)
    else:
        out.line(f"hudiidx: {kind}: {message}", stderr=True)
    sys.exit(code)
