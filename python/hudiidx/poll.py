"""One look at a watched table: what it does, and how it is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from hudiidx._text import masked, shown, without_passwords
from hudiidx.errors import IndexNotFound, InvalidOption

if TYPE_CHECKING:
    from hudiidx.index import HudiIndex


@dataclass(frozen=True)
class Poll:
    """One look at a watched table, and what it did to the index.

    Attributes:
        table: path of the table.
        at: when it ended.
        seconds: how long it took.
        published: False: the index was in step, or the poll failed.
        rebuilt: the index was made, for the first time or anew.
        index_version: version in force afterwards; None if the poll failed.
        instants: requested times of the instants taken in.
        lag_seconds: how long before the new version the oldest of these had completed; None without a new
            version, and where the index was made anew.
        error: why it failed; None if it did not.
        failures: polls of this table that failed in a row, this one included.
        retry_seconds: until the next try; None unless it failed, and for the one pass of `Watcher.run_once`.
    """

    table: str
    at: datetime
    seconds: float
    published: bool = False
    rebuilt: bool = False
    index_version: int | None = None
    instants: tuple[str, ...] = ()
    lag_seconds: float | None = None
    error: Exception | None = None
    failures: int = 0
    retry_seconds: float | None = None

    def __str__(self) -> str:
        """All of it in one line."""
        return shown(self._told())

    def _told(self) -> str:
        if self.error is not None:
            told = f"{type(self.error).__name__}: {self.message}"
            if self.retry_seconds is None:
                return f"{self.table}: failed: {told}"
            again = f"{self.failures} in a row, next try in {self.retry_seconds:.0f} s"
            return f"{self.table}: failed ({again}): {told}"
        if not self.published:
            return f"{self.table}: in step, index version {self.index_version}"
        done = f"index version {self.index_version}, {self.seconds:.1f} s"
        if self.rebuilt:
            return f"{self.table}: index made, {done}"
        n = len(self.instants)
        lag = "" if self.lag_seconds is None else f", lag {self.lag_seconds:.1f} s"
        return f"{self.table}: {n} instant{'' if n == 1 else 's'}{lag}, {done}"

    @property
    def message(self) -> str | None:
        """What the error says, in one line without a stack trace; None without an error."""
        return None if self.error is None else one_line(self.error)

    def document(self) -> dict[str, Any]:
        """As the command prints it with ``--json``."""
        return {
            "at": self.at.astimezone(timezone.utc).isoformat(timespec="milliseconds"),
            "table": self.table,
            "seconds": round(self.seconds, 3),
            "published": self.published,
            "rebuilt": self.rebuilt,
            "index_version": self.index_version,
            "instants": list(self.instants),
            "lag_seconds": self.lag_seconds,
            "error": None if self.error is None else type(self.error).__name__,
            "message": self.message,
            "failures": self.failures,
            "retry_seconds": None if self.retry_seconds is None else round(self.retry_seconds, 3),
        }


def bring_up(index: HudiIndex, create: bool | Mapping[str, Any]) -> Mapping[str, Any]:
    """Updates the index; makes it where there is none, if it is to be made."""
    try:
        return index.update()
    except IndexNotFound:
        if create is False:
            raise
        return index.create(**({} if create is True else create))


def one_line(error: BaseException) -> str:
    """What an error says, without the stack trace that those of the JVM bring."""
    return shown(" ".join(str(error).split("\n\tat ")[0].split()))


def named(table: str | PathLike[str] | HudiIndex) -> tuple[str, HudiIndex | None]:
    """The path of a table, and its index if that was given. InvalidOption for a path with a password."""
    if not isinstance(table, (str, PathLike)):
        return table.path, table
    path = fspath(table)
    if without_passwords(path) != path:
        raise InvalidOption(f"{masked(path)}: give passwords as settings of the store, not in a path")
    return path.rstrip("/") or path, None
