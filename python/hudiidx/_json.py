"""JSON documents of the Scala side as the types of ``model``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hudiidx.model import (
    BaseFile,
    ColumnIndexInfo,
    FileGroup,
    FileSlice,
    IndexInfo,
    LogFile,
    RecordInfo,
    TableFile,
)
from hudiidx.verification import (
    ColumnDifference,
    ColumnReport,
    Difference,
    RecordDifference,
    RecordReport,
    StockRecordReport,
    VerifyReport,
)


def base_file(d: Mapping[str, Any]) -> BaseFile:
    """A base file from its five fields."""
    return BaseFile(d["partition_path"], d["file_id"], d["instant_time"], d["file_name"], d["size"])


def file_slice(d: Mapping[str, Any]) -> FileSlice:
    """A slice; the base file may be null or missing."""
    base = d.get("base_file")
    logs = tuple(LogFile(x["file_name"], x["size"], x["version"]) for x in d.get("log_files") or ())
    return FileSlice(
        d["partition_path"], d["file_id"], d["base_instant_time"], base_file(base) if base else None, logs
    )


def file_group(d: Mapping[str, Any]) -> FileGroup:
    """A file group."""
    return FileGroup(d["partition_path"], d["file_id"])


def table_file(d: Mapping[str, Any]) -> TableFile:
    """A committed file."""
    return TableFile(
        d["partition_path"], d["file_id"], d["file_name"], d["kind"], d["instant_time"], d["size"]
    )


def index_info(d: Mapping[str, Any]) -> IndexInfo:
    """The state of an index, whatever parts of it were reported."""
    return IndexInfo(
        state=d["state"],
        reason=d.get("reason") or None,
        instants_behind=d.get("instants_behind") or 0,
        lag_seconds=d.get("lag_seconds") or 0.0,
        last_synced_instant=d.get("last_synced_instant") or None,
        index_version=d.get("index_version") or None,
        files=d.get("files"),
        partitions=d.get("partitions"),
        bytes_by_kind=d.get("bytes_by_kind") or d.get("bytes") or {},
        record=record_info(d["record"]) if d.get("record") else None,
        columns=tuple(column_index_info(c) for c in d.get("columns") or ()),
        logs=bool(d.get("logs")),
        never=tuple(d.get("never") or ()),
        symlink_manifest=d.get("symlink_manifest") or None,
        fallbacks=d.get("fallbacks") or {},
        details=d,
    )


def record_info(d: Mapping[str, Any]) -> RecordInfo:
    """The account of a record index."""
    return RecordInfo(
        d["mode"],
        d.get("window_days"),
        d["file_groups"],
        d["mappings"],
        d["size"],
        d["base_files"],
        d["delta_files"],
    )


def column_index_info(d: Mapping[str, Any]) -> ColumnIndexInfo:
    """An index on columns."""
    return ColumnIndexInfo(d["kind"], tuple(d["columns"]), d.get("options") or {}, bool(d.get("pending")))


def verify_report(d: Mapping[str, Any]) -> VerifyReport:
    """The findings of a comparison of index and table."""
    found = tuple(
        Difference(
            x["kind"], x.get("partition"), x.get("file"), x.get("detail") or "", x.get("cause") or "unknown"
        )
        for x in d.get("differences") or ()
    )
    record, stock = d.get("record"), d.get("stock_record_index")
    return VerifyReport(
        bool(d["ok"]),
        found,
        d.get("counts") or {},
        record_report(record) if record else None,
        stock_record_report(stock) if stock else None,
        column_report(d["columns"]) if d.get("columns") else None,
    )


def column_report(d: Mapping[str, Any]) -> ColumnReport:
    """The findings of a comparison of indexes on columns and table."""
    samples = tuple(ColumnDifference(**x) for x in d["samples"])
    return ColumnReport(d["ok"], d["counts"], samples, d["files"], d["uncovered"], d["equal"], d["seconds"])


def record_report(d: Mapping[str, Any]) -> RecordReport:
    """The findings of a comparison of record index and table."""
    return RecordReport(
        d["ok"],
        d["counts"],
        _record_differences(d),
        d["keys"],
        d["mappings"],
        d["file_groups"],
        d["overlaid_file_groups"],
        d["seconds"],
    )


def stock_record_report(d: Mapping[str, Any]) -> StockRecordReport:
    """The findings of a comparison with Hudi's own record index."""
    return StockRecordReport(
        d["skipped"] or None, d["equal"], d["only_in_hudi"], d["only_in_index"], _record_differences(d)
    )


def _record_differences(d: Mapping[str, Any]) -> tuple[RecordDifference, ...]:
    return tuple(
        RecordDifference(x["kind"], x["key"], x["partition"], x["file_id"], x["detail"], x["cause"])
        for x in d["samples"]
    )
