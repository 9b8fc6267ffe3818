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
    symlink_manifest: str | None = None
    fallbacks: Mapping[str, int] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def __str__(self) -> str:
        """The state in one line, such as ``LAGGING 3 instants``."""
        if self.state == "LAGGING":
            return f"LAGGING {self.instants_behind} instant{'s' if self.instants_behind != 1 else ''}"
        return shown(f"{self.state} {self.reason}") if self.reason else self.state


@dataclass(frozen=True)
class Difference:
    """One way in which the index and the table differ, with its likely cause."""

    kind: str
    partition: str | None
    file: str | None
    detail: str
    cause: str


@dataclass(frozen=True)
class RecordDifference:
    """A key's mapping to a file group that two sides have otherwise, with the likely cause."""

    kind: str
    key: str
    partition: str
    file_id: str
    detail: str
    cause: str


@dataclass(frozen=True)
class RecordReport:
    """How the record index compares with the table's key columns.

    Attributes:
        ok: exactly when all counts are 0.
        counts: differences by kind: ``MAPPING_MISSING`` (a record that a lookup misses), ``MAPPING_EXTRA``
            (a location without a live record), ``DOUBT_DIFFERS``, ``INDEX_UNUSABLE``.
        samples: some differences of each kind.
        keys: different keys that table or index have.
        mappings: mappings that both have.
        file_groups: visible file groups compared.
        overlaid_file_groups: those not compared, since the index has not taken in what changed them:
            readers take their keys from files.
        seconds: how long it took.
    """

    ok: bool
    counts: Mapping[str, int]
    samples: tuple[RecordDifference, ...]
    keys: int
    mappings: int
    file_groups: int
    overlaid_file_groups: int
    seconds: float


@dataclass(frozen=True)
class StockRecordReport:
    """How Hudi's own record index compares with this one; differences need be nobody's fault.

    Attributes:
        skipped: why they were not compared; None if they were.
        equal: mappings that both have.
        only_in_hudi: by reason: ``GROUP_GONE``, ``KEY_NOT_THERE``.
        only_in_index: by reason: ``DUPLICATE_KEY`` (Hudi keeps one location of a key), ``OTHER_LOCATION``,
            ``LOG_RECORD`` (not all writers of Hudi index what they insert into logs), ``NOT_INDEXED``.
        samples: some differences for each reason.
    """

    skipped: str | None
    equal: int
    only_in_hudi: Mapping[str, int]
    only_in_index: Mapping[str, int]
    samples: tuple[RecordDifference, ...]


@dataclass(frozen=True)
class ColumnDifference:
    """Something of a file's column that the index has otherwise than the file."""

    kind: str
    partition: str
    file: str
    column: str
    detail: str


@dataclass(frozen=True)
class ColumnReport:
    """How the indexes on columns compare with the table's files.

    Attributes:
        ok: exactly when nothing is wrong, so that no row can be missed.
        counts: differences by kind. Wrong are ``STATS_WRONG`` (bounds or counts that rule out rows of the
            file), ``RECORD_WRONG`` (a bloom filter, values, or a record of another kind) and
            ``INDEX_UNUSABLE``. The others cost time, not rows: ``STATS_WIDER``, ``MISSING`` (the index could
            know more), ``UNPROVEN`` (it knows something of a column that is not certain any more).
        samples: some differences of each kind.
        files: files compared.
        uncovered: files that the index knows nothing of; readers read them.
        equal: statistics and records that are what the files give.
        seconds: how long it took.
    """

    ok: bool
    counts: Mapping[str, int]
    samples: tuple[ColumnDifference, ...]
    files: int
    uncovered: int
    equal: int
    seconds: float


@dataclass(frozen=True)
class VerifyReport:
    """What ``verify`` found.

    Attributes:
        ok: exactly when there are no differences, none of the record index if that was compared, and nothing
            is wrong with the indexes on columns if these were.
        differences: of partitions and files.
        counts: partitions and files compared.
        record: the record index; None if it was not asked for.
        stock_record_index: Hudi's own record index; None if it was not asked for, or the table has none.
        columns: the indexes on columns; None if they were not asked for.
    """

    ok: bool
    differences: tuple[Difference, ...]
    counts: Mapping[str, int]
    record: RecordReport | None = None
    stock_record_index: StockRecordReport | None = None
    columns: ColumnReport | None = None


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
