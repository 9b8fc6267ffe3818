"""Texts and numbers as people read them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_UNITS = ("B", "KB", "MB", "GB", "TB", "PB")


# C0, C1 and DEL; ends of lines and paragraphs; what turns the direction of writing; halves of a pair.
# As Texts.scala has it.
HIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_SPACES = re.compile(r"([ \t\n\x0b\f\r]+)")
_SCHEME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-")
_USER_ENDS = re.compile(r"[/:@?#]")
_PORT = re.compile(r"[0-9]+(?:/|\Z)")
# Behind a path a colon and what is told of it: a port with at most a mark behind it, or nothing.
_TOLD = re.compile(r"(?s)[0-9]*[^0-9A-Za-z]?\Z")
# As Secrets.scala has it.
_KEY = re.compile(
    r"""(?aix)((?:(?<![\w-])(?:accountkey|sharedaccesskey|sharedaccesssignature|x-amz-signature|x-amz-security-token
    |x-amz-credential|x-goog-signature|x-goog-credential)
    |[?&;\#](?:sig|signature|token|access_token|refresh_token|id_token|session_token|sessiontoken|auth_token|sas
    |sas_token|secret|client_secret|secret_key|secretkey|api_key|apikey|password|passwd|pwd))=)
    [^\s&;,'"`)\]}<>\#]+"""
)


def shown(text: str) -> str:
    """For people: in one line, control characters as escapes, secrets masked. Twice is as once.

    Whoever chooses a name shall not write to a terminal, or into a log, what is not theirs.
    """
    return masked(HIDDEN.sub(_escape, text))


def _escape(found: re.Match[str]) -> str:
    return _SHORT.get(found[0]) or f"\\u{ord(found[0]):04x}"


def masked(text: str) -> str:
    """The text without passwords in paths and keys in queries: ``s3a://key:***@bucket``, ``?sig=***``.

    Takes time by its length. Secrets.scala says what counts.
    """
    some = without_passwords(text)
    fewer = _KEY.sub(r"\1***", some) if "=" in some else some
    return some if fewer == some else without_passwords(fewer)


def without_passwords(text: str) -> str:
    """Masks all between the colon behind a user and an at sign.

    That is the last at sign of the word, or of the words behind it up to the next path.
    """
    if "://" not in text:
        return text
    words, told, at = _SPACES.split(text), [], 0
    while at < len(words):
        masked_word, taken = _masked_path(words, at) if "://" in words[at] else (words[at], 1)
        told.append(masked_word)
        at += taken
    return "".join(told)


def _masked_path(words: list[str], at: int) -> tuple[str, int]:
    """A word with ``://`` in it, and how many words its password takes."""
    end = next((i for i in range(at + 1, len(words)) if "://" in words[i]), len(words))
    last = next((i for i in range(end - 1, at, -1) if "@" in words[i]), at)
    colon = _password_colon(words[at], last > at)
    if colon < 0:
        return words[at], 1
    rest = words[last]
    return f"{words[at][: colon + 1]}***{rest[rest.rfind('@') :]}", last - at + 1


def _password_colon(word: str, goes_on: bool) -> int:
    """Where a password begins; -1: nowhere. Behind a host a port may follow."""
    last = word.rfind("@")
    at = word.find("://")
    while at >= 0 and (goes_on or at < last):
        ends = _USER_ENDS.search(word, at + 3)
        if ends is None:
            return -1
        colon = ends.start()
        is_user = word[colon] == ":" and at > 0 and word[at - 1] in _SCHEME
        is_password = is_user and not _PORT.match(word, colon + 1)
        if is_password and (colon < last or (goes_on and not _TOLD.match(word, colon + 1))):
            return colon
        at = word.find("://", colon)
    return -1


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


def store_calls(of: Mapping[str, Any]) -> str:
    """The calls of a remote store that a scan or a lookup took; empty where there was none."""
    calls, refused = of["store_calls"], of["store_throttled"]
    told = f"{calls} calls of the store, {of['store_calls_in_a_row']} in a row" if calls else ""
    if not (told and refused):
        return told
    return f"{told}, which refused {refused} requests since it was asked too much"
