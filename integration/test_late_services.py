"""Table services of stock Hudi that end behind others: a compaction whose file group is gone, a restore that
is run again. Whatever an index has seen of them, rows, keys and filters are stock's."""

from ast import literal_eval
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from stock_hudi import each
from test_random import ranges_as_stocks

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


def filled(stock: Any, name: str, kind: str, end: int, parts: list[str]) -> str:
    """The folder of a new table with the first rows."""
    path = stock.new(name=name, kind=kind, options=PLAIN)
    stock.write(name=name, first=0, end=end, seed=1, operation="insert", parts=parts)
    return str(path)


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


ARCHIVING = {
    "hoodie.archive.automatic": "true",
    "hoodie.keep.min.commits": "2",
    "hoodie.keep.max.commits": "3",
    "hoodie.commits.archival.batch": "1",
    "hoodie.clean.commits.retained": "1",
    "hoodie.cleaner.commits.retained": "1",
}


@pytest.mark.parametrize("kind", ["COW", "MOR"])
def test_keys_as_of_an_instant_behind_which_commits_were_archived_are_those_of_then(
    spark: SparkSession, stock_1_2: Any, kind: str
) -> None:
    stock, name = stock_1_2, f"archived-behind-{kind}"
    path = filled(stock, name, kind, 6, ["oslo"])
    (then,) = stock.completed(name=name)
    stock.write(name=name, first=0, end=2, seed=2, operation="delete", parts=["oslo"])
    for turn in range(6):
        first = 10 * (turn + 1)
        stock.write(
            name=name, first=first, end=first + 2, seed=3, parts=["lima"], operation="insert", **ARCHIVING
        )
    assert then not in stock.completed(name=name)
    index = HudiIndex(spark, path)
    index.create(record="global", columns="*")
    frame = spark.read.format("hudiidx").option("as.of.instant", then).load(path)
    wanted = [f"k{n:06d}" for n in range(6)]
    assert sorted(r.id for r in frame.select("id").collect()) == wanted
    for key in wanted:
        assert [r.id for r in frame.where(f"id = '{key}'").select("id").collect()] == [key]
    assert sorted(place.key for place in index.lookup(wanted, as_of=then)) == wanted
    assert sorted(place.key for place in index.lookup(wanted)) == wanted[2:]


@pytest.mark.parametrize("release", ["stock_0_15", "stock_1_2"])
def test_read_optimized_queries_by_key_have_the_rows_of_base_files(
    spark: SparkSession, request: pytest.FixtureRequest, release: str
) -> None:
    stock: Any = request.getfixturevalue(release)
    name = f"read-optimized-keys-{release}".replace("_", "-")
    path = stock.new(name=name, kind="MOR", options={**PLAIN, "hoodie.index.type": "GLOBAL_SIMPLE"})
    stock.write(name=name, first=0, end=6, seed=1, operation="insert", parts=["oslo"])
    stock.write(name=name, first=0, end=2, seed=2, operation="delete", parts=["oslo"])
    stock.write(name=name, first=3, end=4, seed=3, parts=["lima"])
    index = HudiIndex(spark, path)
    index.create(record="global", logs=True)
    frame = spark.read.format("hudiidx").option("hoodie.datasource.query.type", "read_optimized").load(path)
    all_rows = sorted((r.id, r.city) for r in frame.select("id", "city").collect())
    assert {key for key, _ in all_rows} >= {f"k{n:06d}" for n in range(6)}
    few = spark.createDataFrame([(f"k{n:06d}",) for n in (0, 3)], "key string")
    joined = frame.join(few, frame.id == few.key).select("id", "city").collect()
    assert sorted((r.id, r.city) for r in joined) == [r for r in all_rows if r[0] in ("k000000", "k000003")]
    for key in ("k000000", "k000003", "k000005"):
        for column in ("id", "_hoodie_record_key"):
            found = frame.where(f"{column} = '{key}'").select("id", "city").collect()
            assert sorted((r.id, r.city) for r in found) == [r for r in all_rows if r[0] == key]
        assert index.files(where=f"id = '{key}'", read_optimized=True)


@pytest.mark.parametrize("kind", ["COW", "MOR"])
def test_a_restore_that_is_run_again_takes_what_its_first_run_removed_from_an_index(
    spark: SparkSession, stock_1_2: Any, kind: str
) -> None:
    stock, name = stock_1_2, f"restored-again-{kind}"
    path = filled(stock, name, kind, 20, ["oslo", "lima"])
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


def test_what_is_logged_behind_a_rollback_that_is_later_than_its_commit_counts(
    spark: SparkSession, stock_0_15: Any
) -> None:
    """A write takes its time before it rolls back one that failed. Stock Hudi 0.15.0 ends its scan of the log
    at that rollback, until a later commit; 1.0.2 goes on, as hudiidx does."""
    stock, name = stock_0_15, "late-rollback"
    path = stock.new(name=name, kind="MOR", options=PLAIN)
    stock.write(name=name, first=0, end=5, seed=1, operation="bulk_insert", parts=["oslo"])
    stock.write(name=name, first=21, end=22, seed=1, operation="bulk_insert", parts=["sf"])
    index = HudiIndex(spark, path)
    index.create(record="global", columns="*")
    stock.fail(name=name, first=0, end=5, seed=2, parts=["oslo"])
    stock.write(name=name, first=1, end=2, seed=3, operation="delete", parts=["oslo"])
    assert "k000001" in ids(stock, name)
    wanted = {f"k{n:06d}" for n in (0, 2, 3, 4, 21)}
    for _ in range(2):
        frame = spark.read.format("hudiidx").load(path)
        assert {row.id for row in frame.select("id").collect()} == wanted
        assert {place.key for place in HudiIndex(spark, path).lookup(KEYS)} == wanted
        index.update()
    stock.write(name=name, first=21, end=22, seed=4, parts=["sf"])
    assert_as_stock(spark, stock, name, path)
    assert_in_step(spark, path)
    assert ids(stock, name) == wanted


def replaced(stock: Any, name: str, how: str) -> None:
    """Each file group of the table gives its place to others, or to none."""
    if how == "cluster":
        stock.cluster(name=name)
    else:
        gone = {"hoodie.datasource.write.partitions.to.delete": "*"} if how == "delete_partition" else {}
        stock.write(name=name, first=0, end=8, seed=9, operation=how, **gone)


@pytest.mark.parametrize("how", ["cluster", "insert_overwrite_table", "delete_partition"])
@pytest.mark.parametrize("kind", ["COW", "MOR"])
@pytest.mark.parametrize("release", each())
def test_a_range_that_ends_before_its_file_groups_are_replaced_has_its_rows(
    spark: SparkSession, request: pytest.FixtureRequest, release: str, kind: str, how: str
) -> None:
    stock, name = request.getfixturevalue(release), f"replaced-{release}-{kind}-{how}".lower()
    path = filled(stock, name, kind, end=24, parts=["oslo", "sf"])
    for seed in (2, 3):
        stock.write(name=name, first=seed * 4, end=seed * 4 + 20, seed=seed, parts=["oslo", "sf"])
    HudiIndex(spark, path).create()
    replaced(stock, name, how)
    stock.write(name=name, first=2, end=6, seed=12, parts=["oslo", "sf"])
    counts = ranges_as_stocks(spark, stock, name, Path(path))
    assert len(counts) == 15 and all(counts[:3])
