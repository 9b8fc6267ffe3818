"""What the comparisons have in common: their arguments, and rounds in which every system is asked once."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from results_page import PAGE


def parser_of(usage: str | None, systems: Iterable[str], operations: Iterable[str], rounds: int) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=usage, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--batch", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--systems", default=",".join(systems))
    parser.add_argument("--operations", default=",".join(operations))
    parser.add_argument("--out", type=Path, default=PAGE)
    return parser


def is_whole(parser: argparse.ArgumentParser, args: argparse.Namespace) -> bool:
    """A run of all systems and operations: a part of it is no page."""
    return all(getattr(args, name) == parser.get_default(name) for name in ("systems", "operations"))


def one_round(systems: list[str], operation: str, turn: int, ask: Callable[[str], dict[str, Any]]) -> None:
    """Asks every system once, another first in each round; their answers (None: nothing to agree on) must be equal."""
    first = turn % len(systems)
    found = {name: ask(name).get("answer") for name in systems[first:] + systems[:first]}
    if len({json.dumps(a) for a in found.values() if a is not None}) > 1:
        raise SystemExit(f"{operation}, round {turn}: answers differ: {found}")
