"""The command ``hudiidx``: arguments in, the answer out, an exit code that says how it went.

Exit codes: 0 done; 1 ``verify`` found differences, ``lookup`` or ``log find`` missed a key; 2 wrong usage;
3 the table; 4 the index; 5 anything else.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hudiidx import _keys
from hudiidx.cli.plain import CommandFailed, run
from hudiidx.errors import HudiIdxException, exit_code

if TYPE_CHECKING:
    from rich.console import Console

    from hudiidx.index import HudiIndex

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Index an Apache Hudi table, list it and find its records from the index.",
    epilog="Exit codes: 0 done, 1 verify found differences or lookup missed a key, 2 usage, 3 the table, "
    "4 the index, 5 other.",
)
_log = typer.Typer(no_args_is_help=True, help="Look into a log file: its blocks, and keys in it.")
app.add_typer(_log, name="log")

Path_ = Annotated[str, typer.Argument(metavar="TABLE", help="Folder or URI of the Hudi table.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
IndexPath = Annotated[
    str | None,
    typer.Option("--index-path", metavar="PATH", help="Where the index lives, if not in the table."),
]
Strict = Annotated[bool, typer.Option("--strict", help="Fail instead of answering without the index.")]
Partition = Annotated[str | None, typer.Option("--partition", metavar="P", help="One partition path only.")]
AsOf = Annotated[
    str | None, typer.Option("--as-of", metavar="INSTANT", help="As the table was at this instant.")
]
Limit = Annotated[
    int | None, typer.Option("--limit", min=1, help="Rows to show; default 200, with --json all.")
]
What = Annotated[
    list[str],
    typer.Argument(metavar="WHAT...", help="The part of the index: record, logs, or columns."),
]
Kind = Annotated[
    str | None,
    typer.Option("--kind", metavar="KIND", help="Of an index on columns: range, bloom, values, or another."),
]
Window = Annotated[
    int | None, typer.Option("--window-days", min=1, help="Only records committed in so many last days.")
]
FileGroups = Annotated[
    int | None, typer.Option("--file-groups", min=1, help="Hash groups of the record index; default by size.")
]
_MODES = "global (a key is one record of the table) or partitioned (of its partition)"
_SHOWN = 200
LogFile = Annotated[str, typer.Argument(metavar="FILE", help="A log file of a table.")]
Master = Annotated[
    str | None, typer.Option("--master", metavar="URL", help="Spark master; default local[*].")
]
Conf = Annotated[
    list[str] | None, typer.Option("--conf", metavar="NAME=VALUE", help="A Spark setting; may be repeated.")
]


@app.command()
def create(
    table: Path_,
    json_: Json = False,
    index_path: IndexPath = None,
    record: Annotated[
        str | None, typer.Option("--record", metavar="MODE", help=f"Also a record index: {_MODES}.")
    ] = None,
    window_days: Window = None,
    file_groups: FileGroups = None,
    columns: Annotated[
        str | None,
        typer.Option("--columns", metavar="A,B", help="Index the bounds of these columns; * for all."),
    ] = None,
    bloom: Annotated[
        str | None, typer.Option("--bloom", metavar="A,B", help="Bloom filters of these columns.")
    ] = None,
    bloom_fpp: Annotated[
        float | None, typer.Option("--bloom-fpp", help="Absent values that these take for present; 0.01.")
    ] = None,
    values: Annotated[
        str | None, typer.Option("--values", metavar="A,B", help="Columns with few values in a file.")
    ] = None,
    index: Annotated[
        list[str] | None,
        typer.Option("--index", metavar="KIND(A,B)", help="An index of another kind; may be repeated."),
    ] = None,
    logs: Annotated[
        bool | None, typer.Option("--logs/--no-logs", help="Keep an index of the keys of log blocks.")
    ] = None,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Make the index."""
    done = _with_spark(
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
            logs=logs,
        ),
        index_path,
        master,
        conf,
    )
    _print_document(done, json_)


@app.command("add-index")
def add_index(
    table: Path_,
    what: What,
    kind: Kind = None,
    fpp: Annotated[
        float | None, typer.Option("--fpp", help="Of a bloom filter: absent values taken for present.")
    ] = None,
    mode: Annotated[
        str | None, typer.Option("--mode", metavar="MODE", help=f"{_MODES}; default global.")
    ] = None,
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

    done = _with_spark(
        table,
        f"making the index on {', '.join(what)}",
        work,
        index_path,
        master,
        conf,
    )
    _print_document(done, json_)


@app.command("drop-index")
def drop_index(
    table: Path_,
    what: What,
    kind: Kind = None,
    json_: Json = False,
    index_path: IndexPath = None,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Remove a part of the index; the listing stays."""
    done = _with_spark(
        table,
        f"removing the index on {', '.join(what)}",
        lambda i: i.drop_index(_part(what), kind=kind),
        index_path,
        master,
        conf,
    )
    _print_document(done, json_)


def _part(what: list[str]) -> str | list[str]:
    return what[0] if len(what) == 1 else what


@app.command()
def update(
    table: Path_,
    json_: Json = False,
    index_path: IndexPath = None,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Bring the index up to the timeline."""
    done = _with_spark(table, "updating the index", lambda i: i.update(), index_path, master, conf)
    _print_document(done, json_)


@app.command("compact-table")
def compact_table(
    table: Path_,
    op: Annotated[
        str,
        typer.Option("--op", metavar="OP", help="schedule_and_execute, schedule or execute."),
    ] = "schedule_and_execute",
    partition: Annotated[
        list[str] | None,
        typer.Option("--partition", metavar="P", help="Plan for this partition path only; may be repeated."),
    ] = None,
    json_: Json = False,
    index_path: IndexPath = None,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Merge the log files of a merge-on-read table into base files."""

    def work(index: HudiIndex) -> Mapping[str, Any]:
        return index.compact_table(op=op, partitions=partition)

    done = _with_spark(table, "compacting the table", work, index_path, master, conf)
    if json_:
        _print_document(done, json_)
    else:
        from hudiidx.cli import render

        render.compacted(_console(), done)


@app.command()
def info(table: Path_, json_: Json = False, index_path: IndexPath = None) -> None:
    """Show the state of the index."""
    _print_document(_plain("info", table, index_path=index_path), json_)


@app.command()
def partitions(
    table: Path_,
    json_: Json = False,
    index_path: IndexPath = None,
    strict: Strict = False,
    limit: Limit = None,
) -> None:
    """List the partitions."""
    _listing("partitions", table, json_, limit, index_path, strict)


@app.command()
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


@app.command()
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


@app.command()
def lookup(
    table: Path_,
    keys: Annotated[list[str] | None, typer.Argument(metavar="KEY...", help="Record keys.")] = None,
    file: Annotated[
        str | None,
        typer.Option("--file", metavar="FILE", help="Also the keys in a file, one a line; - is stdin."),
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
    asked = [*(keys or ()), *(_lines(file) if file else ())]
    if not asked:
        raise typer.BadParameter("no keys: name them behind the table, or pass --file")
    if not rows and (master or conf):
        raise typer.BadParameter("--master and --conf are for --rows")
    from hudiidx.cli import render

    if rows:
        from hudiidx.cli.rows import found_rows

        def work(index: HudiIndex) -> dict[str, Any]:
            return found_rows(index, asked, partition, as_of)

        found = _with_spark(table, "reading records", work, index_path, master, conf, strict)
    else:
        options = {"index_path": index_path, "strict": strict, "partition": partition, "as_of": as_of}
        found = _run_plain("lookup", table, _keys.pack(asked), options)
        _warn_of(found, table, "record keys were read from files", f"hudiidx add-index {table} record")
    if json_:
        render.as_json(found)
    elif rows:
        render.rows(_console(), found)
    else:
        render.locations(_console(), found)
    if found["missing"]:
        raise typer.Exit(1)


@_log.command("show")
def log_show(
    file: LogFile, json_: Json = False, index_path: IndexPath = None, strict: Strict = False
) -> None:
    """Show the blocks of a log file: kinds, instants, keys, and how each is indexed."""
    found = _plain("log-show", file, index_path=index_path, strict=strict)
    from hudiidx.cli import render

    if json_:
        render.as_json(found)
    else:
        render.log_blocks(_console(), found)


@_log.command("find")
def log_find(
    file: LogFile,
    keys: Annotated[list[str], typer.Argument(metavar="KEY...", help="Record keys.")],
    json_: Json = False,
    index_path: IndexPath = None,
    strict: Strict = False,
) -> None:
    """Find the versions of keys in a log file; exit code 1 if it has none of a key."""
    options = {"index_path": index_path, "strict": strict}
    found = _run_plain("log-find", file, _keys.pack(keys), options)
    from hudiidx.cli import render

    if json_:
        render.as_json(found)
    else:
        render.log_hits(_console(), found)
    if found["missing"]:
        raise typer.Exit(1)


@app.command()
def prune(
    table: Path_,
    where: Annotated[
        str, typer.Argument(metavar="FILTER", help="In Spark SQL, as \"fare > 90 and city = 'oslo'\".")
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

    found = _with_spark(table, "planning", pruned, index_path, master, conf)
    from hudiidx.cli import render

    if json_:
        render.as_json({**found, "files": found["files"][:limit]})
    else:
        render.files(_console(), found["files"], limit or _SHOWN)
        _console().print(f"decided by: {found['decided_by'] or 'no index'}", highlight=False)


@app.command()
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
        typer.Option("--scratch", metavar="PATH", help="With --record: where keys are sorted, if not there."),
    ] = None,
    json_: Json = False,
    index_path: IndexPath = None,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Compare the index with the table; exit code 1 if they differ."""
    if scratch and not record:
        raise typer.BadParameter("--scratch is for --record")
    found = _with_spark(
        table,
        "verifying the index",
        lambda i: i.verify(record=record, columns=columns, scratch=scratch),
        index_path,
        master,
        conf,
    )
    from hudiidx.cli import render

    if json_:
        render.as_json(asdict(found))
    else:
        render.verified(_console(), found)
    if not found.ok:
        raise typer.Exit(1)


@app.command()
def perf(
    table: Path_,
    json_: Json = False,
    index_path: IndexPath = None,
    sweep: Annotated[bool, typer.Option("--sweep", help="Also try other page sizes and codecs.")] = False,
) -> None:
    """Time the index against plain listing: RFC-15's "metadata perf" table."""
    found = _plain("perf", table, index_path=index_path, sweep=sweep)
    from hudiidx.cli import render

    if json_:
        render.as_json(found)
        return
    render.perf(_console(), found)


@app.command()
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
            raise typer.BadParameter(
                "drop asks before it removes the index; pass --yes where nobody can answer"
            )
        typer.confirm(f"Remove the index of {table}?", abort=True)
    _with_spark(table, "removing the index", lambda i: i.drop(), index_path, master, conf)
    _print_document({"dropped": table}, json_)


@app.command()
def tag(
    table: Path_,
    file: Annotated[str, typer.Argument(metavar="FILE", help="Rows with keys: .csv, .json or .parquet.")],
    key: Annotated[
        list[str],
        typer.Option("--key", metavar="COLUMN", help="The key's column; once for each field of the key."),
    ],
    output: Annotated[str, typer.Option("-o", "--output", metavar="OUT", help="File or folder to write.")],
    partition: Annotated[
        str | None,
        typer.Option("--partition-column", metavar="COLUMN", help="Only locations in its partition."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")] = False,
    json_: Json = False,
    index_path: IndexPath = None,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Add partition path, file id and instant time to rows by their record keys."""

    def work(index: HudiIndex) -> dict[str, object]:
        from hudiidx.cli.tag import tag_file

        return tag_file(index, index.spark, file, key, partition, output, overwrite)

    _print_document(_with_spark(table, "tagging rows", work, index_path, master, conf), json_)


@app.command()
def jar(
    writer: Annotated[bool, typer.Option("--writer", help="Also the jar with the index class.")] = False,
) -> None:
    """Print the path of the jar, for spark-submit --jars; with --writer two, comma between them."""
    from hudiidx.session import jar_path, writer_jars

    print(",".join(map(str, writer_jars())) if writer else jar_path())


def main() -> None:
    """Runs the command; a failure is one line on stderr, or with ``--json`` one JSON document."""
    try:
        app()
    except HudiIdxException as e:
        _fail(type(e).__name__, str(e), exit_code(e))
    except (CommandFailed, RuntimeError, ValueError) as e:
        _fail(type(e).__name__, str(e), 5)
    except Exception as e:  # a Java stack trace says nothing to a user of a command
        _fail(type(e).__name__, str(e).strip().split("\n\tat ")[0], 5)


def _fail(kind: str, message: str, code: int) -> None:
    if "--json" in sys.argv:
        print(json.dumps({"error": kind, "message": message}, ensure_ascii=False), file=sys.stderr)
    else:
        print(f"hudiidx: {kind}: {message}", file=sys.stderr)
    sys.exit(code)


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
    found = _plain(what, table, index_path=index_path, strict=strict, limit=cut, **options)
    from hudiidx.cli import render

    _warn_of(found, table, "the table was listed", f"hudiidx create {table}")
    if as_json:
        render.as_json(found)
    else:
        getattr(render, what)(_console(), found[what], shown)


def _warn_of(found: Mapping[str, Any], table: str, instead: str, remedy: str) -> None:
    if found.get("fallback"):
        print(
            f"hudiidx: warning: the index was not used ({found['fallback']}), {instead}; "
            f"see `hudiidx info {table}`, mend with `{remedy}`",
            file=sys.stderr,
        )


def _lines(file: str) -> list[str]:
    """The lines of a UTF-8 text, ``-`` being standard input; empty lines are none."""
    try:
        with open(sys.stdin.fileno() if file == "-" else file, encoding="utf-8", closefd=file != "-") as f:
            return [line for line in f.read().split("\n") if line]
    except (OSError, UnicodeDecodeError) as e:
        raise typer.BadParameter(f"--file {file}: {e}") from e


def _plain(command: str, table: str, **options: str | bool | None) -> Any:
    return _run_plain(command, table, b"", options)


def _run_plain(command: str, table: str, stdin: bytes, options: Mapping[str, str | bool | None]) -> Any:
    arguments = [command, table]
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            arguments.append(flag)
        elif isinstance(value, str):
            arguments += [flag, value]
    return run(arguments, stdin)


def _with_spark(
    table: str,
    title: str,
    work: Callable[[HudiIndex], Any],
    index_path: str | None,
    master: str | None,
    conf: list[str] | None,
    strict: bool | None = None,
) -> Any:
    from hudiidx.cli.progress import with_progress
    from hudiidx.cli.spark import session
    from hudiidx.index import HudiIndex

    spark = session(master, conf or [])
    try:
        index = HudiIndex(spark, table, index_path=index_path, strict=strict)
        return with_progress(spark, _console(stderr=True), title, lambda: work(index))
    finally:
        spark.stop()


def _console(stderr: bool = False) -> Console:
    from rich.console import Console

    return Console(stderr=stderr)


def _print_document(document: Mapping[str, Any], as_json: bool) -> None:
    from hudiidx.cli import render

    if as_json:
        render.as_json(dict(document))
    else:
        render.info(_console(), document)
