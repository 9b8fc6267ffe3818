"""Texts and numbers as people read them."""

from __future__ import annotations

import re

_UNITS = ("B", "KB", "MB", "GB", "TB", "PB")


# C0, C1 and DEL; ends of lines and paragraphs; what turns the direction of writing; halves of a pair.
# As Texts.scala has it.
HIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_SPACES = re.compile(r"([ \t\n\x0b\f\r]+)")
_SCHEME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-")
_USER_ENDS = re.compile(r"[/:@]")
_PORT = re.compile(r"[0-9]+(?:/|$)")


def shown(text: str) -> str:
    """For people: in one line, control characters as escapes, passwords in paths masked. Twice is as once.

    Whoever chooses a name shall not write to a terminal, or into a log, what is not theirs.
    """
    return HIDDEN.sub(_escape, masked(text))


def _escape(found: re.Match[str]) -> str:
    return _SHORT.get(found[0]) or f"\\u{ord(found[0]):04x}"


def masked(text: str) -> str:
    """The text without passwords in paths: ``s3a://key:***@bucket/t``. Takes time by its length."""
    return text if "://" not in text else "".join(map(_masked_word, _SPACES.split(text)))


def _masked_word(word: str) -> str:
    """What is between the user and the last at sign is masked; behind a host a port may follow."""
    last = word.rfind("@")
    at = word.find("://") if last >= 0 else -1
    while at >= 0:
        ends = _USER_ENDS.search(word, at + 3)
        if ends is None or ends.start() >= last:
            return word
        colon = ends.start()
        is_scheme = at > 0 and word[at - 1] in _SCHEME
        if word[colon] == ":" and is_scheme and not _PORT.match(word, colon + 1):
            return f"{word[:colon]}:***{word[last:]}"
        at = word.find("://", colon)
    return word


def size(n: int | None) -> str:
    """Bytes for people: ``9.2 KB``."""
    if n is None:
        return "-"
    x, unit = float(n), 0
    while x >= 1024 and unit < len(_UNITS) - 1:
        x, unit = x / 1024, unit + 1
    return f"{int(x)} B" if unit == 0 else f"{x:.1f} {_UNITS[unit]}"


def unit_of(n: float) -> tuple[str, int]:
    """The unit that ``n`` bytes are best told in, and how many bytes it has."""
    unit = 0
    while n >= 1024 and unit < len(_UNITS) - 1:
        n, unit = n / 1024, unit + 1
    return _UNITS[unit], 1024**unit


def share(x: float) -> str:
    """A share of 1 as per cent: whole ones, but neither 0 nor 100 for what is not."""
    if 0 < x < 0.01:
        return "< 1 %"
    if 0.99 < x < 1:
        return "> 99 %"
    return f"{x * 100:.0f} %"


def counted(n: int, what: str) -> str:
    """``1 file``, ``1,200 files``."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def seconds(x: float) -> str:
    """A length of time: ``340 ms``, ``12 s``, ``3 min``, ``5 h``, ``2 days``."""
    for limit, unit, name in ((1, 0.001, "ms"), (120, 1, "s"), (7200, 60, "min"), (172800, 3600, "h")):
        if x < limit:
            return f"{x / unit:.0f} {name}"
    return f"{x / 86400:.0f} days"
