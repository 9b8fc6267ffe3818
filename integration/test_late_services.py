"""Table services of stock Hudi that end behind others: a compaction whose file group is gone, a restore that
is run again. Whatever an index has seen of them, rows, keys and filters are stock's."""

from ast import literal_eval
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from hudiidx import HudiIndex

PLAIN = {
    "hoodie.metadata.enable": "false",
    "hoodie.metadata.index.column.stats.enable": "false",
    "hoodie.index.type": "SIMPLE",
}
KEYS = [f"k{n:06d}" for n in (0, 1, 2, 3, 4, 21)]


def ids(stock: Any, name: str) -> set[str]:
    """Of stock Hudi's rows."""
    return {literal_eval(row)[0] for row in stock.values(name=name, column="id")}


def assert_as_stock(spark: SparkSession, stock: Any, name: str, path: str) -> None:
    """Rows, filters and lookups, by an index that is used where it can be."""
    wanted = ids(stock, name)
    frame = spark.read.format("hudiidx").load(path)
    assert {r.id for r in frame.select("id").collect()} == wanted
    there = set(KEYS) & wanted
    named = ", ".join(f"'{key}'" for key in KEYS)
    assert {r.id for r in frame.where(f"id in ({named})").select("id").collect()} == there
    assert {r.id for r in frame.where("n < 28").select("id").collect()} == {
        r.id for r in frame.collect() if r.n < 28
    }
    assert {place.key for place in HudiIndex(spark, path).lookup(KEYS)} == there
    assert frame.count() == len(wanted)


def assert_in_step(spark: SparkSession, path: str) -> None:
    index = HudiIndex(spark, path, strict=True)
    index.update()
    report = index.verify(record=True, columns=True)
    assert report.ok, (report.differences, report.record, report.columns)


@pytest.mark.parametrize("updated", [True, False], ids=["in-step", "behind"])
def test_a_compaction_behind_the_replacement_of_its_group_brings_no_row_back(
    spark: SparkSession, stock_1_2: Any, updated: bool
) -> None:
    stock, name = stock_1_2, f"late-compaction-{updated}"
    path = stock.new(name=name, kind="MOR", options=PLAIN)
    stock.write(name=name, first=0, end=8, seed=1, operation="bulk_insert", parts=["oslo"])
    stock.write(name=name, first=0, end=4, seed=2, parts=["oslo"])
    index = HudiIndex(spark, path)
    index.create(record="global", columns="*")

    def seen() -> None:
        assert_as_stock(spark, stock, name, path)
        if updated:
            assert_in_step(spark, path)

    stock.schedule_compaction(name=name)
    stock.write(name=name, first=20, end=23, seed=3, operation="insert_overwrite_table", parts=["oslo"])
    seen()
    stock.plan_clean(name=name)
    stock.run_compaction(name=name)
    seen()
    stock.run_cleans(name=name)
    seen()
    assert_in_step(spark, path)
    assert_as_stock(spark, stock, name, path)
    # A row that was overwritten comes anew, where all see it.
    row = spark.read.format("hudiidx").load(path).where("id = 'k000020'").drop("id")
    columns = [c for c in row.columns if not c.startswith("_hoodie_")]
    again = row.selectExpr("'k000000' as id", *columns)
    told = {"hoodie.table.name": "t", "hoodie.datasource.write.recordkey.field": "id"}
    again.write.format("hudiidx").options(**told).mode("append").save(path)
    assert ids(stock, name) == {f"k{n:06d}" for n in (0, 20, 21, 22)}
    assert_as_stock(spark, stock, name, path)


@pytest.mark.parametrize("kind", ["COW", "MOR"])
def test_a_restore_that_is_run_again_takes_what_its_first_run_removed_from_an_index(
    spark: SparkSession, stock_1_2: Any, kind: str
) -> None:
    stock, name = stock_1_2, f"restored-again-{kind}"
    path = stock.new(name=name, kind=kind, options=PLAIN)
    stock.write(name=name, first=0, end=20, seed=1, operation="insert", parts=["oslo", "lima"])
    then = stock.savepoint(name=name)
    index = HudiIndex(spark, path)
    index.create(record="global", columns="*")
    stock.write(name=name, first=0, end=4, seed=2, operation="delete", parts=["oslo", "lima"])
    index.update()
    deleted = max(stock.completed(name=name))
    # As a run of the restore leaves it that failed behind it: the run that ends names the other files alone.
    (gone,) = [f for f in Path(path, "oslo").iterdir() if deleted in f.name and not f.name.endswith(".crc")]
    gone.unlink()
    stock.restore(name=name, to=then)
    assert len(ids(stock, name)) == 20
    assert_as_stock(spark, stock, name, path)
    assert_in_step(spark, path)
    assert_as_stock(spark, stock, name, path)
