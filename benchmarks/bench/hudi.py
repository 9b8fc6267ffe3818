"""Stock Hudi with its metadata table: files, column and partition statistics, record index."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .engine import SparkEngine, bytes_under, linked
from .versions import HUDI

WRITE = {
    "hoodie.table.name": "bench",
    "hoodie.datasource.write.table.type": "MERGE_ON_READ",
    "hoodie.datasource.write.recordkey.field": "key",
    "hoodie.datasource.write.partitionpath.field": "part",
    "hoodie.datasource.write.precombine.field": "ts",
}
METADATA = {
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "true",
    "hoodie.metadata.index.partition.stats.enable": "true",
    "hoodie.metadata.global.record.level.index.enable": "true",
}
READ = {**METADATA, "hoodie.enable.data.skipping": "true"}


def completions(table: Path) -> list[str]:
    """Completion times of its commits, the newest last."""
    return sorted(f.stem.partition("_")[2] for f in (table / ".hoodie" / "timeline").glob("*_*.*commit"))


class HudiWriter(SparkEngine):
    """What stock Hudi and hudiidx have in common: a table of stock's, and changes by completion time."""

    format = "hudi"
    reading: dict[str, str] = {}

    def __init__(self, data: Any) -> None:
        super().__init__(data)
        name = type(self).__name__.lower()
        self.path, self.url = data.folder / name, data.url(name)
        self.before = ""

    def fresh(self) -> None:
        linked(self.data.folder / "hudi", self.path, without=("metadata", "hudiidx"))

    def load(self, table: str) -> Any:
        return self.spark.read.format(self.format).options(**self.reading).load(table)

    def table(self) -> Any:
        return self.load(self.url)

    def plan(self, day: str) -> None:
        self.tasks(self.load(self.data.url("M")).where(f"day = '{day}'").select("id"))

    def upsert(self, salt: int, count: int | None = None) -> None:
        self.before = completions(self.path)[-1]
        rows = self.data.batch_rows(self.spark, salt, count).write.format(self.format).options(**WRITE, **self.writing)
        rows.option("hoodie.datasource.write.operation", "upsert").mode("append").save(self.url)

    writing: dict[str, str] = {}

    def increment(self) -> list[int]:
        reader = self.spark.read.format(self.format).options(**self.reading)
        reader = reader.option("hoodie.datasource.query.type", "incremental")
        changed = reader.option("hoodie.datasource.read.begin.instanttime", self.before).load(self.url)
        return self.sums(changed, "count(*)", "sum(amount)")


class StockHudi(HudiWriter):
    """Its calls without an API in Python are in `peers/StockCalls.java`."""

    extensions = ["org.apache.spark.sql.hudi.HoodieSparkSessionExtension"]
    jars = [f"hudi-spark3.5-bundle_2.12-{HUDI}.jar"]
    reading = READ
    writing = {
        **METADATA,
        "hoodie.index.type": "RECORD_INDEX",
        "hoodie.embed.timeline.server": "false",
        "hoodie.write.markers.type": "direct",
        "hoodie.clean.automatic": "false",
    }

    def class_path(self) -> list[str]:
        return [*super().class_path(), str(Path(__file__).parents[1] / "target" / "bench-classes")]

    def settings(self) -> dict[str, str]:
        return {"spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar"}

    def bootstrap(self) -> None:
        self._calls().metadataTable(self.spark._jsparkSession, self.url, {**WRITE, **METADATA})

    def bytes(self) -> int:
        return bytes_under(self.path / ".hoodie" / "metadata")

    def tag(self, salt: int) -> int:
        keys = self.data.batch_rows(self.spark, salt).select("key", "part")
        options = {**WRITE, **METADATA, "hoodie.index.type": "RECORD_INDEX"}
        return int(self._calls().tag(self.spark._jsparkSession, self.url, keys._jdf, options))

    def files(self, day: str) -> int:
        return int(self._calls().files(self.spark._jsparkSession, self.data.url("M"), day))

    def make_base(self) -> None:
        """The table, without a metadata table."""
        rows = self.data.all_rows(self.spark).write.format("hudi").options(**WRITE)
        rows = rows.option("hoodie.datasource.write.operation", "bulk_insert").option("hoodie.metadata.enable", "false")
        rows = rows.option("hoodie.bulkinsert.sort.mode", "NONE").option("hoodie.parquet.compression.codec", "snappy")
        rows = rows.option("hoodie.parquet.max.file.size", str(8 << 30)).option("hoodie.embed.timeline.server", "false")
        rows.option("hoodie.clean.automatic", "false").mode("overwrite").save(self.data.url("hudi"))

    def commit_to(self, table: str, salt: int) -> None:
        rows = self.data.batch_rows(self.spark, salt, 1).write.format("hudi").options(**WRITE)
        rows = rows.option("hoodie.metadata.enable", "false").option("hoodie.embed.timeline.server", "false")
        rows.option("hoodie.datasource.write.operation", "upsert").mode("append").save(self.data.url(table))

    def compact(self) -> None:
        self.spark.sql(f"call run_compaction(op => 'scheduleAndExecute', path => '{self.url}')").collect()

    def locate(self, key: str) -> int:
        return int(self._calls().locate(self.spark._jsparkSession, self.url, key))

    def _calls(self) -> Any:
        return self.spark._jvm.StockCalls
