"""Ordering values that are null, NaN, or zeros of either sign: rows are stock's, whoever writes."""

import shutil
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from test_timestamp_labels import relabel
from written import OURS

from hudiidx import HudiIndex

MODEL = "org.apache.hudi.common.model."
CLASS = "hoodie.datasource.write.payload.class"
MODE = "hoodie.write.record.merge.mode"
VALUES = {
    "double": ("double('NaN')", "-0.0D", "0.0D", "1.5D", "-2.0D"),
    "float": ("float('NaN')", "-0.0F", "0.0F", "1.5F"),
    "int": ("null", "0", "5", "-5"),
    "null double": ("null", "double('NaN')", "-0.0D", "1.5D"),
}
# By name: who writes, table version, options of the table.
TABLES = {
    "v6-event-time": ("stock_0_15", "6", {CLASS: MODEL + "DefaultHoodieRecordPayload"}),
    "v6-commit-time": ("stock_0_15", "6", {CLASS: MODEL + "OverwriteWithLatestAvroPayload"}),
    "v6-event-time-by-1.1": ("stock_1_1", "6", {CLASS: MODEL + "DefaultHoodieRecordPayload"}),
    "v9-event-time": ("stock_1_1", "9", {MODE: "EVENT_TIME_ORDERING"}),
    "v9-commit-time": ("stock_1_1", "9", {MODE: "COMMIT_TIME_ORDERING"}),
}
SHORT = {("v9-event-time", "double"), ("v9-event-time", "int")}


def cases() -> list[Any]:
    """Stock 0.15 writes no null ordering values; by event time 1.1 compares them with int alone."""
    named = [
        (name, of)
        for name, of in product(TABLES, VALUES)
        if "null" not in VALUES[of]
        or name == "v9-commit-time"
        or (TABLES[name][0] == "stock_1_1" and of == "int")
    ]
    return [pytest.param(*n, marks=() if n in SHORT else pytest.mark.slow) for n in named]


FIRST, SECOND, THIRD = range(3)


def rows_of(of: str, write: int, places: Sequence[int], only: str = "true") -> str:
    """SQL of a row for each triple of the values; the sum of some of its numbers gives the ordering value."""
    values = VALUES[of]
    many = len(values)
    cases = " ".join(f"when {k} then {v}" for k, v in enumerate(values))
    number = " + ".join(f"floor(id / {many**place}) % {many}" for place in places)
    return (
        f"select concat('k', lpad(cast(id as string), 3, '0')) as id, id * 10 + {write} as n, 'sf' as city, "
        f"cast(case cast(({number}) % {many} as int) {cases} end as {of.split()[-1]}) as ts "
        f"from range(0, {many**3}, 1, 2) where {only}"
    )


@pytest.mark.parametrize(("name", "of"), cases())
def test_rows_by_odd_ordering_values_are_stocks(
    spark: SparkSession, request: pytest.FixtureRequest, name: str, of: str
) -> None:
    release, version, options = TABLES[name]
    stock: Any = request.getfixturevalue(release)
    reads = {"hudiidx.read.merge.release": "1.1"} if "1.1" in name else {}
    table = f"odd-order-{name}-{of}".replace(" ", "-")
    of_table = {"hoodie.write.table.version": version, "hoodie.write.auto.upgrade": "false", **options}
    path = stock.new(name=table, kind="MOR", options={**of_table, "hoodie.metadata.enable": "false"})

    def check() -> list[str]:
        frame = spark.read.format("hudiidx").options(**reads).load(path)
        rows = sorted(str(tuple(row)) for row in frame.select("id", "n", "ts").collect())
        assert rows == stock.values(name=table, column="ts")
        return rows

    for place in (FIRST, SECOND, THIRD):
        sql = rows_of(of, place, [place])
        stock.write_sql(name=table, sql=sql, operation="upsert" if place else "insert")
        check()
    copy = copied(stock, path, table, of_table)
    before = check()
    assert HudiIndex(spark, path).compact_table()["compactions"]
    stock.compact(name=copy)
    assert check() == before == stock.values(name=copy, column="ts")
    later = rows_of(of, 3, [FIRST, SECOND, THIRD])
    # Rows of one key in one write, of which the greater one counts; stock compares none with null.
    many = len(VALUES[of])
    differ = f"floor(id / {many}) % {many} != floor(id / {many**2}) % {many}"
    twice = " union all ".join(rows_of(of, 4 + p, [p], only=differ) for p in (SECOND, THIRD))
    for sql in (later,) if "commit-time" in name or "null" in VALUES[of] else (later, twice):
        save(spark.sql(sql), path)
        stock.write_sql(name=copy, sql=sql)
        assert check() == stock.values(name=copy, column="ts")
    stock.compact(name=copy)
    assert HudiIndex(spark, path).compact_table()["compactions"]
    assert check() == stock.values(name=copy, column="ts")


WIDER = {
    "int": ("10", "20", "cast(5 as bigint)", "cast(4 as bigint)"),
    "double": ("10", "20", "double(5)", "double(4)"),
    "float": ("float(1.5)", "float(2.5)", "double(1.25)", "double(1.0)"),
    "long": ("cast(10 as bigint)", "cast(20 as bigint)", "float(5)", "float(4)"),
    "text": ("10", "20", "'09'", "'08'"),
}


def widened() -> list[Any]:
    """Stock 0.15.0 cannot read a log of texts over numbers itself."""
    named = [n for n in product(("stock_0_15", "stock_1_2"), WIDER) if n != ("stock_0_15", "text")]
    return [pytest.param(*n, marks=() if n[1] in ("int", "float") else pytest.mark.slow) for n in named]


@pytest.mark.parametrize(("release", "of"), widened())
def test_late_rows_of_a_widened_ordering_column_are_late(
    spark: SparkSession, request: pytest.FixtureRequest, release: str, of: str
) -> None:
    """Files have the older type: an ordering value is above another one as the table's type has them."""
    stock: Any = request.getfixturevalue(release)
    name = f"widened-{release}-{of}".replace("_", "-")
    options = {CLASS: MODEL + "DefaultHoodieRecordPayload", "hoodie.metadata.enable": "false"}
    if release == "stock_1_2":
        options[MODE] = "EVENT_TIME_ORDERING"
    path = stock.new(name=name, kind="MOR", options=options)
    first, second, late, later = WIDER[of]

    def rows(keys: str, n: int, when: str) -> str:
        return f"select id, {n} as n, 'sf' as city, {when} as ts from values {keys} as t(id)"

    def check() -> list[str]:
        frame = spark.read.format("hudiidx").load(path)
        found = sorted(str(tuple(row)) for row in frame.select("id", "n", "ts").collect())
        assert found == stock.values(name=name, column="ts")
        return [row.n for row in frame.orderBy("id").collect()]

    stock.write_sql(name=name, sql=rows("('a'), ('b'), ('c')", 1, first), operation="insert")
    stock.write_sql(name=name, sql=rows("('b')", 2, second))
    stock.write_sql(name=name, sql=rows("('a'), ('b')", 3, late))
    assert check() == [1, 2, 1]
    save(spark.sql(rows("('c'), ('d')", 4, later)), path)
    assert check() == [1, 2, 1, 4]
    HudiIndex(spark, path).compact_table()
    assert check() == [1, 2, 1, 4]


def test_late_rows_over_base_files_that_call_milliseconds_microseconds_are_late(
    spark: SparkSession, stock_1_2: Any
) -> None:
    """As streamers of 0.14.1 to 1.0 left them: the table knows that its ordering column has milliseconds."""
    name = "mislabelled-order"
    options = {MODE: "EVENT_TIME_ORDERING", "hoodie.metadata.enable": "false"}
    path = Path(stock_1_2.new(name=name, kind="MOR", options=options))

    def rows(keys: str, n: int, when: str) -> str:
        return f"select id, {n} as n, 'sf' as city, {when} as ts from values {keys} as t(id)"

    there = "timestamp_micros(unix_millis(timestamp'2024-06-01 00:00:00'))"
    stock_1_2.write_sql(name=name, sql=rows("('a'), ('b'), ('c')", 1, there), operation="insert")
    relabel(path)

    def check() -> None:
        frame = spark.read.format("hudiidx").load(str(path)).orderBy("id")
        found = [str(tuple(row)) for row in frame.select("id", "n", "ts").collect()]
        assert found == stock_1_2.values(name=name, column="ts")
        assert [row.n for row in frame.collect()] == [1, 3, 1]

    save(spark.sql(rows("('a')", 2, "timestamp'2020-01-01 00:00:00'")), str(path))
    save(spark.sql(rows("('b')", 3, "timestamp'2025-01-01 00:00:00'")), str(path))
    check()
    HudiIndex(spark, str(path)).compact_table()
    check()


def copied(stock: Any, path: str, table: str, options: dict[str, str]) -> str:
    """The same table, which stock alone writes further."""
    copy, name = f"{path}-as-it-was", f"{table}-copy"
    shutil.copytree(path, copy)
    stock.adopt(name=name, path=copy, kind="MOR", options={**OURS, **options})
    return name


def save(rows: DataFrame, path: str) -> None:
    options = {"hoodie.datasource.write.recordkey.field": "id", "hoodie.table.name": "t"}
    rows.write.format("hudiidx").options(**options).mode("append").save(path)
