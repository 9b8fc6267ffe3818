"""Values of partition columns, null, empty and strange ones among them: rows and filters are stock Hudi's, or
those of files where docs/decisions.md says so."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.functions import expr
from stock_hudi import NEWEST, each

from hudiidx import HudiIndex

ZONE = "UTC"  # of stock Hudi's process, which gets the same filters
NULL = "__HIVE_DEFAULT_PARTITION__"
TEXTS = ("'oslo'", "''", "null", "'a/b=c%'", f"'{NULL}'", "'lima 2'")
STOCKS = ("stock_1_1", "stock_1_2")
VALUES = {
    "string": TEXTS,
    "int": ("7", "-3", "null", "8"),
    "date": ("date'2024-03-01'", "date'1969-12-31'", "null", "date'2024-03-02'"),
    "timestamp": (
        "timestamp'2024-03-01 10:00:00'",
        "timestamp'1969-12-31 23:59:59.5'",
        "null",
        "timestamp'2024-03-01 10:00:00.123456'",
    ),
    "double": ("1.5D", "-0.0D", "null", "1e10D"),
    "decimal(6,2)": ("1.50", "-2.00", "null", "0.00"),
    "boolean": ("true", "false", "null"),
}
# `make test` has one table of one type.
SHORT = (NEWEST, "MOR", False)
TABLES = [
    pytest.param(*table, of, marks=() if n == 0 and table == SHORT else pytest.mark.slow)
    for n, of in enumerate(VALUES)
    for table in product(STOCKS, ("COW", "MOR"), (False, True))
]
STAYS = {
    "hoodie.index.type": "GLOBAL_SIMPLE",
    "hoodie.simple.index.update.partition.path": "false",
    "hoodie.global.simple.index.update.partition.path": "false",
}


def rows_of(
    values: Sequence[str], of: str, column: str, first: int, end: int, seed: int, shift: int = 0
) -> str:
    """SQL of rows that take the values in turns."""
    cases = " ".join(f"when {k} then cast({v} as {of})" for k, v in enumerate(values))
    columns = (
        "concat('k', lpad(cast(id as string), 6, '0')) as id",
        f"id * 7 + {seed} as n",
        f"cast(id + {seed} * 1000 as long) as ts",
        f"case cast((id + {shift}) % {len(values)} as int) {cases} end as {column}",
    )
    return f"select {', '.join(columns)} from range({first}, {end}, 1, 2)"


def made(of: str, first: int, end: int, seed: int, shift: int) -> str:
    return rows_of(VALUES[of], of, "p", first, end, seed, shift)


def conditions(of: str) -> list[str]:
    first, second, last = (f"cast({VALUES[of][k]} as {of})" for k in (0, 1, -1))
    equal = [f"p = cast({v} as {of})" for v in VALUES[of] if v != "null"]
    return [
        "p is null",
        "p is not null",
        *equal,
        f"p in ({first}, {last})",
        f"p > {second}",
        f"p <= {first}",
        f"p != {first}",
        f"coalesce(p, {first}) = {first}",
        "p <=> null and n > 20",
    ]


def texts(frame: DataFrame, column: str = "p") -> list[str]:
    return sorted(str(tuple(row)) for row in frame.select("id", "n", column).collect())


@pytest.mark.parametrize(("stock", "kind", "hive", "of"), TABLES)
def test_partition_columns_have_stocks_values(
    spark: SparkSession, request: pytest.FixtureRequest, stock: str, kind: str, hive: bool, of: str
) -> None:
    asked: Any = request.getfixturevalue(stock)
    name = f"values-{of[:7]}-{kind}-{hive}"
    # Texts that hold slashes need it.
    options = {
        "hoodie.datasource.write.partitionpath.field": "p",
        "hoodie.datasource.write.hive_style_partitioning": str(hive).lower(),
        "hoodie.datasource.write.partitionpath.urlencode": "true",
        "hoodie.metadata.enable": "false",
    }
    path = asked.new(name=name, kind=kind, options=options)
    batches = made(of, 0, 36, 1, 0), made(of, 6, 15, 2, 1)
    asked.write_sql(name=name, sql=batches[0], operation="insert")
    # Records that stay in their partition with another value.
    asked.write_sql(name=name, sql=batches[1], **STAYS)
    wheres = conditions(of)
    rows = asked.values(name=name, column="p")
    # In memory: filters of stock's own are errors for some types, and take null for empty.
    answers = asked.filtered(name=name, filters=wheres, read_once=True)
    counts = [answer["count"] for answer in answers]
    if of == "timestamp":
        # Null in stock, whatever was written; here files are asked, but for the folder of nulls.
        assert all(row.endswith("None)") for row in rows)
        first, later = ({r.id: r for r in spark.sql(sql).collect()} for sql in batches)
        written = [(k, r.n, r.p and first[k].p and r.p) for k, r in {**first, **later}.items()]
        rows = sorted(map(str, written))
        frame_of = spark.createDataFrame(written, "id string, n long, p timestamp")
        counts = [frame_of.where(w).count() for w in wheres]

    def frame() -> DataFrame:
        return spark.read.format("hudiidx").load(path)

    def check() -> None:
        found = frame()
        assert texts(found) == rows
        kept = found.cache()
        wanted = [kept.where(w).count() for w in wheres]
        groups = sorted(map(str, kept.groupBy("p").count().collect()))
        kept.unpersist()
        assert wanted == counts
        for where, count in zip(wheres, wanted, strict=True):
            assert [frame().where(where).count(), len(frame().where(where).collect())] == [count] * 2, where
        assert sorted(map(str, frame().groupBy("p").count().collect())) == groups
        assert frame().selectExpr("count(p)", "count(*)").first() == Row(counts[1], 36)

    check()
    HudiIndex(spark, path).create(record="global", columns="*", bloom="p")
    check()
    for where in wheres:
        kept = {r.file_id for r in HudiIndex(spark, path).prune(where).select("file_id").collect()}
        files = frame().where(where).selectExpr("substring_index(_hoodie_file_name, '_', 1) as f").collect()
        assert {r.f for r in files} <= kept, where


@pytest.mark.parametrize("stock", each(of=STOCKS))
def test_null_and_empty_values_that_we_write_are_stocks(
    spark: SparkSession, request: pytest.FixtureRequest, stock: str, tmp_path: Path
) -> None:
    """Both go to one folder, whose rows have null then, as stock's have."""
    asked: Any = request.getfixturevalue(stock)
    path = tmp_path / f"empty-{stock}"
    options = {
        "hoodie.table.name": "t",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "p",
        "hoodie.datasource.write.precombine.field": "ts",
        "hoodie.datasource.write.partitionpath.urlencode": "true",
    }
    rows = spark.sql(made("string", 0, 36, 1, 0))
    rows.write.format("hudiidx").options(**options).mode("append").save(str(path))
    assert {f.name for f in path.iterdir() if f.name != ".hoodie"} == {"oslo", "a%2Fb%3Dc%25", NULL, "lima 2"}
    asked.adopt(name=path.name, path=str(path), kind="MOR", options=options)
    found = spark.read.format("hudiidx").load(str(path))
    assert asked.values(name=path.name, column="p") == texts(found)
    wheres = conditions("string")
    counts = [found.where(w).count() for w in wheres]
    assert counts[:4] == [18, 18, 6, 0]
    answers = asked.filtered(name=path.name, filters=wheres, read_once=True)
    assert [answer["count"] for answer in answers] == counts


@pytest.mark.parametrize("kind", ["COW", "MOR"])
def test_a_partition_whose_rows_are_all_deleted_is_no_group(
    spark: SparkSession, request: pytest.FixtureRequest, kind: str
) -> None:
    """Stock leaves base files without rows, or logs that leave none of them."""
    stock: Any = request.getfixturevalue(NEWEST)
    name = f"emptied-{kind.lower()}"
    path = stock.new(name=name, kind=kind, options={"hoodie.metadata.enable": "false"})
    stock.write(name=name, first=0, end=40, seed=1, operation="insert")
    stock.write(name=name, first=0, end=40, seed=2, operation="delete", only="id % 4 = 1")

    def check() -> None:
        for aggregate in ("count(*)", "count(note)", "max(n)", "min(day)"):
            frame = spark.read.format("hudiidx").load(path)
            groups = {r[0]: r[1] for r in frame.groupBy("city").agg(expr(aggregate)).collect()}
            wanted = {r[0]: r[1] for r in frame.cache().groupBy("city").agg(expr(aggregate)).collect()}
            frame.unpersist()
            assert groups == wanted and groups.keys() == {"sf", "oslo", "lima"}, aggregate

    assert stock.filtered(name=name, filters=["city = 'nyc'"])[0]["count"] == 0
    check()
    HudiIndex(spark, path).create(columns="*")
    check()
    if kind == "MOR":
        stock.compact(name=name)
        check()
        HudiIndex(spark, path).update()
        check()
