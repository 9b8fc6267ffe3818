"""Vectors, blobs and variants: what hudiidx writes into such tables is stock Hudi 1.2.0's in every query."""

import sys
from pathlib import Path
from typing import Any

import pytest
import stored
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, expr

from hudiidx import HudiIndex

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "fixtures" / "make"))

import hudifix

READ_OPTIMIZED = {"hoodie.datasource.query.type": "read_optimized"}
# Written by stock with Avro's log blocks, and with Parquet's.
TABLES = ["v9-vectors-mor", "types/v9-vectors-parquet"]


def save(rows: DataFrame, table: Path, **options: str) -> None:
    rows.write.format("hudiidx").options(**options).mode("append").save(str(table))


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_stock_reads_what_we_write_into_its_tables_of_vectors_and_compacts_it(
    spark: SparkSession, stock_1_2: Any, name: str, tmp_path: Path
) -> None:
    table = stored.load(name).unpack(tmp_path)
    stock_1_2.adopt(name=name, path=str(table), kind="MOR")

    def assert_same(**options: str) -> list[str]:
        ours = list(hudifix.answer(spark.read.format("hudiidx").options(**options).load(str(table)))[0])
        assert ours == stock_1_2.texts(name=name, options=options)
        return ours

    HudiIndex(spark, table, strict=True).create(columns="*", record="global")
    before = assert_same()
    rows = spark.read.format("hudiidx").load(str(table))
    data = rows.select([c for c in rows.columns if not c.startswith("_hoodie_")]).localCheckpoint()
    changed = data.where("n % 3 = 1").withColumn("ts", col("ts") + 1_000_000)
    save(changed.withColumn("vf", expr("if(n % 2 = 0, null, reverse(vf))")), table)
    assert len(assert_same()) == len(before)
    assert assert_same() != before
    save(data.withColumn("id", expr("concat('new-', id)")), table)
    save(
        data.where("n % 5 = 2").select("id", "city"), table, **{"hoodie.datasource.write.operation": "delete"}
    )
    after = assert_same()
    assert len(after) > len(before)
    stock_1_2.compact(name=name)
    assert_same()
    assert_same(**READ_OPTIMIZED)
    save(data.where("n % 7 = 3").withColumn("ts", col("ts") + 2_000_000), table)
    HudiIndex(spark, table).compact_table()
    assert_same()
    assert_same(**READ_OPTIMIZED)
    report = HudiIndex(spark, table, strict=True).verify(record=True)
    assert report.ok, report.differences


def test_stock_finds_the_types_of_a_table_that_we_make(
    spark: SparkSession, stock_1_2: Any, tmp_path: Path
) -> None:
    source = stored.load("v9-vectors-cow").unpack(tmp_path)
    rows = spark.read.format("hudiidx").load(str(source))
    data = rows.select([c for c in rows.columns if not c.startswith("_hoodie_")])
    table = tmp_path / "made"
    options = {
        "hoodie.table.name": "t",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "city",
        "hoodie.datasource.write.precombine.field": "ts",
        "hoodie.write.table.version": "9",
        "hudiidx.write.create": "true",
    }
    save(data, table, **options)
    save(data.where("n % 4 = 1").withColumn("ts", col("ts") + 1_000_000), table)
    stock_1_2.adopt(name="made", path=str(table), kind="MOR")
    ours = spark.read.format("hudiidx").load(str(table))
    assert list(hudifix.answer(ours)[0]) == stock_1_2.texts(name="made")
    assert stock_1_2.marks(name="made") == {
        "vf": "VECTOR(8)",
        "vd": "VECTOR(4, DOUBLE)",
        "vi": "VECTOR(6, INT8)",
        "content": "BLOB",
    }
