"""The one door to the Scala side: nothing else touches ``spark._jvm``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hudiidx._raised import of_java

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def facade(spark: SparkSession, table_path: str, options: Mapping[str, str]) -> Any:
    """The Scala face of one table.

    Raises:
        TypeError: ``spark`` is not a Spark session.
        RuntimeError: the session has no JVM (Spark Connect, or stopped) or not our jar.
    """
    jvm = getattr(spark, "_jvm", None)
    session = getattr(spark, "_jsparkSession", None)
    if session is None or jvm is None:
        if type(spark).__module__.startswith("pyspark.sql.connect"):
            raise RuntimeError("hudiidx needs a classic Spark session: Spark Connect has no JVM gateway")
        raise TypeError(f"spark must be a SparkSession, got {type(spark).__name__}")
    from py4j.java_gateway import JavaPackage

    found = jvm.hudiidx.spark.api.HudiIdxApi
    if isinstance(found, JavaPackage):  # py4j's stand-in for a class that it cannot load
        raise RuntimeError(
            "the hudiidx jar is not on the driver's class path: build the session with "
            "hudiidx.configure_spark(builder), or pass it to spark-submit --jars"
        )
    with translated():
        return found(session, table_path, _packed(spark, options))


def compact(
    spark: SparkSession,
    table_path: str,
    options: Mapping[str, str],
    op: str,
    partitions: Sequence[str] | None,
) -> str:
    """Compacts a table; the answer is a JSON document. The session must have our jar, as `facade` checks."""
    jvm: Any = spark._jvm
    paths = None
    if partitions is not None:
        paths = jvm.java.util.ArrayList()
        for path in partitions:
            paths.add(path)
    with translated():
        answer: str = jvm.hudiidx.spark.compact.CompactionApi.run(
            spark._jsparkSession, table_path, _packed(spark, options), op, paths
        )
    return answer


def holds_table(spark: SparkSession, folder: str, table: str) -> bool:
    """Is the folder a Hudi table, or is this table in it?"""
    jvm: Any = spark._jvm
    conf = spark._jsparkSession.sessionState().newHadoopConf()
    to_path = jvm.org.apache.hadoop.fs.Path

    def qualified(path: str) -> Any:
        found = to_path(path)
        return found.getFileSystem(conf).makeQualified(found)

    outer, inner = qualified(folder), qualified(table)
    hoodie = to_path(outer, ".hoodie")
    return bool(hoodie.getFileSystem(conf).exists(hoodie)) or f"{inner}/".startswith(f"{outer}/")


def _packed(spark: SparkSession, options: Mapping[str, str]) -> Any:
    jvm: Any = spark._jvm
    packed = jvm.java.util.HashMap()
    for key, value in options.items():
        packed.put(key, value)
    return packed


def whole(answer: Any) -> Any:
    """A text or bytes, also where it comes in pieces since it is large: see AnswerPieces in Scala."""
    if isinstance(answer, (str, bytes)):
        return answer
    pieces = [answer.piece(n) for n in range(answer.count())]
    return type(pieces[0])().join(pieces)


def frame(spark: SparkSession, java_frame: Any) -> DataFrame:
    """A Scala DataFrame as a PySpark one."""
    from pyspark.sql import DataFrame

    return DataFrame(java_frame, spark)


@contextmanager
def translated() -> Iterator[None]:
    """Raise a Scala exception of ours as its Python peer; let any other pass unchanged."""
    from py4j.protocol import Py4JJavaError

    try:
        yield
    except Py4JJavaError as e:
        ours = of_java(e.java_exception)
        if ours is None:
            raise
        raise ours from e
