"""What the calls answer with. All of it is frozen and compares by value; sizes are bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, TypeAlias

from hudiidx._text import shown

KeyValue: TypeAlias = str | int | bool | date | None
Key: TypeAlias = str | int | date | tuple[KeyValue, ...] | Mapping[str, KeyValue]
"""A record key: Hudi's text of it, or the values of the table's key fields."""


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


@dataclass(frozen=True, slots=True)
class RecordLocation:
    """Where a record is; ``instant_time`` is the base instant of the file slice that holds it."""

    key: str
    partition_path: str
    file_id: str
    instant_time: str


@dataclass(frozen=True, slots=True)
class LookupWork:
    """What a lookup did, and how it came to its answer.

    Attributes:
        keys: asked for, those asked twice counted twice.
        hits: of these with a location.
        misses: of these without.
        groups_opened: hash groups of the record index that were looked into.
        files_opened: its files that were opened; those still open from before are not counted.
        pages_decoded: its pages that were searched.
        bytes_read: of it from storage; what the block cache held is not counted.
        filtered: mappings that were found and are no locations: their file group is replaced, not visible or
            changed since the index was brought up, or the record has left the window.
        slices_read: file slices whose keys were read, since the index has not taken in what changed them.
        slices_kept: likewise, whose keys a lookup before had read and kept.
        store_calls: calls of the table's store where that is a network away, those of Spark's tasks left out.
        store_calls_in_a_row: the most of these of which each began when the one before it had ended.
        store_throttled: how often the store refused a request meanwhile, since it was asked too much (503);
            its client asks again.
        index_version: None: the index was not used, ``fallback`` says why.
        fallback: reason code; None if the index was used.
    """

    keys: int
    hits: int
    misses: int
    groups_opened: int
    files_opened: int
    pages_decoded: int
    bytes_read: int
    filtered: int
    slices_read: int
    slices_kept: int
    store_calls: int = 0
    store_calls_in_a_row: int = 0
    store_throttled: int = 0
    index_version: int | None = None
    fallback: str | None = None


class RecordLocations(list[RecordLocation]):
    """Locations in the order of the keys asked: a list, which also knows the keys without a location.

    Attributes:
        missing: keys that were not found, in the order asked, each once.
        window_days: days of the index's window; a missing key is then *not in the window*, and may be a
            record committed before it. None: all records are indexed, a missing key is not in the table.
        work: what the lookup did; None for a list that no lookup made.
    """

    missing: tuple[str, ...]
    window_days: int | None
    work: LookupWork | None

    def __init__(
        self,
        locations: Iterable[RecordLocation] = (),
        *,
        missing: tuple[str, ...] = (),
        window_days: int | None = None,
        work: LookupWork | None = None,
    ) -> None:
        """The locations, and what is known of keys that have none."""
        super().__init__(locations)
        self.missing = missing
        self.window_days = window_days
        self.work = work


@dataclass(frozen=True)
class RecordInfo:
    """A record index by its own account.

    Attributes:
        mode: ``"global"`` or ``"partitioned"``.
        window_days: days of commit time that are indexed; None: all.
        file_groups: hash groups that the keys are divided into.
        mappings: pairs of a key and a file group.
        size: bytes of all its files.
    """

    mode: str
    window_days: int | None
    file_groups: int
    mappings: int
    size: int
    base_files: int
    delta_files: int


@dataclass(frozen=True)
class ColumnIndexInfo:
    """An index on columns, as it was asked for.

    Attributes:
        kind: ``"range"``, ``"bloom"``, ``"values"``, or one that a jar brings.
        columns: their names, or ``("*",)``; of kind ``range`` each is an index of its own.
        options: of the kind.
        pending: files that were there before it was asked for are not covered yet.
    """

    kind: str
    columns: tuple[str, ...]
    options: Mapping[str, str] = field(default_factory=dict)
    pending: bool = False


@dataclass(frozen=True)
class IndexInfo:
    """The state of an index.

    Attributes:
        state: READY, LAGGING (``instants_behind`` > 0), BUILDING, BROKEN (see ``reason``) or ABSENT.
        lag_seconds: age of the oldest completed instant that the index has not seen; 0 when READY.
        last_synced_instant: requested time of the last instant the index covers; None without one.
        bytes_by_kind: index bytes by kind of index file.
        record: the record index; None without one.
        columns: the indexes on columns.
        logs: whether there is an index of log blocks.
        never: columns of which the index holds nothing, as ``create(never=...)`` named them.
        symlink_manifest: folder of the symlink manifests that updates keep in step; None: there are none.
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
    record: RecordInfo | None = None
    columns: tuple[ColumnIndexInfo, ...] = ()
    logs: bool = False
    never: tuple[str, ...] = ()
    symlink_manifest: str | None = None
    fallbacks: Mapping[str, int] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def __str__(self) -> str:
        """One line, such as ``LAGGING 3 instants: version 7, 120 files in 4 partitions; record keys``."""
        told = f"{self.state} {self.reason}" if self.reason else self.state
        if self.state == "LAGGING":
            told = f"LAGGING {self.instants_behind} instant{'s' if self.instants_behind != 1 else ''}"
        if self.index_version is None:
            return shown(told)
        told += f": version {self.index_version}, {self.files} files in {self.partitions} partitions"
        return shown("; ".join([told, *self._parts()]))

    def _parts(self) -> list[str]:
        """What the index has beside the listing."""
        record = [] if self.record is None else [f"record keys ({self.record.mode})"]
        columns = [f"{c.kind} of {', '.join(c.columns)}" for c in self.columns]
        return record + columns + (["log blocks"] if self.logs else [])


@dataclass(frozen=True)
class ColumnAdvice:
    """What the bounds of one column would leave out of some queries' files, told from some of their footers.

    Attributes:
        column: its path.
        queries: that say something of the column; a scan that ran twice counts twice.
        files: sampled base files of these queries.
        skipped: of these the ones that the bounds of this column alone leave out.
        bytes: of the sampled files.
        bytes_skipped: of those left out.
        is_indexed: its bounds are kept already.
        pointed: queries that ask for single values: where ``skipped`` is small, a bloom filter may help them.
    """

    column: str
    queries: int
    files: int
    skipped: int
    bytes: int
    bytes_skipped: int
    is_indexed: bool
    pointed: int
