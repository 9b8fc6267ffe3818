"""The index of one table, and what it knows about the table's files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from hudiidx import _columns, _json
from hudiidx._advice import TableAdvice
from hudiidx._exports import TableExports
from hudiidx._jvm import compact, facade, translated
from hudiidx._lookups import TableLookups
from hudiidx._views import TableViews
from hudiidx.errors import InvalidOption
from hudiidx.model import IndexInfo
from hudiidx.options import resolve
from hudiidx.verification import VerifyReport

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class HudiIndex(TableViews, TableLookups, TableAdvice, TableExports):
    """The index of one Hudi table: makes it, keeps it in step, and answers listings from it.

    Without a usable index every listing is answered from the table itself, with one warning; never
    wrongly. In strict mode that is an error instead.

    A view call takes a partition path (``""`` for a table without partitions) and answers with a list
    of frozen dataclasses, sorted by file id and instant; without a partition it answers for the whole
    table with a DataFrame of the same column names, computed by Spark. ``as_of`` is an instant
    time of the table; default: the latest completed instant.

    Every call may raise `NotAHudiTable`, `UnsupportedTable` or `DamagedTable`; in strict mode also
    `StaleIndex`.
    """

    def __init__(
        self,
        spark: SparkSession,
        path: str | PathLike[str],
        *,
        index_path: str | PathLike[str] | None = None,
        strict: bool | None = None,
        source: str | None = None,
        **options: object,
    ) -> None:
        """Opens nothing yet but the table's properties.

        Args:
            spark: a session made with ``configure_spark``, or one that has our jar.
            path: the table's folder, or a URI that Hadoop's FileSystem understands.
            index_path: where the index lives; default ``<table>/.hoodie/hudiidx``.
            strict: raise instead of answering without the index; default false.
            source: where `create` takes the files from: ``auto``, ``listing`` or ``metadata``.
            options: further options, by full name: ``**{"hudiidx.read.x": 1}``.

        Raises:
            InvalidOption: an option nobody knows, or a value of the wrong type.
        """
        given = dict(options, index_path=index_path, strict=strict, source=source)
        self._spark = spark
        self._path = fspath(path)
        self._options = resolve({}, given)  # the session's own settings are read on the JVM side
        self._api = facade(spark, self._path, self._options)

    def __repr__(self) -> str:
        return f"HudiIndex({self._path!r})"

    def close(self) -> None:
        """Closes the files of the index that lookups of keys keep open. A later call opens them again.

        Files that lookups of rows and DataFrames read are the session's, which closes what nobody read for
        a minute.
        """
        self._api.close()

    def __enter__(self) -> HudiIndex:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    @property
    def path(self) -> str:
        """The table's path as given."""
        return self._path

    @property
    def spark(self) -> SparkSession:
        """The session as given."""
        return self._spark

    def create(
        self,
        *,
        record: str | None = None,
        window_days: int | None = None,
        file_groups: int | None = None,
        columns: str | Sequence[str] | None = None,
        bloom: str | Sequence[str] | None = None,
        bloom_fpp: float | None = None,
        values: str | Sequence[str] | None = None,
        values_max: int | None = None,
        indexes: str | Sequence[str] | None = None,
        never: str | Sequence[str] | None = None,
        logs: bool | None = None,
    ) -> Mapping[str, Any]:
        """Makes the index, whole; an index that is there is replaced at the end, in one step.

        An index holds values of the table in the clear: names of partitions, and, of what is indexed, record
        keys, bounds, values and bloom filters. Whoever may read its folder may read them; see SECURITY.md.

        Columns are named as in SQL, those in structs with dots, or are expressions of columns in Spark SQL:
        ``"date_format(ts, 'yyyy-MM')"``. What is not given of the indexes on columns stays as the index has
        it; an empty list takes it away.

        Args:
            record: also a record index, for `lookup`: ``"global"`` (a key is one record of the table) or
                ``"partitioned"`` (of its partition). Default: as the index has it, none if it has none.
            window_days: the record index holds records committed in so many days before the newest instant;
                default: all. Goes by ``_hoodie_commit_time``.
            file_groups: hash groups of the record index; default: by size. They split as it grows.
            columns: keep bounds and counts of these columns for every file; ``"*"``: of all, those included
                that the table will have later.
            bloom: keep bloom filters of these columns.
            bloom_fpp: share of absent values that these take for present; default 0.01.
            values: keep the values of these columns, for files that have few of them.
            values_max: at most so many for a file; default 64.
            indexes: of other kinds, which jars bring: ``["quadkey(lon,lat,level=12)"]``.
            never: the index holds no value of these columns, in any form, now and after updates by others; it
                keeps the list, to which later calls can only add.
            logs: keep an index of the keys of log blocks, for reads by record key of slices with logs; for
                blocks whose writer left one in the log none is kept. Default: as the index has it.

        Returns:
            What was done: ``index_version``, ``files``, ``partitions``, times and bytes.

        Raises:
            InvalidOption: another ``record``, a number out of range, a window without a record index, or a
                column that the table does not have or that has no order.
            WriteConflict: another writer published meanwhile, again and again.
            IndexNotWritable: the index folder is read-only or full; `index_path=` puts it elsewhere.
        """
        api = self._with(
            record=record,
            window_days=window_days,
            file_groups=file_groups,
            columns=_columns.names(columns),
            bloom=_columns.names(bloom),
            bloom_fpp=bloom_fpp,
            values=_columns.names(values),
            values_max=values_max,
            indexes=_columns.specs(indexes),
            never=_columns.names(never),
            logs=logs,
        )
        return dict(self._document(api.create))

    def add_index(
        self,
        what: str | Sequence[str],
        *,
        kind: str | None = None,
        mode: str | None = None,
        window_days: int | None = None,
        file_groups: int | None = None,
        wait: bool = True,
        **options: object,
    ) -> Mapping[str, Any]:
        """Makes a part of the index beside the listing, or makes it anew; brings the index up first.

        Other parts, and other columns, stay as they are; writers and readers go on meanwhile.

        Args:
            what: ``"record"``, the record index; ``"logs"``, the index of log blocks, as in `create`; or a
                column, or several: with each an index of its own where ``kind`` looks at one column. Also in
                full: ``"bloom(rider,fpp=0.001)"``. A column may be an expression of columns:
                ``"date_format(ts, 'yyyy-MM')"``.
            kind: of an index on columns: ``"range"`` (bounds and counts, the default), ``"bloom"``,
                ``"values"``, or one that a jar brings, over all the columns together.
            mode: ``"global"`` or ``"partitioned"``; default: as the index has it, global if it has none.
            window_days: as in `create`.
            file_groups: as in `create`.
            wait: False: return at once. An index on columns is made in the background then, by this process
                or, if that ends, by the next `update`; until it is there files count as matches.
            options: of the kind, such as ``fpp=0.001``.

        Returns:
            As `create`.

        Raises:
            IndexNotFound: there is no index yet; `create` makes one.
            InvalidOption: another ``kind`` or ``mode``, a number out of range, a column that the table does
                not have or that the kind cannot index, or an expression whose values may change.
            WriteConflict: another writer published meanwhile, again and again.
            IndexNotWritable: the index folder is read-only or full.
        """
        part = _columns.part(what, kind)
        if part is not None and (options or not wait):
            given = ", ".join([*options, *([] if wait else ["wait"])])
            raise InvalidOption(f"{given}: not for the index of {part}; options and wait are for columns")
        if part == "record":
            api = self._with(record=mode, window_days=window_days, file_groups=file_groups)
            return dict(self._document(api.addIndex, "record"))
        if mode is not None or window_days is not None or file_groups is not None:
            raise InvalidOption("mode, window_days and file_groups are for the record index")
        if part is not None:
            return dict(self._document(self._api.addIndex, part))
        return dict(self._document(self._api.addColumns, _columns.indexes(what, kind, options), wait))

    def _note_index(
        self, what: str | Sequence[str], kind: str | None, options: Mapping[str, object]
    ) -> Mapping[str, Any]:
        """As `add_index` for columns, but the index is left to the next `update`: of a process that ends."""
        part = _columns.part(what, kind)
        if part is not None:
            raise InvalidOption(f"the index of {part} is made at once, and cannot be left to an update")
        return dict(self._document(self._api.noteColumns, _columns.indexes(what, kind or "range", options)))

    def drop_index(self, what: str | Sequence[str], *, kind: str | None = None) -> Mapping[str, Any]:
        """Removes a part of the index; the listing stays. A missing part is not an error.

        Args:
            what: ``"record"``, ``"logs"``, or columns as in `add_index`; an expression in any spelling.
            kind: of an index on columns; default: every kind.

        Raises:
            IndexNotFound: there is no index at all.
            WriteConflict: another writer published meanwhile, again and again.
        """
        part = _columns.part(what, kind)
        if part is not None:
            return dict(self._document(self._api.dropIndex, part))
        return dict(self._document(self._api.dropColumns, _columns.indexes(what, kind, {}, "any")))

    def _with(self, **given: object) -> Any:
        """The Scala face with more options for one call."""
        if all(value is None for value in given.values()):
            return self._api
        return facade(self._spark, self._path, resolve(self._options, given))

    def update(self) -> Mapping[str, Any]:
        """Updates the index to the latest instant; lists no data partition. Nothing to do is not an error.

        Returns:
            As `create`; ``instants``: requested times of those taken in, ``lag_millis``: how long before the
            new version the oldest of these had completed, None without any and where the table was listed.

        Raises:
            IndexNotFound: there is no index; make one with `create`.
            WriteConflict: another writer published meanwhile, again and again.
            IndexNotWritable: the index folder is read-only or full; `index_path=` puts it elsewhere.
        """
        return dict(self._document(self._api.update))

    def compact_table(
        self,
        *,
        op: str = "schedule_and_execute",
        partitions: Sequence[str] | None = None,
        options: Mapping[str, str] | None = None,
    ) -> Mapping[str, Any]:
        """Merges the log files of a merge-on-read table into base files, and brings the index up.

        Plans that are there, stock Hudi's too, run first. Writers may go on while a plan runs, not while
        one is made.

        Args:
            op: ``schedule_and_execute``, ``schedule`` (stock Hudi may run the plan) or ``execute``.
            partitions: partition paths that are planned for; default: all.
            options: ``hoodie.*`` settings of base files and heartbeats, docs/writing.md.

        Returns:
            ``scheduled``: instant of the plan that was made, or None where there are no log files; and
            ``compactions``, one for each plan that ran: ``instant``, ``file_groups``, ``log_files``,
            ``rows``, ``bytes_read`` (of log files), ``bytes_written``, ``elapsed_millis``.

        Raises:
            UnsupportedTable: the table is copy-on-write, or one that is not compacted here.
            WriteConflict: a writer, or another compaction, is at work.
            DamagedTable: files cannot be merged; the plan stays and is run by the next call.
            InvalidOption: an unknown ``op``, or a bad value of an option.
        """
        if isinstance(partitions, str):
            raise TypeError(
                f"partitions must be a list of partition paths, got the single string {partitions!r}"
            )
        given = {**self._options, **(options or {})}
        return dict(self._document(lambda: compact(self._spark, self._path, given, op, partitions)))

    def info(self) -> IndexInfo:
        """The state of the index. An absent or broken index is a state, not an error."""
        return _json.index_info(self._document(self._api.info))

    def verify(
        self,
        *,
        record: bool = False,
        columns: bool = False,
        samples: int = 20,
        scratch: str | PathLike[str] | None = None,
    ) -> VerifyReport:
        """Compares the index with a fresh listing and the timeline.

        A file that is being written is not a difference.

        Args:
            record: also compare the record index with the key columns of all files, by Spark, and with
                Hudi's own record index where the table has one that is in step.
            columns: also compare the indexes on columns, and on expressions of columns, with all files, by
                Spark: bounds and counts, bloom filters, values, and records of other kinds.
            samples: most differences of a kind in these that are told one by one; all are counted.
            scratch: folder for the sorted keys of the table (about as large as the record index), removed
                afterwards; the executors must reach it. Default: the index folder.

        Raises:
            IndexNotFound: there is no index, or no record index or none on columns where they are asked for.
            IndexNotWritable: with ``record``: the folder takes no files; ``scratch`` names another one.
        """
        if not (record or columns):
            return _json.verify_report(self._document(self._api.verify))
        folder = None if scratch is None else fspath(scratch)
        return _json.verify_report(self._document(self._api.verifyParts, record, columns, samples, folder))

    def expire_index_versions(
        self, *, retain_last: int | None = None, older_than_minutes: int | None = None
    ) -> list[str]:
        """Removes old index versions, and index files that no version names. Each update does so too.

        Args:
            retain_last: newest versions that stay whatever their age; default 3.
            older_than_minutes: younger versions stay: a reader may have one open; default 60.

        Returns:
            Names of the files that were removed, relative to the index folder.

        Raises:
            IndexNotFound: there is no index.
            InvalidOption: a number out of range.
        """
        api = self._with(retain_last=retain_last, older_than_minutes=older_than_minutes)
        return list(self._document(api.expireVersions))

    def drop(self) -> bool:
        """Removes the index, and nothing else. False if there was none."""
        with translated():
            return bool(self._api.drop())
