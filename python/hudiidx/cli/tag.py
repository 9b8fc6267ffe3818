"""`hudiidx tag`: a file in, the same rows with the locations of their keys out."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from hudiidx.cli import out

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from hudiidx.index import HudiIndex

FORMATS = ("csv", "json", "parquet")


def tag_file(
    index: HudiIndex,
    spark: SparkSession,
    source: str,
    keys: list[str],
    partition: str | None,
    output: str,
    overwrite: bool,
) -> dict[str, object]:
    """Tags the rows of ``source``, a file or a folder of files, and writes them to ``output``.

    An output that ends like a format is one local file of that format; any other is a folder, written
    by Spark in the format of the source.

    Returns:
        ``output``, ``rows`` written, and ``found``: those with a location.

    Raises:
        typer.BadParameter: names that `require_names` refuses, or an output that holds a Hudi table.
    """
    from pyspark.sql import Observation
    from pyspark.sql.functions import col, count, lit

    kind = require_names(source, output, overwrite)
    target = Path(output)
    one_file = _one_file(output)
    key: str | list[str] = keys[0] if len(keys) == 1 else keys
    tagged = index.tag_location(_read(spark, source, kind), key, partition)
    seen = Observation()
    rows = tagged.observe(seen, count(lit(1)).alias("rows"), count(col("file_id")).alias("found"))
    if one_file:
        _write_file(rows, one_file, target)
    else:
        if overwrite:
            _require_no_table(spark, output, index.path)
        mode = "overwrite" if overwrite else "errorifexists"
        _write(rows, kind, output, mode)
    return {"output": output, **seen.get}


def require_names(source: str, output: str, overwrite: bool) -> str:
    """The format of the source.

    Raises:
        typer.BadParameter: a format that is not known, or an output that is there.
    """
    kind = _format(source)
    if kind is None:
        raise out.usage(f"{source}: no format in its name; it must end in {', '.join(FORMATS)}")
    if _one_file(output) and Path(output).exists() and not overwrite:
        raise out.usage(f"{output}: is there already; pass --overwrite to replace it")
    return kind


def _one_file(output: str) -> str | None:
    """Its format, where the output is one local file."""
    return _format(output) if "://" not in output else None


def _require_no_table(spark: SparkSession, output: str, table: str) -> None:
    """Spark removes what it overwrites first: neither a Hudi table nor a folder with the tagged one in it."""
    from hudiidx._jvm import holds_table

    if holds_table(spark, output, table):
        raise out.usage(f"{output}: holds a Hudi table, which --overwrite would remove; name another output")


def _format(name: str) -> str | None:
    return next((f for f in FORMATS if name.rstrip("/").endswith("." + f)), None)


def _read(spark: SparkSession, source: str, kind: str) -> DataFrame:
    path = _literally(source) if "://" not in source and Path(source).exists() else source
    # Texts stay texts: a key like 007 is no number.
    return spark.read.csv(path, header=True) if kind == "csv" else spark.read.format(kind).load(path)


def _literally(path: str) -> str:
    """For Spark, which takes paths for patterns."""
    return "".join(f"\\{c}" if c in "{}[]*?\\" else c for c in path)


def _write(rows: DataFrame, kind: str, path: str, mode: str) -> None:
    rows.write.mode(mode).options(header=True).format(kind).save(path)


def _write_file(rows: DataFrame, kind: str, target: Path) -> None:
    """Spark writes folders; the one file of a folder beside the target takes its place at the end."""
    folder = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.resolve().parent))
    try:
        _write(rows.repartition(1), kind, str(folder / "rows"), "errorifexists")
        next((folder / "rows").glob("part-*")).replace(target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
