"""A table for readers that know files alone: Arrow datasets, symlink manifests."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from importlib import import_module
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from hudiidx._text import shown
from hudiidx._views import filter_text, instant_time, local_path
from hudiidx.errors import InvalidOption

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset


class TableExports:
    """The calls of `HudiIndex` that let other engines read the table."""

    _api: Any
    _document: Callable[..., Any]

    def arrow_dataset(
        self,
        where: str = "true",
        as_of: str | None = None,
        *,
        read_optimized: bool = False,
        filesystem: Any = None,
    ) -> Dataset:
        """The base files that hold all rows of a filter, as a dataset for Arrow, DuckDB or Polars.

        The indexes choose the files, whose footers are read; these hold other rows too, so the reader
        filters again. The dataset has the table's columns and types: what files lack is null, what they have
        in a narrower type is widened. It stands for the table as it was at the call.

        Vectors come as the bytes that files have, of fixed size: numbers one behind the other, the least byte
        first. The field's metadata tells which, as ``hudi_type: VECTOR(8, DOUBLE)``.

        Args:
            where: a filter in Spark SQL over the table's columns, as for `prune`; default: all files.
            as_of: an instant time of the table, as for the views.
            read_optimized: base files alone, though newer rows stand in log files.
            filesystem: of Arrow (or fsspec) to read them with; default: that of the table's URI.

        Returns:
            A ``pyarrow.dataset.Dataset``.

        Raises:
            UnsupportedTable: rows stand in log files, columns were renamed, files lack the columns of
                partitions, bear times under another unit's label, or a column of a type that Arrow widens
                to other values than Hudi does, as a float to a double.
            DamagedTable: there is a pipe or a device in the place of a file.
            ImportError: there is no pyarrow.
        """
        try:
            datasets = import_module("pyarrow.dataset")
        except ImportError as error:
            raise ImportError(f"arrow_dataset needs pyarrow ({error}); pip install pyarrow") from error
        found = self._document(self._api.dataset, filter_text(where), instant_time(as_of), read_optimized)
        paths: Sequence[str] = [local_path(path) for path in found["paths"]]
        if filesystem is None:
            filesystem = _filesystem(paths)
        schema = _arrow_schema(found["schema"])
        return datasets.FileSystemDataset.from_paths(
            [_key(path) for path in paths],
            schema=schema,
            format=datasets.ParquetFileFormat(),
            filesystem=filesystem,
            partitions=[_fixed(values, schema) for values in found["fixed"]],
        )

    def export_symlink_manifest(
        self,
        path: str | PathLike[str] | None = None,
        *,
        read_optimized: bool = False,
        keep: bool | None = None,
    ) -> Mapping[str, Any]:
        """Writes texts that name the table's latest base files, for Hive, Presto, Trino and Athena.

        One file ``manifest`` in a folder for each partition, as SymlinkTextInputFormat reads them; those that
        are right already stay. Needs no index.

        Args:
            path: folder of the manifests; default: where the index keeps them, or ``symlink_manifest`` in the
                index folder.
            read_optimized: of a merge-on-read table name base files, though newer rows stand in log files.
            keep: true: each `update` brings the manifests up from now on; false: none does; None: as it is.

        Returns:
            ``path``, ``partitions`` and ``files`` named, manifests ``written`` and ``removed``,
            ``index_version`` (0: the files come from a listing).

        Raises:
            UnsupportedTable: rows stand in log files, the table was bootstrapped, or columns were renamed.
            IndexNotFound: with ``keep=True``: there is no index.
            IndexNotWritable: the folder takes no files, or holds manifests of another table.
            WriteConflict: others export without end.
        """
        folder = None if path is None else fspath(path)
        return dict(self._document(self._api.exportSymlinks, folder, read_optimized, keep))


def _arrow_schema(spark_schema: str) -> Any:
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    struct = StructType.fromJson(json.loads(spark_schema))
    schema = to_arrow_schema(struct)
    for place, field in enumerate(struct):
        if vector := _VECTOR.fullmatch(str(field.metadata.get("hudi_type", ""))):
            kept = import_module("pyarrow").binary(int(vector[1]) * _ELEMENT_BYTES[vector[2]])
            schema = schema.set(place, schema.field(place).with_type(kept).with_metadata(field.metadata))
    return schema


# Of a vector: its elements, and their type where that is not float.
_VECTOR = re.compile(r"VECTOR\((\d+)(?:, (\w+))?\)")
_ELEMENT_BYTES = {None: 4, "DOUBLE": 8, "INT8": 1}


def _fixed(values: Mapping[str, str | None], schema: Any) -> Any:
    """What all rows of a file have, as Arrow keeps it: then it takes these columns from here alone."""
    compute = import_module("pyarrow.compute")
    all_of = compute.scalar(True)
    for name, text in values.items():
        column = compute.field(name)
        known = column.is_null() if text is None else column == _scalar(text, schema.field(name).type)
        all_of = known if all_of.equals(compute.scalar(True)) else all_of & known
    return all_of


def _scalar(text: str, kind: Any) -> Any:
    arrow = import_module("pyarrow")
    if arrow.types.is_decimal(kind):
        return arrow.scalar(Decimal(text), kind)
    return arrow.scalar(text).cast(kind)


def _filesystem(paths: Sequence[str]) -> Any:
    """Arrow's, by the store of the first path: all are of one table.

    Names of partitions are in the paths, and whoever writes rows chooses them. To Arrow what is behind the
    question mark of a URI are options, as to which host the credentials go.
    """
    stores = import_module("pyarrow.fs")
    if not paths or "://" not in paths[0]:
        return stores.LocalFileSystem()
    scheme, rest = paths[0].split("://", 1)
    store = rest.split("/", 1)[0]
    if "?" in store or "#" in store:
        raise InvalidOption(
            f"{scheme}://{shown(store)}: not a valid store name; give the table's path without options"
        )
    # Hadoop has names of its own for S3.
    return stores.FileSystem.from_uri(f"{'s3' if scheme in ('s3a', 's3n') else scheme}://{store}/")[0]


def _key(path: str) -> str:
    """A path as Arrow's file systems take it: bucket and key, or from the root of HDFS."""
    if "://" not in path:
        return path
    scheme, rest = path.split("://", 1)
    return "/" + rest.split("/", 1)[1] if scheme in ("hdfs", "viewfs") else rest
