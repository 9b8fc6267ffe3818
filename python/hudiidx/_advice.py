"""What queries of a table read, why, and what would help them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hudiidx import _explain
from hudiidx._jvm import translated
from hudiidx.model import ColumnAdvice

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from hudiidx.report import Report


class TableAdvice:
    """The calls of `HudiIndex` that are about queries."""

    _spark: SparkSession
    _path: str
    _options: dict[str, str]
    _api: Any
    _document: Callable[..., Any]

    def explain(self, df: DataFrame) -> str:
        """What each scan of this table in a query reads and why, as a tree of text. No rows are read.

        Empty where the query does not read the table with ``format("hudiidx")`` or through the catalog.

        Raises:
            TypeError: ``df`` is not a DataFrame of a classic session.
        """
        return _explain.explanation(self._document(self._api.explain, _java_frame(df)))

    def why_not(self, df: DataFrame) -> str:
        """As `explain`, but only the reasons why an index could leave nothing out.

        Raises:
            TypeError: ``df`` is not a DataFrame of a classic session.
        """
        return _explain.reasons(self._document(self._api.explain, _java_frame(df)))

    def recommend(self, *queries: DataFrame | str, sample: int = 200) -> list[ColumnAdvice]:
        """What bounds of which columns would leave out, for queries of this table. Reads footers, no rows.

        Args:
            queries: DataFrames that read this table with ``format("hudiidx")`` or through the catalog, or
                texts: a query in SQL (``SELECT …``), else a filter as for `prune`. None: the scans of this
                table that this process has run, up to 500 different filters, and as many of those that others
                have recorded (``hudiidx.read.history``).
            sample: footers to read for all queries together, about.

        Returns:
            One `ColumnAdvice` a column that the filters ask for, the most bytes saved first.

        Raises:
            TypeError: a query that is neither.
            ValueError: ``sample`` is below 1.
        """
        if sample < 1:
            raise ValueError(f"sample must be at least 1, got {sample!r}")
        frames = [_java_frame(self._query(q) if isinstance(q, str) else q) for q in queries]
        return [ColumnAdvice(**d) for d in self._document(self._api.recommend, frames, sample)]

    def report(self) -> Report:
        """What there is to know of the table and its index, as a page; shown by itself in a notebook.

        Files and timeline, compaction debt, how well indexed columns are clustered, which recorded scans the
        index helped, and what would help more. Reads index and timeline, no rows, without a Spark job.

        Returns:
            A `hudiidx.report.Report`: ``save(path)`` writes the page, one file that needs nothing else.
        """
        from hudiidx.report import Report

        return Report(self._document(self._api.report))

    def _query(self, text: str) -> DataFrame:
        if text.split(maxsplit=1)[0].lower() in ("select", "with"):
            return self._spark.sql(text)
        with translated():
            self._api.requireFilter(text)
        return self._spark.read.format("hudiidx").options(**self._options).load(self._path).where(text)


def _java_frame(df: object) -> Any:
    java_frame = getattr(df, "_jdf", None)
    if java_frame is None:
        raise TypeError(f"df must be a DataFrame of a classic Spark session, got {type(df).__name__}")
    return java_frame
