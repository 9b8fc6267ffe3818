"""What an index knows about a table's files: partitions, file groups, slices, files."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import astuple
from typing import TYPE_CHECKING, Any, TypeVar, overload

from hudiidx import _json
from hudiidx._jvm import frame, translated, whole
from hudiidx.model import BaseFile, FileGroup, FileSlice

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")

_FILES_SCHEMA = (
    "partition_path string, file_id string, file_name string, kind string, instant_time string, size bigint"
)


class TableViews:
    """The calls of `HudiIndex` that are about files.

    A view call takes a partition path (``""`` for a table without partitions) and answers with a list
    of frozen dataclasses, sorted by file id and instant; without a partition it answers for the whole
    table with a DataFrame of the same column names, computed by Spark. ``as_of`` is an instant
    time of the table; default: the latest completed instant.
    """

    _spark: SparkSession
    _api: Any

    def partitions(self) -> list[str]:
        """Partition paths, sorted; ``[""]`` for a table without partitions."""
        return list(self._document(self._api.partitions))

    def prune(self, where: str, as_of: str | None = None) -> DataFrame:
        """The files that a query with this filter reads: those that no index can leave out. No rows are read.

        Args:
            where: a filter in Spark SQL over the table's columns, as ``"fare > 90 and city = 'oslo'"``.
            as_of: an instant time of the table, as for the views.

        Returns:
            One row a file: ``partition_path``, ``file_id``, ``file_name``, ``kind`` (``base`` or ``log``),
            ``instant_time``, ``size`` (bytes), and ``decided_by``: the indexes that left files out, as
            ``partitions, range(fare)``, the same in every row; empty if none did. `explain` and `why_not`
            tell more.

        Raises:
            pyspark.errors.AnalysisException: a filter that Spark cannot understand.
        """
        with translated():
            return frame(self._spark, self._api.prune(filter_text(where), instant_time(as_of)))

    @overload
    def files(
        self, partition: str | None = None, as_of: str | None = None, *, where: None = None
    ) -> DataFrame: ...
    @overload
    def files(
        self, partition: None = None, as_of: str | None = None, *, where: str, read_optimized: bool = False
    ) -> list[str]: ...
    def files(
        self,
        partition: str | None = None,
        as_of: str | None = None,
        *,
        where: str | None = None,
        read_optimized: bool = False,
    ) -> DataFrame | list[str]:
        """Committed files, of one partition or of all; with ``where`` paths of what a query must read.

        Args:
            partition: a partition path.
            as_of: an instant time of the table.
            where: a filter as for `prune`: the paths of the base files that hold all rows for which it is
                true, for readers of Parquet such as DuckDB, Polars and Arrow. These files hold other rows
                too, so the reader filters again.
            read_optimized: with ``where``: base files alone, though newer rows stand in log files.

        Returns:
            One row a file: ``partition_path`` string, ``file_id`` string, ``file_name`` string,
            ``kind`` string (``base`` or ``log``), ``instant_time`` string, ``size`` long (bytes).
            With ``where`` a list of paths, of the local file system without a scheme, else as URIs.

        Raises:
            UnsupportedTable: with ``where``: rows stand in log files, and only merging tells them.
            ValueError: both ``partition`` and ``where``.
        """
        if where is not None:
            if partition is not None:
                raise ValueError(
                    "files: name a partition or a filter, not both; a filter may name partitions"
                )
            found = self._document(self._api.paths, filter_text(where), instant_time(as_of), read_optimized)
            return [local_path(path) for path in found]
        if partition is None:
            return self._frame("files", as_of)
        found = self._document(self._api.view, "files", partition_path(partition), instant_time(as_of))
        rows = [astuple(_json.table_file(d)) for d in found]
        return self._spark.createDataFrame(rows, _FILES_SCHEMA)

    @overload
    def all_base_files(self, partition: str, as_of: str | None = None) -> list[BaseFile]: ...
    @overload
    def all_base_files(self, partition: None = None, as_of: str | None = None) -> DataFrame: ...
    def all_base_files(
        self, partition: str | None = None, as_of: str | None = None
    ) -> list[BaseFile] | DataFrame:
        """Every committed base file, of older slices too."""
        return self._view("all_base_files", partition, as_of, _json.base_file)

    @overload
    def latest_base_files(self, partition: str, as_of: str | None = None) -> list[BaseFile]: ...
    @overload
    def latest_base_files(self, partition: None = None, as_of: str | None = None) -> DataFrame: ...
    def latest_base_files(
        self, partition: str | None = None, as_of: str | None = None
    ) -> list[BaseFile] | DataFrame:
        """The newest base file of each live file group that has one."""
        return self._view("latest_base_files", partition, as_of, _json.base_file)

    @overload
    def all_file_groups(self, partition: str, as_of: str | None = None) -> list[FileGroup]: ...
    @overload
    def all_file_groups(self, partition: None = None, as_of: str | None = None) -> DataFrame: ...
    def all_file_groups(
        self, partition: str | None = None, as_of: str | None = None
    ) -> list[FileGroup] | DataFrame:
        """Every live file group: replaced ones are left out."""
        return self._view("all_file_groups", partition, as_of, _json.file_group)

    @overload
    def all_file_slices(self, partition: str, as_of: str | None = None) -> list[FileSlice]: ...
    @overload
    def all_file_slices(self, partition: None = None, as_of: str | None = None) -> DataFrame: ...
    def all_file_slices(
        self, partition: str | None = None, as_of: str | None = None
    ) -> list[FileSlice] | DataFrame:
        """Every file slice of every live file group."""
        return self._view("all_file_slices", partition, as_of, _json.file_slice)

    @overload
    def latest_file_slices(self, partition: str, as_of: str | None = None) -> list[FileSlice]: ...
    @overload
    def latest_file_slices(self, partition: None = None, as_of: str | None = None) -> DataFrame: ...
    def latest_file_slices(
        self, partition: str | None = None, as_of: str | None = None
    ) -> list[FileSlice] | DataFrame:
        """The newest slice of each live file group; behind a pending compaction it has log files only."""
        return self._view("latest_file_slices", partition, as_of, _json.file_slice)

    @overload
    def latest_uncompacted_file_slices(self, partition: str, as_of: str | None = None) -> list[FileSlice]: ...
    @overload
    def latest_uncompacted_file_slices(
        self, partition: None = None, as_of: str | None = None
    ) -> DataFrame: ...
    def latest_uncompacted_file_slices(
        self, partition: str | None = None, as_of: str | None = None
    ) -> list[FileSlice] | DataFrame:
        """The newest slices, without file groups that have a compaction pending."""
        return self._view("latest_uncompacted_file_slices", partition, as_of, _json.file_slice)

    @overload
    def latest_merged_file_slices(self, partition: str, as_of: str | None = None) -> list[FileSlice]: ...
    @overload
    def latest_merged_file_slices(self, partition: None = None, as_of: str | None = None) -> DataFrame: ...
    def latest_merged_file_slices(
        self, partition: str | None = None, as_of: str | None = None
    ) -> list[FileSlice] | DataFrame:
        """The newest slices, each behind a pending compaction merged with the one before it."""
        return self._view("latest_merged_file_slices", partition, as_of, _json.file_slice)

    def log_blocks(self, partition: str | None = None, as_of: str | None = None) -> DataFrame:
        """The blocks of the latest file slices' log files, whether readers count them or not.

        Returns:
            One row a block: ``partition_path``, ``file_id``, ``file_name`` strings; ``block`` int, its number
            in the file from 0; ``kind`` string (``avro_data``, ``hfile_data``, ``parquet_data``, ``delete``,
            ``rollback``, ``command``, ``corrupt``); ``instant_time`` string; ``size`` long (bytes);
            ``records`` long, ``min_key``, ``max_key`` strings, null where nothing tells (of long keys the
            first 31 bytes; numbers and UUIDs in their own order); ``indexed`` string: ``tail`` (its writer
            left an index in the log), ``sidecar`` (the index folder has one) or ``none``.

        Raises:
            DamagedTable: a log file is gone or cannot be understood.
        """
        path = None if partition is None else partition_path(partition)
        with translated():
            return frame(self._spark, self._api.logBlocks(path, instant_time(as_of)))

    def _view(
        self, call: str, partition: str | None, as_of: str | None, of: Callable[[Mapping[str, Any]], T]
    ) -> list[T] | DataFrame:
        if partition is None:
            return self._frame(call, as_of)
        return [
            of(d)
            for d in self._document(self._api.view, call, partition_path(partition), instant_time(as_of))
        ]

    def _frame(self, call: str, as_of: str | None) -> DataFrame:
        with translated():
            return frame(self._spark, self._api.viewFrame(call, instant_time(as_of)))

    def _document(self, call: Callable[..., Any], *arguments: object) -> Any:
        with translated():
            return json.loads(whole(call(*arguments)))


def partition_path(partition: object) -> str:
    if not isinstance(partition, str):
        raise TypeError(f"partition must be a partition path, got {partition!r} ({type(partition).__name__})")
    return partition


def filter_text(where: object) -> str:
    """A filter in SQL; TypeError for anything but text."""
    if not isinstance(where, str):
        raise TypeError(f"where must be a filter in SQL, got {where!r} ({type(where).__name__})")
    return where


def local_path(path: str) -> str:
    """A local path without its scheme: readers beside Spark take no ``file:``."""
    return path[len("file:") :] if path.startswith("file:/") else path


def instant_time(as_of: object) -> str | None:
    if as_of is not None and not isinstance(as_of, str):
        raise TypeError(f"as_of must be an instant time as text, got {as_of!r} ({type(as_of).__name__})")
    return as_of
