"""Numbers as people read them."""

from __future__ import annotations

import re

_UNITS = ("B", "KB", "MB", "GB", "TB", "PB")


# Scheme, user, colon, and what follows up to the last at sign; behind a host a port may follow.
_PASSWORD = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://[^/\s:@]*):(?!\d+(?:[/\s]|$))\S*@")


def masked(text: str) -> str:
    """The text without passwords in paths: ``s3a://key:***@bucket/t``."""
    return _PASSWORD.sub(r"\1:***@", text)


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
