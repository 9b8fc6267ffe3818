"""Delta 3.3.2 with deletion vectors and a change data feed."""

from __future__ import annotations

from typing import Any

from .engine import SparkEngine, bytes_under, linked
from .planned import write_delta_log


class Delta(SparkEngine):
    """A copy of the plain Parquet files becomes its table."""

    extensions = ["io.delta.sql.DeltaSparkSessionExtension"]
    jars = ["delta-spark_2.12-3.3.2.jar", "delta-storage-3.3.2.jar"]

    def settings(self) -> dict[str, str]:
        self.path = self.data.folder / "delta"
        return {"spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog"}

    def fresh(self) -> None:
        linked(self.data.folder / "parquet", self.path)

    def bootstrap(self) -> None:
        self.spark.sql(f"convert to delta parquet.`{self.path}` partitioned by (part string)")
        self.spark.sql(
            f"alter table delta.`{self.path}` set tblproperties "
            "('delta.enableDeletionVectors' = 'true', 'delta.enableChangeDataFeed' = 'true')"
        )

    def bytes(self) -> int:
        return bytes_under(self.path / "_delta_log")

    def table(self) -> Any:
        return self.spark.read.format("delta").load(str(self.path))

    def plan(self, day: str) -> None:
        files = self.spark.read.format("delta").load(str(self.data.folder / "M-delta"))
        self.tasks(files.where(f"day = '{day}'").select("id"))

    def upsert(self, salt: int) -> None:
        self.merge(f"delta.`{self.path}`", salt)

    def increment(self) -> list[int]:
        last = max(int(f.stem) for f in (self.path / "_delta_log").glob("*.json") if f.stem.isdigit())
        feed = self.spark.read.format("delta").option("readChangeFeed", "true").option("startingVersion", last)
        changed = feed.load(str(self.path)).where("_change_type in ('insert', 'update_postimage')")
        return self.sums(changed, "count(*)", "sum(amount)")

    def make_log_of_m(self) -> None:
        log = self.data.folder / "M-delta"
        write_delta_log(self.data.folder / "M-files.tsv", log)
        jvm = self.spark._jvm.org.apache.spark.sql.delta.DeltaLog
        jvm.forTable(self.spark._jsparkSession, str(log)).checkpoint()
