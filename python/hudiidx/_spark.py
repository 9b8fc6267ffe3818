"""Which Spark is installed: each line (3.5, 4.0, ...) needs a jar of its own."""

from __future__ import annotations

import os
import re
from importlib.util import find_spec
from pathlib import Path

_CORE = re.compile(r"spark-core_[\d.]+-(\d+\.\d+)\.[^/]*\.jar")


class SparkNotFound(RuntimeError):
    """No Spark is installed, or what is there is none."""


def spark_jars() -> Path:
    """The jars folder of the installed PySpark (not imported: that takes half a second), or of SPARK_HOME.

    Raises:
        SparkNotFound: there is neither.
    """
    spec = find_spec("pyspark")
    if spec and spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations)), "jars")
    if os.environ.get("SPARK_HOME"):
        return Path(os.environ["SPARK_HOME"], "jars")
    raise SparkNotFound("PySpark is not installed: pip install 'pyspark>=3.5,<4.3'")


def spark_line(jars: Path) -> str:
    """The line of the Spark whose jars these are, such as ``3.5``.

    Raises:
        SparkNotFound: the folder has no Spark.
    """
    found = [m.group(1) for m in map(_CORE.fullmatch, (j.name for j in jars.glob("spark-core_*.jar"))) if m]
    if not found:
        raise SparkNotFound(f"{jars}: no Spark jars; install PySpark: pip install 'pyspark>=3.5,<4.3'")
    return found[0]
