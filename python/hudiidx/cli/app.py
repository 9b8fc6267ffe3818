"""What the commands share: the app itself, arguments that several take, and how an answer comes about."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from hudiidx._text import shown
from hudiidx.cli import out

if TYPE_CHECKING:
    from hudiidx.index import HudiIndex

# Headings of the help, in this order.
HEADINGS = MAKE, ASK, CHECK, TABLE, ELSEWHERE = (
    "Make an index and keep it",
    "Ask",
    "Check and look",
    "Change the table",
    "Use elsewhere",
)


class _ByHeading(TyperGroup):
    """Lists commands by their headings, whichever module registered them first."""

    def list_commands(self, ctx: Any) -> list[str]:  # of click, which newer releases of typer carry within
        def heading(name: str) -> int:
            return HEADINGS.index(getattr(self.commands[name], "rich_help_panel", MAKE))

        return sorted(self.commands, key=heading)

    def make_context(self, *args: Any, **more: Any) -> Any:
        """Reads the arguments."""
        with _texts_in_errors():
            return super().make_context(*args, **more)

    def invoke(self, ctx: Any) -> Any:
        """Runs the command."""
        with _texts_in_errors():
            return super().invoke(ctx)


@contextmanager
def _texts_in_errors() -> Iterator[None]:
    """What is told of wrong arguments holds names too: a shell puts files' names for a pattern."""
    try:
        yield
    except Exception as e:
        told: Any = e
        if hasattr(told, "format_message") and isinstance(getattr(told, "message", None), str):
            told.message = shown(told.message)
        raise


def _print_version(asked: bool) -> None:
    if asked:
        from hudiidx import __version__

        out.line(f"hudiidx {__version__}")
        raise typer.Exit


app = typer.Typer(
    cls=_ByHeading,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Index an Apache Hudi table, list it and find its records from the index.",
    epilog="Exit codes: 0 done, 1 verify found differences or lookup missed a key, 2 usage, 3 the table, "
    "4 the index, 5 other.",
)


@app.callback()
def _app(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version),
    ] = False,
) -> None:
    """Options of no command."""


def command(
    heading: str, *examples: str, name: str | None = None, of: typer.Typer = app
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Registers a command under a heading of the help, with examples below its own."""
    epilog = "\n\n".join(["Examples:", *examples])
    return of.command(name, rich_help_panel=heading, epilog=epilog)


def argument(metavar: str, help: str) -> Any:
    """An argument without a default to show."""
    return typer.Argument(show_default=False, metavar=metavar, help=help)


def optional(*names: str, **more: Any) -> Any:
    """An option that says in its help what is done without it."""
    return typer.Option(*names, show_default=False, **more)


def filled(value: str | None) -> str | None:
    """Refuses a text that is empty, as of a variable that a shell does not know: it names no place."""
    if value == "":
        raise out.usage("is empty; name a place, or leave the option out")
    return value


def finite(value: float) -> float:
    """Refuses what Python takes for a number and is none, or has no end."""
    if not math.isfinite(value):
        raise out.usage(f"{value} is not a finite number")
    return value


Path_ = Annotated[
    str,
    typer.Argument(
        show_default=False, metavar="TABLE", help="Folder or URI of the Hudi table.", callback=filled
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
IndexPath = Annotated[
    str | None,
    optional(
        "--index-path", metavar="PATH", help="Where the index lives, if not in the table.", callback=filled
    ),
]
Master = Annotated[str | None, optional("--master", metavar="URL", help="Spark master; default local[*].")]
Conf = Annotated[
    list[str] | None,
    optional("--conf", "--spark-conf", metavar="NAME=VALUE", help="A Spark setting; may be repeated."),
]


def with_spark(
    table: str,
    title: str,
    work: Callable[[HudiIndex], Any],
    index_path: str | None,
    master: str | None,
    conf: list[str] | None,
    strict: bool | None = None,
) -> Any:
    """What ``work`` makes of the index, in a session of its own; ``title`` is for the progress bar."""
    from hudiidx.cli.progress import with_progress
    from hudiidx.cli.spark import session
    from hudiidx.index import HudiIndex

    spark = session(master, conf or [])
    try:
        index = HudiIndex(spark, table, index_path=index_path, strict=strict)
        return with_progress(spark, out.console(stderr=True), title, lambda: work(index))
    finally:
        spark.stop()


def run_plain(command: str, table: str, stdin: bytes, options: Mapping[str, str | bool | None]) -> Any:
    """The document of a command that needs no Spark, from a plain JVM; options by name."""
    from hudiidx.cli.plain import run

    return run([command, table, *arguments_of(options)], stdin)


def arguments_of(options: Mapping[str, str | bool | None]) -> list[str]:
    """Options by name as arguments; those that are None or False are none."""
    arguments = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            arguments.append(flag)
        elif isinstance(value, str):
            arguments += [flag, value]
    return arguments


def plain(command: str, table: str, **options: str | bool | None) -> Any:
    """As `run_plain`, of a command that reads no standard input."""
    return run_plain(command, table, b"", options)


def print_document(document: Mapping[str, Any], as_json: bool) -> None:
    """Prints what was done, as JSON or a line for each field."""
    if as_json:
        out.document(dict(document))
    else:
        from hudiidx.cli import render

        render.info(out.console(), document)


def lines_of(file: str, option: str) -> list[str]:
    """The lines of a UTF-8 text, ``-`` being standard input; empty lines are none. ``option`` named it."""
    try:
        with open(sys.stdin.fileno() if file == "-" else file, encoding="utf-8", closefd=file != "-") as f:
            return [line for line in f.read().split("\n") if line]
    except (OSError, UnicodeDecodeError) as e:
        raise out.usage(f"{option} {file}: {e}") from e
