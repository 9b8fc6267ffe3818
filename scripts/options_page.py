"""The tables of docs/options.md, made from what the code declares.

Usage: options_page.py [--check]

Options of the index, of scans, readers and writes are declared in Scala (`OptionsJson` collects them), their
Python keywords in `hudiidx.options`, those of the command in its own declarations. Writes the tables between
the page's marks; with --check it only says whether they are as made (exit code 1 if not).
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer.main
from pyspark.sql import SparkSession
from typer.core import TyperGroup

from hudiidx import configure_spark
from hudiidx.cli.main import app
from hudiidx.options import KNOWN

PAGE = Path(__file__).parents[1] / "docs" / "options.md"
_MARK = re.compile(r"(<!-- options: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
_NOT_OPTIONS = ("help", "install_completion", "show_completion")
# Types as the other tables call them, by typer's names.
_KINDS = {"int": "integer", "int range": "integer", "float": "number"}
# Where the command calls an option otherwise than Python does.
_OTHER_FLAGS = {"fpp": "bloom_fpp", "mode": "record", "index": "indexes"}


def declared(spark: SparkSession) -> dict[str, list[dict[str, str]]]:
    """What Scala declares: name, kind, default and meaning of each option, by table."""
    text = spark._jvm.hudiidx.spark.write.options.OptionsJson.text()
    tables: dict[str, list[dict[str, str]]] = json.loads(text)
    return tables


# Commands and their options are of click, which newer releases of typer carry within: no type to name.
def commands(of: Any = None, name: str = "") -> Iterator[tuple[str, Any, list[Any]]]:
    """Each command by its name, in order, groups' names in front, with its options."""
    command = of or typer.main.get_command(app)
    if isinstance(command, TyperGroup):
        for part, below in sorted(command.commands.items()):  # whichever module registered them first
            yield from commands(below, f"{name} {part}".strip())
    else:
        options = [p for p in command.params if p.param_type_name == "option" and p.name not in _NOT_OPTIONS]
        yield name, command, options


def with_tables(page: str, tables: Mapping[str, list[dict[str, str]]]) -> str:
    """The page with its tables as the code has them."""
    made = {name: _options_table(rows) for name, rows in tables.items()} | {"command": _command_table()}
    marks = {m.group(2) for m in _MARK.finditer(page)}
    if marks != set(made):
        raise ValueError(f"{PAGE}: has places for {sorted(marks)}, there are {sorted(made)}")
    return _MARK.sub(lambda m: f"{m.group(1)}\n{made[m.group(2)]}\n\n{m.group(3)}", page)


def _options_table(rows: list[dict[str, str]]) -> str:
    keywords = {o.name: o.keyword for o in KNOWN}
    flags = _flags()
    lines = []
    for row in rows:
        keyword = keywords.get(row["name"], "")
        default = row["default"]
        lines.append(
            [
                f"`{row['name']}`",
                row["kind"],
                default[1:-1] if default.startswith("(") else f"`{default}`",
                f"`{keyword}`" if keyword else "",
                ", ".join(f"`{f}`" for f in flags.get(keyword, ())),
                row["meaning"],
            ]
        )
    heads = ["option", "type", "default", "Python", "command", "meaning"]
    # Columns that nobody uses in a table are left out of it.
    used = [
        i for i, head in enumerate(heads) if head not in ("Python", "command") or any(x[i] for x in lines)
    ]
    return _table([heads[i] for i in used], [[line[i] for i in used] for line in lines])


def _flags() -> dict[str, tuple[str, ...]]:
    """The command's flags by the Python keyword of the option that they set."""
    known = {o.keyword for o in KNOWN}
    found: dict[str, dict[str, None]] = {}
    for _, _, options in commands():
        for option in options:
            keyword = _OTHER_FLAGS.get(option.name or "", option.name or "")
            if keyword in known:
                found.setdefault(keyword, {})[option.opts[-1]] = None
    return {keyword: tuple(flags) for keyword, flags in found.items()}


def _command_table() -> str:
    rows: dict[tuple[str, str, str, str], list[str]] = {}
    for name, _, options in commands():
        for o in options:
            spelled = ", ".join(f"`{flag}`" for flag in [*o.opts, *o.secondary_opts])
            kind = "flag" if o.is_flag else o.metavar or _KINDS.get(o.type.name, o.type.name)
            kind += ", repeatable" if o.multiple else ""
            default = "" if o.is_flag or o.default in (None, "", ()) else f"`{o.default}`"
            rows.setdefault((spelled, kind, "required" if o.required else default, o.help or ""), []).append(
                name
            )
    return _table(
        ["option", "type", "default", "meaning", "of"],
        [
            [
                spelled,
                f"`{kind}`" if kind != "flag" else kind,
                default,
                text,
                ", ".join(f"`{n}`" for n in names),
            ]
            for (spelled, kind, default, text), names in rows.items()
        ],
    )


def _table(heads: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown; a bar in a cell would end it."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(c.replace("|", r"\|") for c in line) + " |" for line in lines)


def main() -> int:
    """Writes or checks the page."""
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    spark = configure_spark(builder).getOrCreate()
    page = PAGE.read_text(encoding="utf-8")
    made = with_tables(page, declared(spark))
    spark.stop()
    if "--check" in sys.argv:
        return int(made != page)
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
