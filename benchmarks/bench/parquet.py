"""Spark 3.5.9 alone, on the same rows as plain Parquet."""

from __future__ import annotations

from typing import Any

from .engine import Missing, SparkEngine


class PlainSpark(SparkEngine):
    """It lists the folder at each `load`."""

    def table(self) -> Any:
        return self.spark.read.parquet(self.data.url("parquet"))

    def plan(self, day: str) -> None:
        """The folders' names are no partitions to it: it lists them all and leaves files out by their paths."""
        reader = self.spark.read.schema("id string, ts long, fare double").option("recursiveFileLookup", "true")
        files = reader.parquet(self.data.url("M"))
        self.tasks(files.where(f"_metadata.file_path like '%/{day}/%'").select("id"))

    def read(self) -> list[int | str]:
        raise Missing("has no upserts to read")

    def make_base(self) -> None:
        rows = self.data.all_rows(self.spark).write.partitionBy("part")
        rows.mode("overwrite").parquet(self.data.url("parquet"))
