"""Commands that read: listings, records by key, and what an index is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hudiidx import _keys, _shell
from hudiidx.cli import out
from hudiidx.cli.app import (
    ASK,
    CHECK,
    ELSEWHERE,
    Conf,
    IndexPath,
    Json,
    Master,
    Path_,
    argument,
    arguments_of,
    command,
    lines_of,
    optional,
    plain,
    print_document,
    run_plain,
    with_spark,
)

if TYPE_CHECKING:
    from hudiidx.index import HudiIndex

# What brings an index in a state to READY.
_NEXT = {"ABSENT": "create", "BROKEN": "create", "LAGGING": "update"}

Strict = Annotated[bool, typer.Option("--strict", help="Fail instead of answering without the index.")]
Partition = Annotated[str | None, optional("--partition", metavar="P", help="One partition path only.")]
AsOf = Annotated[str | None, optional("--as-of", metavar="INSTANT", help="As the table was at this instant.")]
Limit = Annotated[
    int | None,
    optional("--limit", min=1, max=2**31 - 2, help="Rows to show; default 200, with --json all."),
]
_SHOWN = 200


@command(ASK, "hudiidx info /data/trips", "hudiidx info /data/trips --json")
def info(table: Path_, json_: Json = False, index_path: IndexPath = None) -> None:
    """Show the state of the index."""
    found = plain("info", table, index_path=index_path)
    print_document(found, json_)
    if not json_ and found["state"] in _NEXT:
        out.line(f"run {_shell.command(_NEXT[found['state']], table, index_path=index_path)}", stderr=True)


@command(ASK, "hudiidx partitions /data/trips", "hudiidx partitions /data/trips --json")
def partitions(
    table: Path_,
    json_: Json = False,
    index_path: IndexPath = None,
    strict: Strict = False,
    limit: Limit = None,
) -> None:
    """List the partitions."""
    _listing("partitions", table, json_, limit, index_path, strict)


@command(
    ASK,
    "hudiidx files /data/trips --partition 2026-11-01",
    "hudiidx files /data/trips --as-of 20261101120000000 --limit 20",
)
def files(
    table: Path_,
    json_: Json = False,
    index_path: IndexPath = None,
    strict: Strict = False,
    partition: Partition = None,
    as_of: AsOf = None,
    limit: Limit = None,
) -> None:
    """List the committed files."""
    _listing("files", table, json_, limit, index_path, strict, partition=partition, as_of=as_of)


@command(ASK, "hudiidx slices /data/trips --partition 2026-11-01 --json")
def slices(
    table: Path_,
    json_: Json = False,
    index_path: IndexPath = None,
    strict: Strict = False,
    partition: Partition = None,
    as_of: AsOf = None,
    limit: Limit = None,
) -> None:
    """List the latest file slices."""
    _listing("slices", table, json_, limit, index_path, strict, partition=partition, as_of=as_of)


@command(
    ASK,
    "hudiidx lookup /data/trips k1 k2",
    "hudiidx lookup /data/trips --file keys.txt --json",
    "hudiidx lookup /data/trips a:1,b:2 --rows",
)
def lookup(
    table: Path_,
    keys: Annotated[list[str] | None, argument("KEY...", "Record keys.")] = None,
    file: Annotated[
        str | None,
        optional("--file", metavar="FILE", help="Also the keys in a file, one a line; - is stdin."),
    ] = None,
    rows: Annotated[bool, typer.Option("--rows", help="Show the records themselves; starts Spark.")] = False,
    json_: Json = False,
    index_path: IndexPath = None,
    strict: Strict = False,
    partition: Partition = None,
    as_of: AsOf = None,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Find records by key; exit code 1 if a key has no location. Several key fields: a:1,b:2."""
    asked = [*(keys or ()), *(lines_of(file, "--file") if file else ())]
    if not asked:
        raise out.usage("no keys: name them behind the table, or pass --file")
    if not rows and (master or conf):
        raise out.usage("--master and --conf are for --rows")
    from hudiidx.cli import render

    if rows:
        from hudiidx.cli.rows import found_rows

        def work(index: HudiIndex) -> dict[str, Any]:
            return found_rows(index, asked, partition, as_of)

        found = with_spark(table, "reading records", work, index_path, master, conf, strict)
    else:
        options = {"index_path": index_path, "strict": strict, "partition": partition, "as_of": as_of}
        found = run_plain("lookup", table, _keys.pack(asked), options)
        _warn_of(found, table, index_path, "record keys were read from files", "create --record global")
    if json_:
        out.document(found)
    elif rows:
        render.rows(out.console(), found)
    else:
        render.locations(out.console(), found)
    if found["missing"]:
        raise typer.Exit(1)


@command(ASK, "hudiidx prune /data/trips \"fare > 90 and city = 'oslo'\"")
def prune(
    table: Path_,
    where: Annotated[
        str,
        argument("FILTER", "In Spark SQL, as \"fare > 90 and city = 'oslo'\"."),
    ],
    json_: Json = False,
    index_path: IndexPath = None,
    as_of: AsOf = None,
    limit: Limit = None,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Show the files that a query with this filter reads, and which indexes decided that."""

    def pruned(index: HudiIndex) -> dict[str, Any]:
        rows = [row.asDict() for row in index.prune(where, as_of).collect()]
        by = rows[0]["decided_by"] if rows else ""
        files = [{k: v for k, v in row.items() if k != "decided_by"} for row in rows]
        return {"files": files, "decided_by": by}

    found = None
    if not master and not conf:
        from hudiidx.cli.plain import prune as without_spark

        found = without_spark(table, where, arguments_of({"index_path": index_path, "as_of": as_of}))
    if found is None:
        found = with_spark(table, "planning", pruned, index_path, master, conf)
    from hudiidx.cli import render

    if json_:
        out.document({**found, "files": found["files"][:limit]})
    else:
        render.files(out.console(), found["files"], limit or _SHOWN)
        out.line(f"decided by: {found['decided_by'] or 'no index'}")


@command(CHECK, "hudiidx verify /data/trips", "hudiidx verify /data/trips --record --columns")
def verify(
    table: Path_,
    record: Annotated[
        bool, typer.Option("--record", help="Also compare the record index with the keys in all files.")
    ] = False,
    columns: Annotated[
        bool, typer.Option("--columns", help="Also compare the indexes on columns with all files.")
    ] = False,
    scratch: Annotated[
        str | None,
        optional(
            "--scratch", metavar="PATH", help="With --record: sort keys in this folder, not the index's."
        ),
    ] = None,
    json_: Json = False,
    index_path: IndexPath = None,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Compare the index with the table; exit code 1 if they differ."""
    if scratch and not record:
        raise out.usage("--scratch is for --record")
    found = with_spark(
        table,
        "verifying the index",
        lambda i: i.verify(record=record, columns=columns, scratch=scratch),
        index_path,
        master,
        conf,
    )
    from hudiidx.cli import render

    if json_:
        out.document(asdict(found))
    else:
        render.verified(out.console(), found)
    if not found.ok:
        raise typer.Exit(1)


@command(CHECK, "hudiidx perf /data/trips")
def perf(
    table: Path_,
    json_: Json = False,
    index_path: IndexPath = None,
    sweep: Annotated[bool, typer.Option("--sweep", help="Also try other page sizes and codecs.")] = False,
) -> None:
    """Time the index against plain listing: RFC-15's "metadata perf" table."""
    found = plain("perf", table, index_path=index_path, sweep=sweep)
    from hudiidx.cli import render

    if json_:
        out.document(found)
        return
    render.perf(out.console(), found)


@command(
    ELSEWHERE,
    "spark-submit --jars $(hudiidx jar) job.py",
    'spark-submit --jars "hudi-spark3.5-bundle_2.12-1.2.0.jar,$(hudiidx jar --writer)" job.py',
)
def jar(
    writer: Annotated[bool, typer.Option("--writer", help="Also the jar with the index class.")] = False,
    json_: Json = False,
) -> None:
    """Print the path of the jar, for spark-submit --jars; with --writer two, comma between them."""
    from hudiidx.session import jar_path, writer_jars

    jars = list(map(str, writer_jars() if writer else [jar_path()]))
    if json_:
        out.document({"jars": jars})
    else:
        out.line(",".join(jars))


def _listing(
    what: str,
    table: str,
    as_json: bool,
    limit: int | None,
    index_path: str | None,
    strict: bool,
    **options: str | None,
) -> None:
    """Prints the listing ``what``; asks for one row more than is shown, to know whether there are more."""
    shown = limit or _SHOWN
    asked = limit if as_json else shown + 1
    cut = None if asked is None else str(asked)
    found = plain(what, table, index_path=index_path, strict=strict, limit=cut, **options)
    from hudiidx.cli import render

    _warn_of(found, table, index_path, "the table was listed")
    if as_json:
        out.document(found)
    else:
        getattr(render, what)(out.console(), found[what], shown)
        if options.get("partition") is not None and not found[what]:
            see = _shell.command("partitions", table, index_path=index_path)
            out.line(
                f"hudiidx: partition {options['partition']!r} has none; {see} lists those there are",
                stderr=True,
            )


def _warn_of(
    found: Mapping[str, Any], table: str, index_path: str | None, instead: str, first: str = "create"
) -> None:
    """``first`` makes what is missing where there is no index at all."""
    code = found.get("fallback")
    if code:
        see = _shell.command("doctor", table, index_path=index_path)
        if code in ("NO_RECORD_INDEX", "DAMAGED_RECORD_INDEX"):
            repair = _shell.command("add-index", table, "record", index_path=index_path)
        else:
            repair = _shell.command(first if code == "NO_INDEX" else "create", table, index_path=index_path)
        out.line(
            f"hudiidx: warning: the index was not used ({code}), {instead}; see {see}, repair with {repair}",
            stderr=True,
        )
