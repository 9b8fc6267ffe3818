"""Where records are, by their keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, overload

from hudiidx import _keys
from hudiidx._jvm import frame, translated, whole
from hudiidx._views import instant_time, partition_path
from hudiidx.model import Key, RecordLocations

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class TableLookups:
    """The calls of `HudiIndex` that are about records."""

    _spark: SparkSession
    _api: Any
    _document: Callable[..., Any]

    @overload
    def lookup(
        self,
        keys: Iterable[Key],
        partition: str | None = None,
        as_of: str | None = None,
        *,
        rows: Literal[False] = False,
    ) -> RecordLocations: ...
    @overload
    def lookup(
        self,
        keys: Iterable[Key],
        partition: str | None = None,
        as_of: str | None = None,
        *,
        rows: Literal[True],
    ) -> DataFrame: ...
    def lookup(
        self,
        keys: Iterable[Key],
        partition: str | None = None,
        as_of: str | None = None,
        *,
        rows: bool = False,
    ) -> RecordLocations | DataFrame:
        """Where records are, by their keys, or the records. No Spark job while the index is in step.

        Exact at every moment: what the index has not taken in is read from the files it concerns. Without a
        record index all files are read, with one warning; in strict mode that is `IndexNotFound`.

        Args:
            keys: record keys as Hudi writes them (``"a:1,b:2"`` where the table has several key fields); also
                tuples of the key fields' values in the table's order, or dicts by field name; integers and
                dates where there is one key field.
            partition: locations in this partition path only.
            as_of: an instant time of the table, as for the views; default: the latest completed instant.
            rows: the rows of the table instead of their locations.

        Returns:
            A list of `RecordLocation`, as many for a key as there are (duplicates), in the order of ``keys``;
            a key asked twice is answered twice. Its ``missing`` are the keys without a location, its
            ``window_days`` says whether these may be outside the index's window, and its ``work`` counts
            what the lookup did.

            With ``rows`` a DataFrame of the table's columns and types: the rows that a read of the table has
            with these keys, each once, in no particular order, whatever the window of the index. The driver
            reads them here and now: ``collect()`` runs no job. Only where more than 64 file slices, or 4 GiB
            of them, may hold the keys tasks read them.

        Raises:
            TypeError: keys that are no list of keys.
            ValueError: a tuple or dict that does not fit the table's key fields, or values of a table whose
                key generator is not known (docs/keys.md): pass texts.
            InvalidOption: ``as_of`` is not an instant, or one that can no longer be answered for.
            IndexNotFound: strict, and there is no index or no record index.
            DamagedIndex: strict, and a file of the index cannot be read.
            UnsupportedTable: with ``rows``: only Hudi can tell the rows (payload classes, file formats).
        """
        if isinstance(keys, (str, bytes, Mapping)) or not isinstance(keys, Iterable):
            raise TypeError(f"keys must be a list of record keys, got {keys!r}; for one key pass [key]")
        texts = _keys.texts_of(keys, cache(self._key_form))
        asked = (
            _keys.pack([text for key in texts for text in key]),
            None if partition is None else partition_path(partition),
            instant_time(as_of),
        )
        with translated():
            if rows:
                return frame(self._spark, self._api.lookupRows(*asked))
            packed = whole(self._api.lookup(*asked))
        return _keys.unpack(texts, packed)

    def _key_form(self) -> _keys.KeyForm:
        told = self._document(self._api.keyForm)
        return _keys.KeyForm(
            tuple(told["fields"]), tuple(told["kinds"]), tuple(told["named"]), told["unknown"]
        )

    def tag_location(
        self, df: DataFrame, key: str | Sequence[str], partition: str | None = None
    ) -> DataFrame:
        """Where the records with these keys are: RFC-8's tagging, for any DataFrame.

        The result has the rows, columns and types of ``df`` and behind them ``partition_path``, ``file_id``
        and ``instant_time`` (string, null where the key is absent; of a window index: not in the window).
        A key with several locations gives a row for each: one row in, one or more out. Locations are those
        of the moment of this call, however late the DataFrame is computed.

        Args:
            df: of the same Spark session.
            key: the column that holds record keys. A text counts as it is (for keys of several fields in
                Hudi's form ``a:1,b:2``); other types become text as Hudi writes them. Or a list with a column
                for each key field of the table, by the fields' names or in their order.
            partition: a column of partition paths: only the location in that partition counts. With a
                ``partitioned`` record index, where a key is one of its partition, name it.

        Raises:
            InvalidOption: a column that cannot be a key, a number of columns that the table's keys do not
                have, or a ``df`` that has one of the three columns.
        """
        from hudiidx.tagging import tagged

        return tagged(self._spark, self._api, df, key, partition)
