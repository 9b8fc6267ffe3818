"""Commands that write files beside the index proper, or remove some: they need no Spark."""

from __future__ import annotations

from typing import Annotated

import typer

from hudiidx.cli import out
from hudiidx.cli.app import (
    ELSEWHERE,
    MAKE,
    IndexPath,
    Json,
    Path_,
    app,
    command,
    filled,
    optional,
    plain,
    print_document,
)

_export = typer.Typer(no_args_is_help=True, help="Name the table's files for engines that know files alone.")
app.add_typer(_export, name="export", rich_help_panel=ELSEWHERE)


@command(
    ELSEWHERE,
    "hudiidx export symlink-manifest /data/trips",
    "hudiidx export symlink-manifest /data/trips --read-optimized --keep",
    name="symlink-manifest",
    of=_export,
)
def symlink_manifest(
    table: Path_,
    output: Annotated[
        str | None,
        optional(
            "-o",
            "--output",
            metavar="PATH",
            help="Folder; default: symlink_manifest in the index.",
            callback=filled,
        ),
    ] = None,
    read_optimized: Annotated[
        bool, typer.Option("--read-optimized", help="Base files, though newer rows stand in log files.")
    ] = False,
    keep: Annotated[
        bool | None,
        optional("--keep/--no-keep", help="Let every update of the index bring it up from now on."),
    ] = None,
    json_: Json = False,
    index_path: IndexPath = None,
) -> None:
    """Write texts that name the latest base files, for Presto, Trino and Athena."""
    kept: dict[str, bool] = {} if keep is None else {"keep" if keep else "no_keep": True}
    done = plain(
        "export-symlinks", table, output=output, read_optimized=read_optimized, index_path=index_path, **kept
    )
    print_document(done, json_)


@command(
    MAKE, "hudiidx expire /data/trips", "hudiidx expire /data/trips --retain-last 1 --older-than-minutes 0"
)
def expire(
    table: Path_,
    retain_last: Annotated[
        int | None, optional("--retain-last", min=1, help="Newest versions that stay at any age; 3.")
    ] = None,
    older_than_minutes: Annotated[
        int | None,
        optional("--older-than-minutes", min=0, help="Versions replaced less than this ago stay; 60."),
    ] = None,
    json_: Json = False,
    index_path: IndexPath = None,
) -> None:
    """Remove old versions of the index, and files that no version names. Each update does so too."""
    numbers = {"retain_last": retain_last, "older_than_minutes": older_than_minutes}
    texts = {name: None if n is None else str(n) for name, n in numbers.items()}
    found = plain("expire", table, index_path=index_path, **texts)
    if json_:
        print_document(found, json_)
    else:
        for name in found["removed"]:
            out.line(name)
        out.line(f"{len(found['removed'])} files removed")
