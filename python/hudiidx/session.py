"""Puts the wheel's jar on Spark's class path."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hudiidx._spark import spark_jars, spark_line

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_JARS = Path(__file__).parent / "jars"


def jar_path() -> Path:
    """The jar inside this package for the Spark that is installed.

    Raises:
        RuntimeError: the package holds none, as in a source checkout without ``make build``; none for the
            installed Spark; no Spark is installed.
    """
    found = {_line(jar): jar for jar in sorted(_JARS.glob("hudiidx-spark-*.jar"))}
    if not found:
        raise RuntimeError(f"{_JARS}: no hudiidx jar; run `make build`, or install the wheel")
    jars = spark_jars()
    line = spark_line(jars)
    if line not in found:
        raise RuntimeError(
            f"Spark {line} is installed ({jars}); this hudiidx has jars for Spark {', '.join(found)}: "
            f"install one of these, such as pip install 'pyspark=={max(found)}.*'"
        )
    return found[line]


def _line(jar: Path) -> str:
    """``3.5`` of ``hudiidx-spark-3.5_2.12-0.1.0.jar``."""
    return jar.name.removeprefix("hudiidx-spark-").partition("_")[0]


def writer_jars() -> tuple[Path, Path]:
    """The jar inside this package and the one with the index class for stock Hudi's writers, which needs it.

    Raises:
        RuntimeError: as `jar_path`; or the installed Spark is not 3.5, the last that stock Hudi writes with.
    """
    if spark_line(spark_jars()) != "3.5":
        raise RuntimeError(
            f"{spark_jars()}: stock Hudi's writers, and our index class for them, need Spark 3.5"
        )
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
