"""Presto reads tables through symlink manifests, stock Hudi's rows. `make test-presto` fetches the server."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import stored
from compare import expect_answer
from presto import Presto, metastore, presto
from pyspark.sql import DataFrame, SparkSession

from hudiidx import HudiIndex

TABLES = ["v6-cow-part", "v9-cow-part"]
SYMLINKS = "org.apache.hadoop.hive.ql.io.SymlinkTextInputFormat"
NO_OUTPUT = "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat"
PARQUET = "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe"


@pytest.fixture(scope="module")
def hive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with metastore(tmp_path_factory.mktemp("metastore")) as uri:
        yield uri


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, hive: str) -> Iterator[Presto]:
    with presto(tmp_path_factory.mktemp("presto"), hive) as running:
        yield running


class ManifestTable:
    """A table of the metastore over the manifests of a Hudi table that is partitioned by ``city``."""

    def __init__(self, spark: SparkSession, hive: str, name: str, index: HudiIndex, manifests: str) -> None:
        self.name, self.index, self.manifests = name.replace("-", "_"), index, manifests
        self.schema = spark.read.format("hudiidx").load(index.path).schema
        self._jvm: Any = spark._jvm  # type: ignore[attr-defined]
        conf = self._jvm.org.apache.hadoop.hive.conf.HiveConf()
        conf.set("hive.metastore.uris", hive)
        self._api = self._jvm.org.apache.hadoop.hive.metastore.api
        self._client = self._jvm.org.apache.hadoop.hive.metastore.HiveMetaStoreClient(conf)
        table = self._api.Table()
        table.setDbName("default")
        table.setTableName(self.name)
        table.setTableType("EXTERNAL_TABLE")
        table.setParameters(self._jvm.java.util.HashMap({"EXTERNAL": "TRUE"}))
        table.setSd(self._storage(manifests))
        table.setPartitionKeys(self._list([self._api.FieldSchema("city", "string", None)]))
        self._client.createTable(table)
        self.add_partitions()

    def add_partitions(self) -> None:
        for path in self.index.partitions():
            partition = self._api.Partition()
            partition.setDbName("default")
            partition.setTableName(self.name)
            partition.setValues(self._list([path]))
            partition.setSd(self._storage(f"{self.manifests}/{path}"))
            self._client.add_partition(partition)

    def _storage(self, location: str) -> Any:
        columns = [f for f in self.schema if f.name != "city"]
        found = self._api.StorageDescriptor()
        found.setCols(
            self._list([self._api.FieldSchema(f.name, f.dataType.simpleString(), None) for f in columns])
        )
        found.setLocation(location)
        found.setInputFormat(SYMLINKS)
        found.setOutputFormat(NO_OUTPUT)
        serde = self._api.SerDeInfo()
        serde.setSerializationLib(PARQUET)
        found.setSerdeInfo(serde)
        return found

    def _list(self, items: list[Any]) -> Any:
        made = self._jvm.java.util.ArrayList()
        for item in items:
            made.add(item)
        return made


def rows_of(spark: SparkSession, server: Presto, table: ManifestTable) -> DataFrame:
    """All rows as Presto gives them, in the types of the table."""
    names = table.schema.fieldNames()
    texts = ", ".join(f'cast("{n}" as varchar)' for n in names)
    found = server.rows(f"select {texts} from {table.name}")
    frame = spark.createDataFrame(found, ", ".join(f"`{n}` string" for n in names))
    types = [(f.name, f.dataType.simpleString()) for f in table.schema]
    return frame.selectExpr(*[f"cast(`{name}` as {of}) as `{name}`" for name, of in types])


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_presto_gives_stock_rows_and_those_of_a_commit_once_the_index_has_it(
    spark: SparkSession, hive: str, server: Presto, tmp_path: Path, name: str
) -> None:
    fixture = stored.load(name)
    path = fixture.unpack(tmp_path)
    hoodie = path / ".hoodie"
    timeline = hoodie / "timeline" if (hoodie / "timeline").exists() else hoodie
    newest = max(timeline.glob("*.commit"))
    hidden = newest.rename(tmp_path / newest.name)
    folder = tmp_path / "manifests"
    index = HudiIndex(spark, path, strict=True, **{"hudiidx.symlinks.path": str(folder)})
    index.create()
    done = index.export_symlink_manifest(folder, keep=True)
    table = ManifestTable(spark, hive, name, index, done["path"])
    before = spark.read.format("hudiidx").load(str(path))
    assert sorted(rows_of(spark, server, table).collect()) == sorted(
        before.select(table.schema.fieldNames()).collect()
    )
    hidden.rename(newest)
    index.update()
    expect_answer(rows_of(spark, server, table), fixture.answers["snapshot"])
    city = index.partitions()[0]
    one = server.rows(f"select count(*) from {table.name} where city = '{city}'")
    assert one[0][0] == spark.read.format("hudiidx").load(str(path)).where(f"city = '{city}'").count() > 0
