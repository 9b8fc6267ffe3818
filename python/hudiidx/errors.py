"""What goes wrong, by name. The Scala side throws classes of the same names."""

from __future__ import annotations

from hudiidx._text import shown


class HudiIdxException(RuntimeError):
    """Every failure that hudiidx reports by itself. Its message is one line."""

    def __init__(self, message: str = "") -> None:
        super().__init__(shown(message))


class NotAHudiTable(HudiIdxException):
    """The path is missing, unreadable, or not a Hudi table."""


class UnsupportedTable(HudiIdxException):
    """A Hudi table of a version, type or format that hudiidx does not serve."""


class DamagedTable(HudiIdxException):
    """The table's own files contradict each other or cannot be decoded."""


class TableChanged(HudiIdxException):
    """The table is no longer what it was when a DataFrame was planned: read it again."""


class DamagedIndex(HudiIdxException):
    """A file of the index cannot be decoded."""


class IndexNotFound(HudiIdxException):
    """The table has no index, or not the part that was asked for."""


class StaleIndex(HudiIdxException):
    """Strict mode only: the index could not be used as it is."""


class WriteConflict(HudiIdxException):
    """Another writer published first, and trying again on top of it did not succeed."""


class WriteFailed(HudiIdxException):
    """A store or a disk failed a write to the table: full, read-only, silent. Nothing of the write counts."""


class WriteUnknown(HudiIdxException):
    """The store does not say whether a write to the table counts: look before it is done again."""


class InvalidOption(HudiIdxException):
    """An option or argument has an unknown name or a value out of its range."""


class IndexNotWritable(HudiIdxException):
    """The index folder takes no files: it is read-only, full, or otherwise refuses a write."""


_KINDS: tuple[type[HudiIdxException], ...] = (
    NotAHudiTable,
    UnsupportedTable,
    DamagedTable,
    TableChanged,
    DamagedIndex,
    IndexNotFound,
    StaleIndex,
    WriteConflict,
    WriteFailed,
    WriteUnknown,
    InvalidOption,
    IndexNotWritable,
)
_BY_NAME = {kind.__name__: kind for kind in _KINDS}

_TABLE_ERRORS = (NotAHudiTable, UnsupportedTable, DamagedTable, TableChanged, WriteFailed, WriteUnknown)
_INDEX_ERRORS = (DamagedIndex, IndexNotFound, StaleIndex, WriteConflict, IndexNotWritable)


def of_jvm_class(class_name: str) -> type[HudiIdxException] | None:
    """The Python peer of a Scala exception class; None when it is not one of ours.

    Args:
        class_name: full or simple name, such as ``hudiidx.DamagedIndex``.
    """
    package, _, name = class_name.rpartition(".")
    return _BY_NAME.get(name) if package in ("", "hudiidx") else None


def exit_code(error: BaseException) -> int:
    """The command's exit code for a failure: 2 usage, 3 the table, 4 the index, 5 anything else."""
    if isinstance(error, InvalidOption):
        return 2
    if isinstance(error, _TABLE_ERRORS):
        return 3
    if isinstance(error, _INDEX_ERRORS):
        return 4
    return 5
