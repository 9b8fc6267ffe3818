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
        ColumnDifference,
        ColumnIndexInfo,
        ColumnReport,
        Difference,
        FileGroup,
        FileSlice,
        IndexInfo,
        LogFile,
        LookupWork,
        RecordDifference,
        RecordInfo,
        RecordLocation,
        RecordLocations,
        RecordReport,
        StockRecordReport,
        TableFile,
        VerifyReport,
    )
    from hudiidx.poll import Poll
    from hudiidx.report import Report
    from hudiidx.session import configure_spark
    from hudiidx.stream import update_after
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

_HOME = {
    "HudiIndex": "hudiidx.index",
    "Poll": "hudiidx.poll",
    "Report": "hudiidx.report",
    "Watcher": "hudiidx.watch",
    "configure_spark": "hudiidx.session",
    "update_after": "hudiidx.stream",
}
_MODEL = {
    "BaseFile",
    "ColumnAdvice",
    "ColumnDifference",
    "ColumnIndexInfo",
    "ColumnReport",
    "Difference",
    "FileGroup",
    "FileSlice",
    "IndexInfo",
    "LogFile",
    "LookupWork",
    "RecordDifference",
    "RecordInfo",
    "RecordLocation",
    "RecordLocations",
    "RecordReport",
    "StockRecordReport",
    "TableFile",
    "VerifyReport",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'hudiidx' has no attribute {name!r}")
    home = _HOME.get(name) or ("hudiidx.model" if name in _MODEL else "hudiidx.errors")
    return getattr(import_module(home), name)
