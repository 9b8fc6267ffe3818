"""Options: keyword names here, ``hudiidx.*`` names in Spark conf and in Scala.

A keyword wins over the Spark conf of the session; what neither names has the default of docs/options.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hudiidx.errors import InvalidOption

_PREFIX = "hudiidx."


@dataclass(frozen=True)
class Option:
    """An option that has a keyword: its two names and the Python type of its value."""

    keyword: str
    name: str
    kind: type


# What they mean and their defaults are declared once, in Scala; docs/options.md is made of both.
KNOWN: tuple[Option, ...] = (
    Option("index_path", "hudiidx.index.path", str),
    Option("source", "hudiidx.create.source", str),
    Option("record", "hudiidx.record.mode", str),
    Option("window_days", "hudiidx.record.window.days", int),
    Option("file_groups", "hudiidx.record.file.groups", int),
    Option("columns", "hudiidx.columns", str),
    Option("bloom", "hudiidx.bloom.columns", str),
    Option("bloom_fpp", "hudiidx.bloom.fpp", float),
    Option("values", "hudiidx.values.columns", str),
    Option("values_max", "hudiidx.values.max", int),
    Option("indexes", "hudiidx.column.indexes", str),
    Option("never", "hudiidx.columns.never", str),
    Option("logs", "hudiidx.logs", bool),
    Option("retain_last", "hudiidx.expire.retain.last", int),
    Option("older_than_minutes", "hudiidx.expire.older.than.minutes", int),
    Option("strict", "hudiidx.index.strict", bool),
)
_BY_KEYWORD = {o.keyword: o for o in KNOWN}


def resolve(conf: Mapping[str, str], keywords: Mapping[str, object]) -> dict[str, str]:
    """Options as the Scala side takes them: full names, text values.

    Args:
        conf: Spark conf entries; those outside ``hudiidx.`` are left out.
        keywords: by keyword; None means not given. A full ``hudiidx.*`` name is a keyword too.

    Raises:
        InvalidOption: a keyword nobody knows, or a value of the wrong type.
    """
    out = {k: v for k, v in conf.items() if k.startswith(_PREFIX)}
    for keyword, value in keywords.items():
        if value is None:
            continue
        if keyword.startswith(_PREFIX):
            out[keyword] = _text(value)
            continue
        option = _BY_KEYWORD.get(keyword)
        if option is None:
            known = ", ".join(sorted(_BY_KEYWORD))
            raise InvalidOption(f"{keyword}: unknown option; supported: {known}, and full names hudiidx.*")
        out[option.name] = _checked(option, value)
    return out


def _checked(option: Option, value: object) -> str:
    if isinstance(value, Path) and option.kind is str:
        value = str(value)
    if not isinstance(value, option.kind) or (option.kind is int and isinstance(value, bool)):
        raise InvalidOption(
            f"{option.keyword}: needs a {option.kind.__name__}, got {value!r} ({type(value).__name__})"
        )
    return _text(value)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
