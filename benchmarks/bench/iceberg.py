"""Iceberg, format version 2, merge on read, in a Hadoop catalog."""

from __future__ import annotations

import shutil
from typing import Any

from .engine import Missing, SparkEngine, bytes_under
from .versions import ICEBERG

TABLE = "ice.db.bench"


class Iceberg(SparkEngine):
    """Its table takes plain Parquet files in as they are."""

    extensions = ["org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"]
    jars = [f"iceberg-spark-runtime-3.5_2.12-{ICEBERG}.jar"]
    file_name = "_file"

    def settings(self) -> dict[str, str]:
        self.warehouse = self.data.folder / "iceberg"
        return {
            "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
            "spark.sql.catalog.ice.type": "hadoop",
            "spark.sql.catalog.ice.warehouse": self.data.url("iceberg"),
            "spark.sql.catalog.ice.cache-enabled": "false",
        }

    def fresh(self) -> None:
        self.spark.sql(f"drop table if exists {TABLE}")
        shutil.rmtree(self.warehouse, ignore_errors=True)

    def bootstrap(self) -> None:
        properties = ", ".join(
            f"'write.{what}.mode' = 'merge-on-read'" for what in ("merge", "update", "delete")
        )
        columns = "key string, amount bigint, ts bigint, note string, rank int, ratio double, part string"
        self.spark.sql(
            f"create table {TABLE} ({columns}) using iceberg partitioned by (part) "
            f"tblproperties ('format-version' = '2', {properties})"
        )
        source = f"`parquet`.`{self.data.url('parquet')}`"
        self.spark.sql(f"call ice.system.add_files(table => 'db.bench', source_table => '{source}')").collect()

    def bytes(self) -> int:
        return bytes_under(self.warehouse / "db" / "bench" / "metadata")

    def table(self) -> Any:
        return self.spark.table(TABLE)

    def plan(self, day: str) -> None:
        files = self.spark.read.format("iceberg").load(self.data.url("M-iceberg"))
        self.tasks(files.where(f"day = '{day}'").select("id"))

    def upsert(self, salt: int, count: int | None = None) -> None:
        self.merge(TABLE, salt, count)

    def compact(self) -> None:
        self.spark.sql(
            "call ice.system.rewrite_data_files(table => 'db.bench', options => map('delete-file-threshold', '1'))"
        ).collect()

    def increment(self) -> list[int]:
        raise Missing("not of merge-on-read: its changelog refuses delete files")
