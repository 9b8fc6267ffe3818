"""Record keys and locations as one array of bytes: docs/format.md, "Packed keys and locations"."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from hudiidx._text import shown
from hudiidx.model import Key, LookupWork, RecordLocation, RecordLocations

_HEADER = struct.Struct("<4i")
_WORK = struct.Struct("<i11qi")


_AS_TEXT = "pass the record key as text, as in _hoodie_record_key"

# A record key in each form that it may have.
Texts = tuple[str, ...]


@dataclass(frozen=True)
class KeyForm:
    """How a table may make record keys of its key fields.

    ``kinds`` says what the fields' columns hold; ``named`` has each form that writers may have used: as
    ``a:1,b:2``, or the plain value; ``unknown`` says why none is known.
    """

    fields: tuple[str, ...]
    kinds: tuple[str, ...]
    named: tuple[bool, ...]
    unknown: str | None = None


def pack(keys: Sequence[str]) -> bytes:
    """Keys as the JVM reads them; a surrogate without its partner takes three bytes, as there."""
    encoded = [k.encode("utf-8", "surrogatepass") for k in keys]
    return b"".join((struct.pack(f"<{len(keys) + 1}i", len(keys), *map(len, encoded)), *encoded))


def unpack(asked_for: Sequence[Texts], packed: bytes) -> RecordLocations:
    """The answer for `keys`: locations in their order, those of one key by partition path and file id.

    Raises:
        ValueError: bytes that are no answer for so many keys.
    """
    keys = [text for texts in asked_for for text in texts]
    days, asked, found, groups = _HEADER.unpack_from(packed)
    ints = asked + found + 3 * groups
    if asked != len(keys) or len(packed) < _HEADER.size + 4 * ints:
        raise ValueError(f"an answer of {len(packed)} bytes for {asked} keys, asked were {len(keys)}")
    numbers = struct.unpack_from(f"<{ints}i", packed, _HEADER.size)
    named = _groups(packed, _HEADER.size + 4 * ints, numbers[asked + found :])
    out: list[RecordLocation] = []
    at = asked
    for key, count in zip(keys, numbers, strict=False):
        if count == 1:
            out.append(RecordLocation(key, *named[numbers[at]]))
        elif count:
            places = sorted(named[n] for n in numbers[at : at + count])
            out.extend(RecordLocation(key, *place) for place in places)
        at += count
    hits = _hits(asked_for, numbers)
    missing = dict.fromkeys(texts[0] for texts, hit in zip(asked_for, hits, strict=True) if not hit)
    end = _HEADER.size + 4 * ints + sum(numbers[asked + found :])
    work = _work(packed, end, hits.count(True), hits.count(False))
    return RecordLocations(out, missing=tuple(missing), window_days=days or None, work=work)


def _hits(asked_for: Sequence[Texts], numbers: Sequence[int]) -> list[bool]:
    """Whether any of each key's texts was found."""
    hits, at = [], 0
    for texts in asked_for:
        hits.append(any(numbers[at : at + len(texts)]))
        at += len(texts)
    return hits


def _groups(packed: bytes, at: int, lengths: Sequence[int]) -> list[tuple[str, str, str]]:
    """Partition path, file id and instant time of each group, from the texts that begin at ``at``."""
    texts = []
    for length in lengths:
        texts.append(packed[at : at + length].decode())
        at += length
    return list(zip(texts[::3], texts[1::3], texts[2::3], strict=True))


def _work(packed: bytes, at: int, hits: int, misses: int) -> LookupWork:
    """What is told of the lookup behind its locations, from ``at`` on."""
    try:
        _, version, groups, files, pages, read, filtered, slices_read, slices_kept, *calls, length = (
            _WORK.unpack_from(packed, at)
        )
    except struct.error as e:
        raise ValueError(f"an answer of {len(packed)} bytes ends in the counts of the lookup") from e
    note = packed[at + _WORK.size :].decode()
    if len(packed) != at + _WORK.size + length:
        raise ValueError(f"an answer of {len(packed)} bytes, whose reason has {length}")
    return LookupWork(
        keys=hits + misses,
        hits=hits,
        misses=misses,
        groups_opened=groups,
        files_opened=files,
        pages_decoded=pages,
        bytes_read=read,
        filtered=filtered,
        slices_read=slices_read,
        slices_kept=slices_kept,
        store_calls=calls[0],
        store_calls_in_a_row=calls[1],
        store_throttled=calls[2],
        index_version=version or None,
        fallback=note or None,
    )


def texts_of(keys: Iterable[Key], form: Callable[[], KeyForm]) -> list[Texts]:
    """The texts that each key may have in the table. ``form`` is asked only if a key is not a string.

    Raises:
        TypeError: something that is not a key.
        ValueError: a key that lacks a key field or has one that the table has not, or values from which no
            record key follows in this table.
    """
    return [(k,) if isinstance(k, str) else _texts_of(k, form()) for k in keys]


def _texts_of(key: object, form: KeyForm) -> Texts:
    fields = form.fields
    if isinstance(key, Mapping):
        if not fields or set(key) != set(fields):
            raise ValueError(f"key {key!r}: the table's key fields are {_listed(fields)}")
        values = [key[f] for f in fields]
    elif isinstance(key, tuple):
        if not fields or len(key) != len(fields):
            raise ValueError(f"key {key!r}: the table's key fields are {_listed(fields)}")
        values = list(key)
    elif len(fields) == 1:
        values = [key]
    elif not fields:
        raise ValueError(f"key {key!r}: the table's key fields are {_listed(fields)}")
    else:
        raise TypeError(
            f"key {key!r}: pass Hudi's form as text, {shown(','.join(f + ':…' for f in fields))}, "
            f"or a tuple or dict of the key fields"
        )
    texts = [_plain(v, key) for v in values if v is not None]
    if form.unknown:
        raise ValueError(f"key {key!r}: {shown(form.unknown)}; {_AS_TEXT}")
    for field, kind, value in zip(fields, form.kinds, values, strict=True):
        if not _fits(value, kind):
            raise TypeError(
                f"key {key!r}: what Hudi makes of the {type(value).__name__} in {shown(field)} depends on "
                f"the column's type; {_AS_TEXT}"
            )
    if len(form.named) > 1 and texts and texts[0].startswith(fields[0] + ":"):
        raise ValueError(
            f"key {key!r}: this table may have keys of both forms, v and {shown(fields[0])}:v; {_AS_TEXT}"
        )
    styles = (False, True) if "Date" in form.kinds else (False,)
    made = [_made(fields, values, named, flink, key) for flink in styles for named in form.named]
    return tuple(dict.fromkeys(made))


def _fits(value: object, kind: str) -> bool:
    """Whether Hudi makes the same text of the column's value as is made of this one, or it is a text."""
    if value is None or isinstance(value, str):
        return True
    if isinstance(value, bool):
        return kind in ("Text", "Truth")
    return kind in ("Text", "Whole" if isinstance(value, int) else "Date")


def _made(fields: Sequence[str], values: Sequence[object], named: bool, flink: bool, key: object) -> str:
    """The text by one form; ``flink``: dates as its writers have them, days since 1970."""
    if flink:
        values = [(v - date(1970, 1, 1)).days if isinstance(v, date) else v for v in values]
    if named:
        return ",".join(f"{f}:{_marked(v, key)}" for f, v in zip(fields, values, strict=True))
    return _plain(values[0], key)


def _marked(value: object, key: object) -> str:
    """A value inside a key of several fields, where Hudi marks what has no text."""
    return "__null__" if value is None else _plain(value, key) or "__empty__"


def _plain(value: object, key: object) -> str:
    """The text that Hudi makes of a value, where it is the same whatever the column's type."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(
        f"key {key!r}: a {type(value).__name__} has no one text in Hudi; pass the record key as text, as in "
        f"_hoodie_record_key"
    )


def _listed(fields: Sequence[str]) -> str:
    return shown(", ".join(fields)) or "not named by its properties: pass keys as text"
