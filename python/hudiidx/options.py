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
    """An option: its two names, the type of its value and what it does."""

    keyword: str
    name: str
    kind: type
    doc: str


KNOWN: tuple[Option, ...] = (
    Option("index_path", "hudiidx.index.path", str, "where the index lives, if not inside the table"),
    Option("source", "hudiidx.create.source", str, "where create takes the files from"),
    Option("record", "hudiidx.record.mode", str, "create makes a record index: global or partitioned"),
    Option(
        "window_days", "hudiidx.record.window.days", int, "days of commit time that the record index holds"
    ),
    Option("file_groups", "hudiidx.record.file.groups", int, "hash groups that a record index is made with"),
    Option("columns", "hudiidx.columns", str, "columns whose bounds are indexed, or *"),
    Option("bloom", "hudiidx.bloom.columns", str, "columns with bloom filters"),
    Option("bloom_fpp", "hudiidx.bloom.fpp", float, "share of absent values that these take for present"),
    Option("values", "hudiidx.values.columns", str, "columns with few values in a file, which are kept"),
    Option("values_most", "hudiidx.values.most", int, "values of a file that are kept at most"),
    Option("indexes", "hudiidx.column.indexes", str, "indexes of other kinds: kind(column,option=value)"),
    Option("logs", "hudiidx.logs", bool, "create keeps an index of log blocks"),
    Option(
        "retain_last", "hudiidx.clean.retained.versions", int, "newest index versions that stay at any age"
    ),
    Option(
        "older_than_minutes",
        "hudiidx.clean.retained.minutes",
        int,
        "younger index versions stay in any number",
    ),
    Option("strict", "hudiidx.index.strict", bool, "raise instead of answering without the index"),
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
            raise InvalidOption(f"{keyword}: no such option; known: {known}, and full names hudiidx.*")
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
