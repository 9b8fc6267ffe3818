"""The command's help: headings, examples that the commands take, 80 columns."""

import shlex
from collections.abc import Iterator
from typing import Any

import typer
from typer.core import TyperGroup
from typer.testing import CliRunner

from hudiidx.cli import main
from hudiidx.cli.app import HEADINGS


def commands(group: TyperGroup, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, command in group.commands.items():
        path = (*above, name)
        if isinstance(command, TyperGroup):
            yield from commands(command, path)
        else:
            yield path, command


def test_every_help_has_examples_that_the_command_takes() -> None:
    root = typer.main.get_command(main.app)
    assert isinstance(root, TyperGroup)
    found = list(commands(root))
    assert len(found) > 20
    for path, command in found:
        title, *examples = (command.epilog or "").split("\n\n")
        assert title == "Examples:" and examples, path
        for example in examples:
            words = shlex.split(example)
            if words[0] == "hudiidx":
                assert tuple(words[1 : 1 + len(path)]) == path
                command.make_context("hudiidx", words[1 + len(path) :])


def test_commands_stand_under_headings_and_help_fits_eighty_columns() -> None:
    told = CliRunner().invoke(main.app, ["--help"], terminal_width=80, env={"COLUMNS": "80"}).output
    places = [told.index(f"─ {heading} ") for heading in HEADINGS]
    assert places == sorted(places) and "─ Commands " not in told
    assert max(map(len, told.splitlines())) <= 80
