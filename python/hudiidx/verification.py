"""What ``verify`` answers with. All of it is frozen and compares by value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


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
