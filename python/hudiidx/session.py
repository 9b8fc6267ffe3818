"""Puts the wheel's jar on Spark's class path."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_JARS = Path(__file__).parent / "jars"


def jar_path() -> Path:
    """The jar inside this package.

    Raises:
        RuntimeError: the package holds none, as in a source checkout without ``make build``.
    """
    found = sorted(_JARS.glob("hudiidx-spark-*.jar"))
    if not found:
        raise RuntimeError(f"{_JARS}: no hudiidx jar; run `make build`, or install the wheel")
    return found[-1]


def writer_jars() -> tuple[Path, Path]:
    """The jar inside this package and the one with the index class for stock Hudi's writers, which needs it.

    Raises:
        RuntimeError: as `jar_path`.
    """
    found = sorted(_JARS.glob("hudiidx-hudi_*.jar"))
    if not found:
        raise RuntimeError(f"{_JARS}: no jar for Hudi's writers; run `make build`, or install the wheel")
    return jar_path(), found[-1]


def configure_spark(builder: SparkSession.Builder) -> SparkSession.Builder:
    """The builder with our jar on the class path of driver and executors; what it has set stays.

    The driver's class path can only be set before its JVM starts: call this before the first
    ``getOrCreate()`` of the process. With ``spark-submit``, pass the jar (``hudiidx jar``) to ``--jars``.

    Example:
        >>> spark = configure_spark(SparkSession.builder.master("local[2]")).getOrCreate()  # doctest: +SKIP
    """
    jar = str(jar_path())
    _append(builder, "spark.jars", jar, ",")
    _append(builder, "spark.driver.extraClassPath", jar, ":")
    return builder


def _append(builder: Any, key: str, value: str, separator: str) -> None:
    set_before = builder._options.get(key, "")
    parts = [p for p in set_before.split(separator) if p]
    if value not in parts:
        parts.append(value)
    builder.config(key, separator.join(parts))
