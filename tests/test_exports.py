"""Tables for engines that know files alone: symlink manifests by Hive's own class, Arrow datasets."""

import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from hudiidx import DamagedTable, HudiIndex, IndexNotFound, InvalidOption, UnsupportedTable, _exports

WHERE = "qty > 40"


@pytest.fixture
def index(spark: SparkSession, cow: Path) -> HudiIndex:
    made = HudiIndex(spark, cow, strict=True)
    made.create(columns="qty")
    return made


def _seen_by_hive(spark: SparkSession, folder: str, partition: str) -> set[str]:
    """The files that Hive's SymlinkTextInputFormat makes splits of, for a partition at this folder."""
    jvm = spark._jvm  # type: ignore[attr-defined]
    job = jvm.org.apache.hadoop.mapred.JobConf()
    jvm.org.apache.hadoop.mapred.FileInputFormat.setInputPaths(
        job, f"{folder}/{partition}" if partition else folder
    )
    splits = jvm.org.apache.hadoop.hive.ql.io.SymlinkTextInputFormat().getSplits(job, 1)
    return {split.getTargetSplit().getPath().toString() for split in splits}


def _latest(index: HudiIndex, partition: str) -> set[str]:
    base = Path(index.path).absolute()
    files = index.latest_base_files(partition)
    return {f"file:{base / partition / f.file_name}" for f in files}


def test_hive_finds_the_latest_base_files(spark: SparkSession, index: HudiIndex) -> None:
    done = index.export_symlink_manifest()
    named = 0
    for partition in index.partitions():
        wanted = _latest(index, partition)
        assert _seen_by_hive(spark, done["path"], partition) == wanted
        named += len(wanted)
    assert done["files"] == named > 0
    assert index.export_symlink_manifest()["written"] == 0


def test_an_update_brings_kept_manifests_up(spark: SparkSession, cow: Path, tmp_path: Path) -> None:
    index = HudiIndex(spark, cow, strict=True)
    with pytest.raises(IndexNotFound, match="hudiidx create"):
        index.export_symlink_manifest(tmp_path / "m", keep=True)
    newest = max((cow / ".hoodie" / "timeline").glob("*.commit"))
    hidden = newest.rename(tmp_path / newest.name)
    index.create()
    done = index.export_symlink_manifest(tmp_path / "m", keep=True)
    assert index.info().symlink_manifest == done["path"]
    before = {p: _seen_by_hive(spark, done["path"], p) for p in index.partitions()}
    hidden.rename(newest)
    index = HudiIndex(spark, cow, strict=True, **{"hudiidx.symlinks.path": str(tmp_path / "m")})
    index.update()
    after = {p: _seen_by_hive(spark, done["path"], p) for p in index.partitions()}
    assert after == {p: _latest(index, p) for p in index.partitions()} != before
    index.export_symlink_manifest(keep=False)
    assert index.info().symlink_manifest is None


def test_rows_in_logs_are_refused(
    spark: SparkSession, make_table: Callable[[str], Path], tmp_path: Path
) -> None:
    index = HudiIndex(spark, make_table("v9-mor-part"))
    with pytest.raises(UnsupportedTable, match="--read-optimized"):
        index.export_symlink_manifest(tmp_path / "m")
    index.export_symlink_manifest(tmp_path / "m", read_optimized=True)
    for partition in index.partitions():
        assert _seen_by_hive(spark, f"file:{tmp_path / 'm'}", partition) == _latest(index, partition)


@pytest.mark.parametrize("reader", ["arrow", "duckdb", "polars"])
def test_datasets_have_the_rows_of_a_query(spark: SparkSession, index: HudiIndex, reader: str) -> None:
    dataset = index.arrow_dataset(WHERE)
    frame = spark.read.format("hudiidx").option("hudiidx.index.enabled", "false").load(index.path)
    wanted = sorted((row.id, row.qty) for row in frame.where(WHERE).collect())
    assert wanted and sorted(_READERS[reader](dataset)) == wanted
    assert dataset.schema.names == frame.columns
    assert len(index.arrow_dataset(f"{WHERE} AND city = 'sf'").files) < len(dataset.files)


def test_partition_columns_of_a_dataset_have_the_value_of_their_path(
    spark: SparkSession, make_table: Callable[[str], Path]
) -> None:
    index = HudiIndex(spark, make_table("v9-path-values-cow"))
    rows = spark.read.format("hudiidx").load(index.path).select("id", "city").collect()
    wanted = sorted((row.id, row.city) for row in rows)
    assert {city for _, city in wanted} == {"sf", "nyc", "oslo", "lima"}
    found = index.arrow_dataset().to_table(columns=["id", "city"]).to_pylist()
    assert sorted((row["id"], row["city"]) for row in found) == wanted
    compute = import_module("pyarrow.compute")
    for city in ("sf", "rome"):
        some = index.arrow_dataset().to_table(columns=["id"], filter=compute.field("city") == city)
        assert sorted(some["id"].to_pylist()) == [i for i, c in wanted if c == city]
    index.create(columns="*", bloom="city")
    for city in ("sf", "lima", "rome"):
        some = index.arrow_dataset(f"city = '{city}'")
        left = some.to_table(columns=["id", "city"], filter=compute.field("city") == city).to_pylist()
        assert sorted((row["id"], row["city"]) for row in left) == [w for w in wanted if w[1] == city]


def test_names_of_partition_columns_are_those_of_the_table(spark: SparkSession, tmp_path: Path) -> None:
    table = str(tmp_path / "camel")
    options = {"hoodie.datasource.write.recordkey.field": "id", "hoodie.table.name": "camel"}
    rows = spark.sql("SELECT id, concat('c', id % 2) AS cityName FROM range(10)")
    writer = rows.write.format("hudiidx").options(
        **options, **{"hoodie.datasource.write.partitionpath.field": "cityName"}
    )
    writer.mode("overwrite").save(table)
    found = HudiIndex(spark, table).arrow_dataset("cityName = 'c1'", read_optimized=True).to_table()
    assert sorted(found["id"].to_pylist()) == [1, 3, 5, 7, 9]
    assert set(found["cityName"].to_pylist()) == {"c1"}


def test_without_pyarrow_the_error_says_what_to_install(
    index: HudiIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.dataset", None)
    with pytest.raises(ImportError, match="pip install pyarrow"):
        index.arrow_dataset()


def _by_arrow(dataset: object) -> list[tuple[str, int]]:
    compute = import_module("pyarrow.compute")
    table = dataset.to_table(columns=["id", "qty"], filter=compute.field("qty") > 40)  # type: ignore[attr-defined]
    return [(row["id"], row["qty"]) for row in table.to_pylist()]


def _by_duckdb(dataset: object) -> list[tuple[str, int]]:
    duckdb = import_module("duckdb")
    connection = duckdb.connect()
    connection.register("trips", dataset)
    return list(connection.sql(f"SELECT id, qty FROM trips WHERE {WHERE}").fetchall())


def _by_polars(dataset: object) -> list[tuple[str, int]]:
    pl = import_module("polars")
    return list(
        pl.scan_pyarrow_dataset(dataset).filter(pl.col("qty") > 40).select("id", "qty").collect().rows()
    )


_READERS: dict[str, Callable[[object], list[tuple[str, int]]]] = {
    "arrow": _by_arrow,
    "duckdb": _by_duckdb,
    "polars": _by_polars,
}


def test_the_docs_example_runs(spark: SparkSession, index: HudiIndex) -> None:
    text = (Path(__file__).parents[1] / "docs" / "engines.md").read_text()
    code = text.split("```python\n")[1].split("```")[0]
    assert "/data/trips" in code
    exec(compile(code.replace("/data/trips", index.path), "engines.md", "exec"), {"spark": spark})


def test_no_dataset_names_a_pipe_or_a_device(index: HudiIndex) -> None:
    file = Path(index.path, "lima", next(iter(index.latest_base_files("lima"))).file_name)
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(DamagedTable, match=f"{file.name}: no regular file"):
        index.arrow_dataset()
    file.unlink()
    file.symlink_to("/dev/zero")
    with pytest.raises(DamagedTable, match=f"{file.name}: no regular file"):
        index.arrow_dataset()


def test_a_dataset_of_rows_in_logs_is_refused(spark: SparkSession, make_table: Callable[[str], Path]) -> None:
    with pytest.raises(UnsupportedTable, match="log files"):
        HudiIndex(spark, make_table("v9-mor-part")).arrow_dataset()


@pytest.mark.parametrize("scheme", ["s3a", "gs", "hdfs", "abfss"])
def test_the_store_that_arrow_asks_is_that_of_the_table_whatever_partitions_are_called(
    monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    """To Arrow what is behind a ``?`` of a URI are options: the host among them, and no encryption."""
    stores = pytest.importorskip("pyarrow.fs")
    asked: list[str] = []

    class Recorder:
        @staticmethod
        def from_uri(uri: str) -> tuple[str, str]:
            asked.append(uri)
            return "store", ""

    monkeypatch.setattr(stores, "FileSystem", Recorder)
    hostile = "a?scheme=http&endpoint_override=127.0.0.1:9&region=x#/f.parquet"
    assert (
        _exports._filesystem([f"{scheme}://bucket/t/{hostile}", f"{scheme}://bucket/t/b/f.parquet"])
        == "store"
    )
    assert asked == [f"{'s3' if scheme == 's3a' else scheme}://bucket/"]
    with pytest.raises(InvalidOption, match="not a valid store name"):
        _exports._filesystem([f"{scheme}://bucket?scheme=http/t/f.parquet"])


@pytest.mark.parametrize("version", ["v6", "v9", "v12"])
def test_a_dataset_of_floats_that_became_doubles_is_refused_until_they_are_rewritten(
    spark: SparkSession, make_table: Callable[[str], Path], version: str
) -> None:
    """Of the float 170.06 Arrow makes 170.05999755859375, and stock Hudi 170.06."""
    index = HudiIndex(spark, make_table(f"{version}-mor-evolution"))
    with pytest.raises(UnsupportedTable, match="column f has type FLOAT, which the table has as DOUBLE"):
        index.arrow_dataset(read_optimized=True)
    index = HudiIndex(spark, make_table(f"{version}-cow-evolution"))
    rows = spark.read.format("hudiidx").load(index.path).select("id", "qty", "f").collect()
    found = index.arrow_dataset().to_table(columns=["id", "qty", "f"])
    assert {type(row.f) for row in rows} == {float}
    assert sorted((r["id"], r["qty"], r["f"]) for r in found.to_pylist()) == sorted(map(tuple, rows))
