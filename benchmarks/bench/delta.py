"""Delta with deletion vectors and a change data feed."""

from __future__ import annotations

from typing import Any

from .engine import SparkEngine, bytes_under, linked
from .planned import write_delta_log
from .versions import DELTA


class Delta(SparkEngine):
    """A copy of the plain Parquet files becomes its table."""

    extensions = ["io.delta.sql.DeltaSparkSessionExtension"]
    jars = [f"delta-spark_2.12-{DELTA}.jar", f"delta-storage-{DELTA}.jar"]

    def settings(self) -> dict[str, str]:
        self.path = self.data.folder / "delta"
        self.url = self.data.url("delta")
        return {"spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog"}

    def fresh(self) -> None:
        linked(self.data.folder / "parquet", self.path)

    def bootstrap(self) -> None:
        self.spark.sql(f"convert to delta parquet.`{self.url}` partitioned by (part string)")
        self.spark.sql(
            f"alter table delta.`{self.url}` set tblproperties "
            "('delta.enableDeletionVectors' = 'true', 'delta.enableChangeDataFeed' = 'true')"
        )

    def bytes(self) -> int:
        return bytes_under(self.path / "_delta_log")

    def table(self) -> Any:
        return self.spark.read.format("delta").load(self.url)

    def plan(self, day: str) -> None:
        files = self.spark.read.format("delta").load(self.data.url("M-delta"))
        self.tasks(files.where(f"day = '{day}'").select("id"))

    def upsert(self, salt: int, count: int | None = None) -> None:
        self.merge(f"delta.`{self.url}`", salt, count)

    def compact(self) -> None:
        self.spark.sql(f"reorg table delta.`{self.url}` apply (purge)").collect()

    def increment(self) -> list[int]:
        last = max(int(f.stem) for f in (self.path / "_delta_log").glob("*.json") if f.stem.isdigit())
        feed = self.spark.read.format("delta").option("readChangeFeed", "true").option("startingVersion", last)
        changed = feed.load(self.url).where("_change_type in ('insert', 'update_postimage')")
        return self.sums(changed, "count(*)", "sum(amount)")

    def make_log_of_m(self) -> None:
        log = self.data.folder / "M-delta"
        write_delta_log(self.data.folder / "M-files.tsv", log)
        jvm = self.spark._jvm.org.apache.spark.sql.delta.DeltaLog
        jvm.forTable(self.spark._jsparkSession, self.data.url("M-delta")).checkpoint()
