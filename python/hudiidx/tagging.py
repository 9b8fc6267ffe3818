"""Tagging a DataFrame: arguments to the Scala side, its DataFrame back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hudiidx._jvm import frame, translated

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def tagged(
    spark: SparkSession, api: Any, df: DataFrame, key: str | Sequence[str], partition: str | None
) -> DataFrame:
    """See `HudiIndex.tag_location`.

    Raises:
        TypeError: an argument that is not a DataFrame of a classic session, or not a column name.
    """
    java_frame = getattr(df, "_jdf", None)
    if java_frame is None:
        raise TypeError(f"df must be a DataFrame of a classic Spark session, got {type(df).__name__}")
    columns = [key] if isinstance(key, str) else list(key)
    if not columns or not all(isinstance(c, str) for c in columns):
        raise TypeError(f"key must be a column name or a list of them, got {key!r}")
    if partition is not None and not isinstance(partition, str):
        raise TypeError(f"partition must be a column name, got {partition!r} ({type(partition).__name__})")
    with translated():
        return frame(spark, api.tagLocation(java_frame, columns, isinstance(key, str), partition))
