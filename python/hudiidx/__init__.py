"""Lists and reads Apache Hudi tables from an index sidecar instead of listing folders.

The names below load on first use, so that ``import hudiidx`` needs no PySpark. With it what goes wrong in
hudiidx is an exception of `hudiidx.errors`, without a Java stack, in Spark's own calls too:
``DataFrame.collect``, ``spark.sql``, writes and streams, in classic sessions and through Spark Connect.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hudiidx._raised import raise_ours
from hudiidx._version import __version__ as __version__

if TYPE_CHECKING:
    from hudiidx.errors import (
        DamagedIndex,
        DamagedTable,
        HudiIdxException,
        IndexNotFound,
        IndexNotWritable,
        InvalidOption,
        NotAHudiTable,
        StaleIndex,
        TableChanged,
        UnsupportedTable,
        WriteConflict,
        WriteFailed,
        WriteUnknown,
    )
    from hudiidx.index import HudiIndex
    from hudiidx.model import (
        BaseFile,
        ColumnAdvice,
        ColumnIndexInfo,
        FileGroup,
        FileSlice,
        IndexInfo,
        LogFile,
        LookupWork,
        RecordInfo,
        RecordLocation,
        RecordLocations,
        TableFile,
    )
    from hudiidx.poll import Poll
    from hudiidx.report import Report
    from hudiidx.session import configure_spark
    from hudiidx.stream import update_after
    from hudiidx.verification import (
        ColumnDifference,
        ColumnReport,
        Difference,
        RecordDifference,
        RecordReport,
        StockRecordReport,
        VerifyReport,
    )
    from hudiidx.watch import Watcher

raise_ours()

__all__ = [
    "BaseFile",
    "ColumnAdvice",
    "ColumnDifference",
    "ColumnIndexInfo",
    "ColumnReport",
    "DamagedIndex",
    "DamagedTable",
    "Difference",
    "FileGroup",
    "FileSlice",
    "HudiIdxException",
    "HudiIndex",
    "IndexInfo",
    "IndexNotFound",
    "IndexNotWritable",
    "InvalidOption",
    "LogFile",
    "LookupWork",
    "NotAHudiTable",
    "Poll",
    "RecordDifference",
    "RecordInfo",
    "RecordLocation",
    "RecordLocations",
    "RecordReport",
    "Report",
    "StaleIndex",
    "StockRecordReport",
    "TableChanged",
    "TableFile",
    "UnsupportedTable",
    "VerifyReport",
    "Watcher",
    "WriteConflict",
    "WriteFailed",
    "WriteUnknown",
    "configure_spark",
    "update_after",
]

# Where names come from; what is not here is an error class.
_MODULES = {
    "hudiidx.index": ("HudiIndex",),
    "hudiidx.model": (
        "BaseFile",
        "ColumnAdvice",
        "ColumnIndexInfo",
        "FileGroup",
        "FileSlice",
        "IndexInfo",
        "LogFile",
        "LookupWork",
        "RecordInfo",
        "RecordLocation",
        "RecordLocations",
        "TableFile",
    ),
    "hudiidx.poll": ("Poll",),
    "hudiidx.report": ("Report",),
    "hudiidx.session": ("configure_spark",),
    "hudiidx.stream": ("update_after",),
    "hudiidx.verification": (
        "ColumnDifference",
        "ColumnReport",
        "Difference",
        "RecordDifference",
        "RecordReport",
        "StockRecordReport",
        "VerifyReport",
    ),
    "hudiidx.watch": ("Watcher",),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'hudiidx' has no attribute {name!r}")
    home = _HOME.get(name, "hudiidx.errors")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
