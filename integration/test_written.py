"""Tables that hudiidx writes: stock Hudi reads them, writes and compacts them, and hudiidx goes on."""

import sys
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from hudiidx import HudiIndex

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "fixtures" / "make"))

import hudifix

VERSIONS = {"stock_0_15": 6, "stock_1_1": 9}
OURS = {
    "hoodie.index.class": "hudiidx.hudi.RecordIndex",
    "hudiidx.write.log.inserts": "true",
    "hoodie.metadata.enable": "false",
    "hoodie.datasource.write.recordkey.field": "id",
}
Row = dict[str, Any]


class Written:
    """A table that we write, what it must hold by key, and stock Hudi to ask."""

    def __init__(self, spark: SparkSession, stock: Any, version: int, path: Path, **options: str) -> None:
        self.spark, self.stock, self.path, self.rows = spark, stock, path, dict[str, Row]()
        self.name = path.name
        self._options = {
            "hoodie.table.name": "t",
            "hoodie.datasource.write.recordkey.field": "id",
            "hoodie.datasource.write.partitionpath.field": "city",
            "hoodie.datasource.write.precombine.field": "ts",
            "hoodie.write.table.version": str(version),
            "hudiidx.write.create": "true",
            **options,
        }

    def make(self, first: int, end: int, seed: int, when: int, columns: list[str] | None = None) -> DataFrame:
        return hudifix.mk(self, first, end, seed, f"id + {when} * 1000", cols=columns)

    def save(self, rows: DataFrame, operation: str = "upsert", **options: str) -> None:
        all_options = {**self._options, "hoodie.datasource.write.operation": operation, **options}
        rows.write.format("hudiidx").options(**all_options).mode("append").save(str(self.path))

    def upsert(self, rows: DataFrame) -> None:
        self.save(rows)
        self.expect(rows)

    def expect(self, rows: DataFrame) -> None:
        """What event-time ordering makes of the rows."""
        for row in rows.collect():
            old = self.rows.get(row.id)
            if old is None or row.ts >= old["ts"]:
                self.rows[row.id] = row.asDict()

    def delete(self, first: int, end: int) -> None:
        self.save(self.make(first, end, 0, 0).select("id", "city"), "delete")
        for n in range(first, end):
            self.rows.pop(f"k{n:06d}", None)

    def ours(self, **options: str) -> DataFrame:
        return self.spark.read.format("hudiidx").options(**options).load(str(self.path))

    def adopt(self, **options: str) -> None:
        self.stock.adopt(name=self.name, path=str(self.path), kind="MOR", options={**OURS, **options})

    def assert_right(self) -> None:
        """Our rows are what was written, and stock's are ours, meta columns included."""
        frame = self.ours()
        found = {r.id: r.asDict() for r in frame.drop(*[c for c in frame.columns if c.startswith("_hoodie_")]).collect()}
        names = frame.columns
        wanted = {k: {c: v.get(c) for c in names if c in next(iter(found.values()))} for k, v in self.rows.items()}
        assert found == wanted
        texts = list(hudifix.answer(frame)[0])
        self.adopt()
        assert self.stock.texts(name=self.name) == texts
        assert self.stock.texts(name=self.name, options={"hoodie.metadata.enable": "true"}) == texts


@pytest.mark.parametrize("version", VERSIONS)
def test_stock_reads_what_we_write(
    spark: SparkSession, request: pytest.FixtureRequest, version: str, tmp_path: Path
) -> None:
    table = Written(spark, request.getfixturevalue(version), VERSIONS[version], tmp_path / f"written-{version[-2:]}")
    table.upsert(table.make(0, 100, 1, 1))
    table.assert_right()
    table.upsert(table.make(50, 150, 2, 2))
    table.assert_right()
    table.upsert(table.make(60, 80, 3, 0))  # late: nothing changes
    table.assert_right()
    table.delete(10, 20)
    table.assert_right()
