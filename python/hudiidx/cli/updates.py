"""Commands that change something: the index, the table by a compaction, a file of tagged rows."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hudiidx.cli import out
from hudiidx.cli.app import (
    ELSEWHERE,
    MAKE,
    TABLE,
    Conf,
    IndexPath,
    Json,
    Master,
    Path_,
    argument,
    command,
    filled,
    optional,
    print_document,
    with_spark,
)

if TYPE_CHECKING:
    from hudiidx.index import HudiIndex

What = Annotated[
    list[str],
    argument("WHAT...", "The part of the index: record, logs, or columns."),
]
Kind = Annotated[
    str | None,
    optional("--kind", metavar="KIND", help="Of an index on columns: range, bloom, values, or another."),
]
Window = Annotated[
    int | None, optional("--window-days", min=1, help="Only records committed in so many last days.")
]
FileGroups = Annotated[
    int | None, optional("--file-groups", min=1, help="Hash groups of the record index; default by size.")
]
_MODES = "global (a key is one record of the table) or partitioned (of its partition)"


@command(
    MAKE,
    "hudiidx create /data/trips",
    "hudiidx create /data/trips --record global --columns ts,fare --bloom rider",
    "hudiidx create s3a://lake/trips --master spark://master:7077 --conf spark.executor.memory=4g",
)
def create(
    table: Path_,
    json_: Json = False,
    index_path: IndexPath = None,
    record: Annotated[
        str | None, optional("--record", metavar="MODE", help=f"Also a record index: {_MODES}.")
    ] = None,
    window_days: Window = None,
    file_groups: FileGroups = None,
    columns: Annotated[
        str | None,
        optional("--columns", metavar="A,B", help="Index the bounds of these columns; * for all."),
    ] = None,
    bloom: Annotated[
        str | None, optional("--bloom", metavar="A,B", help="Bloom filters of these columns.")
    ] = None,
    bloom_fpp: Annotated[
        float | None, optional("--bloom-fpp", help="Share of absent values that these let pass; 0.01.")
    ] = None,
    values: Annotated[
        str | None, optional("--values", metavar="A,B", help="Columns with few values in a file.")
    ] = None,
    index: Annotated[
        list[str] | None,
        optional("--index", metavar="KIND(A,B)", help="An index of another kind; may be repeated."),
    ] = None,
    never: Annotated[
        str | None, optional("--never", metavar="A,B", help="Hold no value of these columns, now or later.")
    ] = None,
    logs: Annotated[
        bool | None, optional("--logs/--no-logs", help="Keep an index of the keys of log blocks.")
    ] = None,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Make the index.

    An index holds values of the table in the clear: names of partitions, and, of what is indexed, record
    keys, bounds, values and bloom filters. Whoever may read its folder may read them.
    """
    done = with_spark(
        table,
        "creating the index",
        lambda i: i.create(
            record=record,
            window_days=window_days,
            file_groups=file_groups,
            columns=columns,
            bloom=bloom,
            bloom_fpp=bloom_fpp,
            values=values,
            indexes=index or None,
            never=never,
            logs=logs,
        ),
        index_path,
        master,
        conf,
    )
    print_document(done, json_)


@command(
    MAKE,
    "hudiidx add-index /data/trips record",
    "hudiidx add-index /data/trips fare addr.city",
    "hudiidx add-index /data/trips rider --kind bloom --fpp 0.001",
    "hudiidx add-index /data/trips logs",
    name="add-index",
)
def add_index(
    table: Path_,
    what: What,
    kind: Kind = None,
    fpp: Annotated[
        float | None, optional("--fpp", help="Of a bloom filter: share of absent values let pass.")
    ] = None,
    mode: Annotated[str | None, optional("--mode", metavar="MODE", help=f"{_MODES}; default global.")] = None,
    window_days: Window = None,
    file_groups: FileGroups = None,
    no_wait: Annotated[
        bool,
        typer.Option("--no-wait", help="Of columns: only note it, the next update makes the index."),
    ] = False,
    json_: Json = False,
    index_path: IndexPath = None,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Make a part of the index, or make it anew: record, logs (of the keys of log blocks), or on columns."""
    options: dict[str, Any] = {} if fpp is None else {"fpp": fpp}

    def work(index: HudiIndex) -> Mapping[str, Any]:
        if no_wait and mode is None and window_days is None and file_groups is None:
            return index._note_index(_part(what), kind, options)
        return index.add_index(
            _part(what),
            kind=kind,
            mode=mode,
            window_days=window_days,
            file_groups=file_groups,
            wait=not no_wait,
            **options,
        )

    done = with_spark(
        table,
        f"making the index on {', '.join(what)}",
        work,
        index_path,
        master,
        conf,
    )
    print_document(done, json_)


@command(
    MAKE,
    "hudiidx drop-index /data/trips fare",
    "hudiidx drop-index /data/trips rider --kind bloom",
    name="drop-index",
)
def drop_index(
    table: Path_,
    what: What,
    kind: Kind = None,
    json_: Json = False,
    index_path: IndexPath = None,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Remove a part of the index; the listing stays. Where there is no such part, it says so."""
    done = with_spark(
        table,
        f"removing the index on {', '.join(what)}",
        lambda i: i.drop_index(_part(what), kind=kind),
        index_path,
        master,
        conf,
    )
    print_document(done, json_)
    if not done["published"]:
        out.line(f"there is no such index on {', '.join(what)}: nothing to remove", stderr=True)


def _part(what: list[str]) -> str | list[str]:
    return what[0] if len(what) == 1 else what


@command(MAKE, "hudiidx update /data/trips", "hudiidx update /data/trips --json")
def update(
    table: Path_,
    json_: Json = False,
    index_path: IndexPath = None,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Bring the index up to the timeline."""
    done = with_spark(table, "updating the index", lambda i: i.update(), index_path, master, conf)
    print_document(done, json_)


@command(
    TABLE,
    "hudiidx compact-table /data/trips",
    "hudiidx compact-table /data/trips --partition 2026-11-01 --op schedule",
    name="compact-table",
)
def compact_table(
    table: Path_,
    op: Annotated[
        str,
        typer.Option("--op", metavar="OP", help="schedule_and_execute, schedule or execute."),
    ] = "schedule_and_execute",
    partition: Annotated[
        list[str] | None,
        optional("--partition", metavar="P", help="Plan for this partition path only; may be repeated."),
    ] = None,
    json_: Json = False,
    index_path: IndexPath = None,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Merge the log files of a merge-on-read table into base files."""

    def work(index: HudiIndex) -> Mapping[str, Any]:
        return index.compact_table(op=op, partitions=partition)

    done = with_spark(table, "compacting the table", work, index_path, master, conf)
    if json_:
        print_document(done, json_)
    else:
        from hudiidx.cli import render

        render.compacted(out.console(), done)


@command(MAKE, "hudiidx drop /data/trips", "hudiidx drop /data/trips --yes")
def drop(
    table: Path_,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json_: Json = False,
    index_path: IndexPath = None,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Remove the index; the table stays as it is."""
    if not yes:
        if not sys.stdin.isatty():
            raise out.usage("drop asks before it removes the index; pass --yes where nobody can answer")
        out.require_yes(f"Remove the index of {table}?")
    done = with_spark(table, "removing the index", lambda i: i.drop(), index_path, master, conf)
    print_document({"dropped": table if done else None}, json_)
    if not done:
        out.line(f"there is no index of {table}: nothing to remove", stderr=True)


@command(
    ELSEWHERE,
    "hudiidx tag /data/trips keys.csv --key id -o tagged",
    "hudiidx tag /data/trips rows.parquet --key a --key b -o tagged.parquet --overwrite",
)
def tag(
    table: Path_,
    file: Annotated[
        str,
        argument("FILE", "Rows with keys: .csv, .json or .parquet."),
    ],
    key: Annotated[
        list[str],
        typer.Option("--key", metavar="COLUMN", help="The key's column; once for each field of the key."),
    ],
    output: Annotated[
        str,
        typer.Option("-o", "--output", metavar="OUT", help="File or folder to write.", callback=filled),
    ],
    partition: Annotated[
        str | None,
        optional(
            "--partition-column", metavar="COLUMN", help="Only locations in the partition that it names."
        ),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")] = False,
    json_: Json = False,
    index_path: IndexPath = None,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Add partition path, file id and instant time to rows by their record keys."""

    def work(index: HudiIndex) -> dict[str, object]:
        return tag_file(index, index.spark, file, key, partition, output, overwrite)

    from hudiidx.cli.tag import require_names, tag_file

    require_names(file, output, overwrite)

    print_document(with_spark(table, "tagging rows", work, index_path, master, conf), json_)
