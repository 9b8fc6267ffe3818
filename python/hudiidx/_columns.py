"""Columns and indexes on them as the Scala side takes them: texts with commas and semicolons."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from hudiidx.errors import InvalidOption

_MEANING = set(",;=()")
_FULL = re.compile(r"\s*[a-z][a-z0-9_]*\s*\(.*\)\s*", re.DOTALL)
_SIGNS = re.compile(r"[()+\-*/%<>=!|&^~'\"\s]")
_PARTS = ("record", "logs")
_OF_ONE_COLUMN = frozenset({"range", "bloom", "values", "any"})


def names(columns: str | Sequence[str] | None) -> str | None:
    """``["a", "b.c"]`` as ``a,b.c``; a text stays as it is. None: not given."""
    return columns if columns is None or isinstance(columns, str) else ",".join(map(_name, _listed(columns)))


def specs(indexes: str | Sequence[str] | None) -> str | None:
    """Indexes in full, several with semicolons between them. None: not given."""
    return indexes if indexes is None or isinstance(indexes, str) else ";".join(_listed(indexes))


def part(what: object, kind: str | None) -> str | None:
    """``"record"`` or ``"logs"`` where that part is meant: a column of that name needs its kind said."""
    return next((p for p in _PARTS if kind == p or (kind is None and what == p)), None)


def indexes(
    what: str | Sequence[str], kind: str | None, options: Mapping[str, object], default: str = "range"
) -> str:
    """Indexes of a kind: one for each column where the kind looks at one, else one over all of them.

    Without a kind ``name(...)`` stays as it is: an index in full, or an expression of columns.
    """
    columns = [what] if isinstance(what, str) else _listed(what)
    if not columns:
        raise InvalidOption("no column is named")
    if kind is None and not options and any(map(_FULL.fullmatch, columns)):
        return ";".join(c if _FULL.fullmatch(c) else f"{default}({_name(c)})" for c in columns)
    kind = kind or default
    given = [f"{name}={value}" for name, value in options.items()]
    groups = [[c] for c in columns] if kind in _OF_ONE_COLUMN else [columns]
    return ";".join(f"{kind}({','.join([*map(_name, group), *given])})" for group in groups)


def _listed(columns: object) -> list[str]:
    if isinstance(columns, Mapping) or not isinstance(columns, Sequence):
        raise InvalidOption(f"needs a list of names, got {columns!r} ({type(columns).__name__})")
    for c in columns:
        if not isinstance(c, str):
            raise InvalidOption(f"needs names, got {c!r} ({type(c).__name__})")
    return list(columns)


def _name(column: str) -> str:
    """Names with characters that mean something in lists go into backquotes, expressions behind a sign."""
    bare = "".join(column.split("`")[::2])
    if column != "*" and _SIGNS.search(bare.strip()):
        return "`=" + column.replace("`", "``") + "`"
    return f"`{column}`" if _MEANING & set(column) and "`" not in column else column
