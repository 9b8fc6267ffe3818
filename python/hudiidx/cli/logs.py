"""Commands that look into a log file."""

from __future__ import annotations

from typing import Annotated

import typer

from hudiidx import _keys
from hudiidx.cli import out
from hudiidx.cli.app import ASK, IndexPath, Json, app, argument, command, plain, run_plain
from hudiidx.cli.reads import Strict

_log = typer.Typer(no_args_is_help=True, help="Look into a log file: its blocks, and keys in it.")
app.add_typer(_log, name="log", rich_help_panel=ASK)

_A_LOG = "/data/trips/oslo/.f1-0_20261101120000000.log.1_0-1-1"
LogFile = Annotated[str, argument("FILE", "A log file of a table.")]


@command(ASK, f"hudiidx log show {_A_LOG}", name="show", of=_log)
def log_show(
    file: LogFile, json_: Json = False, index_path: IndexPath = None, strict: Strict = False
) -> None:
    """Show the blocks of a log file: kinds, instants, keys, and how each is indexed."""
    found = plain("log-show", file, index_path=index_path, strict=strict)
    from hudiidx.cli import render

    if json_:
        out.document(found)
    else:
        render.log_blocks(out.console(), found)


@command(
    ASK,
    f"hudiidx log find {_A_LOG} k1 k2",
    name="find",
    of=_log,
)
def log_find(
    file: LogFile,
    keys: Annotated[list[str], argument("KEY...", "Record keys.")],
    json_: Json = False,
    index_path: IndexPath = None,
    strict: Strict = False,
) -> None:
    """Find the versions of keys in a log file; exit code 1 if it has none of a key."""
    options = {"index_path": index_path, "strict": strict}
    found = run_plain("log-find", file, _keys.pack(keys), options)
    from hudiidx.cli import render

    if json_:
        out.document(found)
    else:
        render.log_hits(out.console(), found)
    if found["missing"]:
        raise typer.Exit(1)
