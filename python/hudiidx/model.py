"""What the calls answer with. All of it is frozen and compares by value; sizes are bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class BaseFile:
    """A base file of a file slice; ``instant_time`` is the instant in its name."""

    partition_path: str
    file_id: str
    instant_time: str
    file_name: str
    size: int


@dataclass(frozen=True)
class LogFile:
    """A log file; ``version`` is the number behind ``.log.`` in its name."""

    file_name: str
    size: int
    version: int


@dataclass(frozen=True)
class FileSlice:
    """At most one base file and its log files, oldest first; either may be missing."""

    partition_path: str
    file_id: str
    base_instant_time: str
    base_file: BaseFile | None
    log_files: tuple[LogFile, ...]


@dataclass(frozen=True)
class FileGroup:
    """A file group: the same file id in two partitions is two groups."""

    partition_path: str
    file_id: str


@dataclass(frozen=True)
class TableFile:
    """A committed file; ``kind`` is ``"base"`` or ``"log"``."""

    partition_path: str
    file_id: str
    file_name: str
    kind: str
    instant_time: str
    size: int


@dataclass(frozen=True)
class IndexInfo:
    """The state of an index.

    Attributes:
        state: READY, LAGGING (``instants_behind`` > 0), BUILDING, BROKEN (see ``reason``) or ABSENT.
        lag_seconds: age of the oldest completed instant that the index has not seen; 0 when READY.
        last_synced_instant: requested time of the last instant the index covers; None without one.
        bytes_by_kind: index bytes by kind of index file.
        fallbacks: how often this process answered without the index, by reason code.
        details: everything that was reported, those above included.
    """

    state: str
    reason: str | None = None
    instants_behind: int = 0
    lag_seconds: float = 0.0
    last_synced_instant: str | None = None
    index_version: int | None = None
    files: int | None = None
    partitions: int | None = None
    bytes_by_kind: Mapping[str, int] = field(default_factory=dict)
    fallbacks: Mapping[str, int] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def __str__(self) -> str:
        """The state in one line, such as ``LAGGING 3 instants``."""
        if self.state == "LAGGING":
            return f"LAGGING {self.instants_behind} instant{'s' if self.instants_behind != 1 else ''}"
        return f"{self.state} {self.reason}" if self.reason else self.state


@dataclass(frozen=True)
class Difference:
    """One way in which the index and the table differ, with its likely cause."""

    kind: str
    partition: str | None
    file: str | None
    detail: str
    cause: str


@dataclass(frozen=True)
class VerifyReport:
    """What ``verify`` found; ``ok`` exactly when there are no differences."""

    ok: bool
    differences: tuple[Difference, ...]
    counts: Mapping[str, int]
