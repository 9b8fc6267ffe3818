"""Keys with several rows in one base file, as stock Hudi's inserts leave them: our deletes and statements."""

from typing import Any

import pytest
from pyspark.sql import SparkSession
from stock_hudi import NEWEST, OLDEST, each

from hudiidx import HudiIndex, UnsupportedTable, WriteConflict

REPEATED = (
    "select /*+ coalesce(1) */ concat('k', k) id, 'sf' city, cast(t as bigint) ts, n, "
    "false _hoodie_is_deleted "
    "from values (1, 1, 10), (2, 1, 20), (2, 2, 21), (2, 3, 22), (3, 1, 30) as t(k, t, n)"
)
DELETES = {
    "delete": "select 'k2' id, 'sf' city, 9L ts",
    "upsert": "select 'k2' id, 'sf' city, 2L ts, 99 n, true _hoodie_is_deleted",
}


def made(stock: Any, name: str) -> str:
    """A merge-on-read table of stock's, without rows yet; its folder."""
    return str(stock.new(name=name, kind="MOR", options={"hoodie.metadata.enable": "false"}))


@pytest.mark.parametrize("operation", DELETES)
@pytest.mark.parametrize("release", each(of=(OLDEST, NEWEST)))
def test_deletes_by_key_take_the_rows_of_a_base_file_that_stocks_take(
    spark: SparkSession, request: pytest.FixtureRequest, release: str, operation: str
) -> None:
    """All of a key's, of marked deletes those that are not above them: of version 6 once stock compacted."""
    stock = request.getfixturevalue(release)
    theirs, ours = (f"repeated-{operation}-{who}" for who in ("stock", "ours"))
    paths = {name: made(stock, name) for name in (theirs, ours)}
    for name in paths:
        stock.write_sql(name=name, sql=REPEATED, operation="bulk_insert")
    stock.write_sql(name=theirs, sql=DELETES[operation], operation=operation)
    rows = spark.sql(DELETES[operation]).write.format("hudiidx").mode("append")
    rows.option("hoodie.datasource.write.operation", operation).save(paths[ours])
    if release == OLDEST:
        stock.compact(name=theirs)
    left = stock.values(name=theirs, column="ts")
    assert [row.split("'")[1] for row in left] == (
        ["k1", "k2", "k3"] if operation == "upsert" and release == NEWEST else ["k1", "k3"]
    )
    assert stock.values(name=ours, column="ts") == left
    stock.compact(name=ours)
    assert stock.values(name=ours, column="ts") == left


@pytest.mark.parametrize("release", each(of=(OLDEST, NEWEST)))
def test_a_statement_changes_no_row_of_a_repeated_key_that_it_does_not_name(
    spark: SparkSession, request: pytest.FixtureRequest, release: str
) -> None:
    """Stock Hudi's delete the first row in its place."""
    stock = request.getfixturevalue(release)
    path = made(stock, "repeated-sql")
    stock.write_sql(name="repeated-sql", sql=REPEATED, operation="bulk_insert")
    before = stock.values(name="repeated-sql", column="ts")
    spark.conf.set("spark.sql.catalog.hudiidx", "hudiidx.spark.HudiIdxCatalog")
    for statement in ("delete from {} where n = 21", "update {} set ts = 9 where n = 21"):
        with pytest.raises(UnsupportedTable, match="'k2' has 3 rows in sf/"):
            spark.sql(statement.format(f"hudiidx.`{path}`"))
    assert stock.values(name="repeated-sql", column="ts") == before
    spark.sql(f"delete from hudiidx.`{path}` where id = 'k2'")
    left = [row for row in before if "'k2'" not in row]
    assert stock.values(name="repeated-sql", column="ts") == left
    stock.write_sql(name="repeated-sql", sql=REPEATED, operation="upsert")
    stock.compact(name="repeated-sql")
    assert len(stock.values(name="repeated-sql", column="ts")) == 3


@pytest.mark.parametrize("repaired", ["compacted", "compacted as planned", "written anew"])
def test_rows_that_stock_deleted_by_their_positions_do_not_come_back(
    spark: SparkSession, stock_1_2: Any, repaired: str
) -> None:
    """Beside a log block that names keys alone stock Hudi's readers, as ours, go by no positions."""
    name = f"repeated-{repaired}".replace(" ", "-")
    path = made(stock_1_2, name)
    stock_1_2.write_sql(name=name, sql=REPEATED, operation="bulk_insert")
    stock_1_2.write_sql(name=name, sql=DELETES["delete"], operation="delete")
    left = stock_1_2.values(name=name, column="ts")
    assert len(left) == 2

    def upsert(key: str) -> None:
        rows = spark.sql(f"select '{key}' id, 'sf' city, 9L ts, 99 n, false _hoodie_is_deleted")
        rows.write.format("hudiidx").mode("append").save(path)

    if repaired == "compacted as planned":
        stock_1_2.schedule_compaction(name=name)
    with pytest.raises(WriteConflict, match=r"record key 'k2' has several rows in sf/.*compact-table"):
        upsert("k1")
    assert stock_1_2.values(name=name, column="ts") == left
    if repaired == "compacted":
        stock_1_2.compact(name=name)
    elif repaired == "compacted as planned":
        HudiIndex(spark, path).compact_table()
    if repaired != "written anew":
        upsert("k1")
        upsert("k2")
    else:
        upsert("k2")  # its file group is, since its old rows are there
        upsert("k1")
    assert stock_1_2.values(name=name, column="ts") == ["('k1', 99, 9)", "('k2', 99, 9)", left[1]]
