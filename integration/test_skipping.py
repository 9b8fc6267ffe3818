"""Data skipping never loses a row: random tables of all types by stock Hudi, random filters, stock's rows."""

import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import hudifix
import pytest
from pyspark.sql import DataFrame, SparkSession
from spark_session import in_zone
from stock_hudi import RELEASES

from hudiidx import ColumnAdvice, HudiIndex

SEED = int(os.environ.get("HUDIIDX_TEST_SEED", time.time_ns() % 10**9))
ZONE = "UTC"  # of stock Hudi's process, which gets the same filters
CITIES = ("lima", "nyc", "oslo")
OFF = {"hudiidx.read.column.stats": "false"}
names = count()


@dataclass(frozen=True)
class Column:
    """A column: its SQL type, and SQL of a value near ``at``, a number from 0 to 9 that a file has."""

    sql: str
    value: Callable[[random.Random, int], str]


def _double(r: random.Random, at: int) -> str:
    odd = ("'NaN'", "'Infinity'", "'-Infinity'", "'-0.0'", "4.9e-324")
    return f"double({r.choice(odd) if r.random() < 0.08 else at * 10 + r.randint(0, 90) / 10})"


def _name(r: random.Random, at: int) -> str:
    tail = r.choice(("", "a", "Z", "ß", "\U0001f600", "\U0001f601", "x" * 70, "y" * 1500))
    return "'" + "aeimpqsuvz"[at] + tail + str(r.randint(0, 9)) + "'"


def _day(r: random.Random, at: int) -> str:
    year = 1579 + at if at < 3 else 2020 + at
    return f"date'{year:04}-{r.randint(1, 12):02}-{r.randint(1, 28):02}'"


def _instant(r: random.Random, at: int) -> str:
    # Clocks go back, and forward, in some zone or other on these days.
    day = ("2011-11-06", "2018-02-18", "2024-03-31", "2024-10-27", "2011-12-30")[at % 5]
    return f"timestamp'{day} {r.randint(0, 23):02}:{r.randint(0, 59):02}:00.{r.randint(0, 999999):06}Z'"


COLUMNS = {
    "i": Column("int", lambda r, at: str(at * 10 + r.randint(0, 9))),
    "l": Column("bigint", lambda r, at: f"{r.choice((1, 2**53, -(2**60))) + at}L"),
    "f": Column("float", lambda r, at: f"float({_double(r, at)})"),
    "d": Column("double", _double),
    "dec5": Column("decimal(5,2)", lambda r, at: f"cast({at * 10}.{r.randint(0, 99):02} as decimal(5,2))"),
    "dec18": Column("decimal(18,4)", lambda r, at: f"cast(-{at * 1000}.{r.randint(0, 99)} as decimal(18,4))"),
    "dec38": Column(
        "decimal(38,10)", lambda r, at: f"cast({at - 5}e20 + {r.randint(0, 9)} as decimal(38,10))"
    ),
    "name": Column("string", _name),
    "bytes": Column("binary", lambda r, at: f"X'{at * 20:02X}{r.randint(0, 255):02X}'"),
    "day": Column("date", _day),
    "at": Column("timestamp", _instant),
    "flag": Column("boolean", lambda r, at: str(at % 2 == 0 or r.random() < 0.5).lower()),
    "sparse": Column("int", lambda r, at: "cast(null as int)" if at % 3 else str(at)),
    "addr.zip": Column("int", lambda r, at: str(at * 100 + r.randint(0, 99))),
    "addr.street": Column("string", _name),
}
FLAT = [c for c in COLUMNS if not c.startswith("addr.")]


def rows_sql(r: random.Random, first: int, rows: int, ordering: int) -> str:
    """A query of ``rows`` rows over all cities; the rows of one city are near each other in every column."""
    at = {city: {c: r.randint(0, 9) for c in COLUMNS} for city in CITIES}
    whole = {city: [c for c in COLUMNS if r.random() < 0.1] for city in CITIES}  # null throughout

    def value(city: str, column: str) -> str:
        null = column in whole[city] or r.random() < 0.05
        return "null" if null else COLUMNS[column].value(r, at[city][column])

    found = []
    for n in range(first, first + rows):
        city = CITIES[n % len(CITIES)]
        values = [f"cast({value(city, c)} as {COLUMNS[c].sql})" for c in COLUMNS]
        found.append(f"('r{n:05}', '{city}', {ordering}L, {', '.join(values)})")
    listed = ", ".join(["id", "city", "ts", *FLAT, "zip", "street"])
    shown = ", ".join(["id", "city", "ts", *FLAT, "named_struct('zip', zip, 'street', street) as addr"])
    return f"select {shown} from values {', '.join(found)} as t({listed})"


FUNCTIONS: dict[str, tuple[str, ...]] = {
    "int": ("{c} + 1", "cast({c} as double)", "{c} * 2", "coalesce({c}, 7)"),
    "bigint": ("cast({c} as double)", "{c} - 1"),
    "float": ("cast({c} as double)", "round({c})"),
    "double": ("floor({c})", "-{c}", "{c} / 2", "cast({c} as int)"),
    "string": ("substring({c}, 1, 1)", "upper({c})", "lower(substring({c}, 1, 2))"),
    "date": (
        "year({c})",
        "month({c})",
        "trunc({c}, 'MM')",
        "date_format({c}, 'yyyy-MM')",
        "date_add({c}, 3)",
    ),
    "timestamp": ("to_date({c})", "hour({c})", "date_trunc('DAY', {c})", "cast({c} as string)"),
}


def leaf(r: random.Random) -> str:
    column = r.choice(list(COLUMNS))
    kind = COLUMNS[column]
    a, b = (kind.value(r, r.randint(0, 9)) for _ in range(2))
    forms = [f"{column} {op} {a}" for op in ("=", "<", "<=", ">", ">=", "!=", "<=>")]
    forms += [f"{column} in ({a}, {b})", f"{column} not in ({a}, {b})", f"{column} between {a} and {b}"]
    forms += [f"{column} is null", f"{column} is not null", f"not ({column} <=> {a})"]
    for text in FUNCTIONS.get(kind.sql, ()):
        op = r.choice(("=", "<", ">", ">="))
        forms.append(f"{text.format(c=column)} {op} {text.format(c=a)}")
    if kind.sql == "string":
        forms += [f"{column} like concat({a}, '%')", f"{column} not like 'p%'", f"startswith({column}, 'p')"]
    if kind.sql in ("float", "double"):
        forms.append(f"isnan({column})")
    return r.choice(forms)


def predicate(r: random.Random) -> str:
    a, b = leaf(r), leaf(r)
    return r.choice(
        (a, a, f"({a}) and ({b})", f"({a}) or ({b})", f"not ({a} and {b})", f"city = 'oslo' and {a}")
    )


def answered(answer: dict[str, Any]) -> tuple[int, str]:
    return answer["count"], answer["checksum"]


class Skipped:
    """A table of stock's with indexes on all columns, as it has grown."""

    def __init__(self, spark: SparkSession, stock: Any, kind: str, seed: int) -> None:
        self.spark, self.stock, self.name = spark, stock, f"skipping-{next(names)}"
        self.random = random.Random(seed)
        spark.conf.set("spark.sql.parquet.datetimeRebaseModeInRead", "CORRECTED")
        options = {
            "hoodie.parquet.small.file.limit": "0",
            "hoodie.metadata.index.column.stats.enable": "false",
        }
        self.path = Path(stock.new(name=self.name, kind=kind, options=options))
        self.ordering = 0
        self.write(0, 18, "insert")
        self.index = HudiIndex(spark, self.path)
        self.index.create(columns="*", bloom=["name"], values=["i"])
        self.write(18, 18, "insert")
        self.write(36, 18, "insert")
        self.write(3, 9, "upsert")
        self.index.update()

    def write(self, first: int, rows: int, operation: str) -> None:
        self.ordering += 1
        sql = rows_sql(self.random, first, rows, self.ordering)
        self.stock.write_sql(name=self.name, sql=sql, operation=operation)

    def rows(self, **options: str) -> DataFrame:
        return self.spark.read.format("hudiidx").options(**options).load(str(self.path))

    def compare(self, filters: list[str]) -> int:
        """Rows with the index, without it, and stock's; how many files were left out."""
        left = 0
        for where, stocks in zip(filters, self.stock.filtered(name=self.name, filters=filters), strict=True):
            for how in ({"hudiidx.index.strict": "true"}, OFF):
                got = hudifix.answer(self.rows(**how).where(where))[1]
                assert (got["count"], got["checksum"]) == (stocks["count"], stocks["checksum"]), (
                    SEED,
                    how,
                    where,
                )
            left += self.all_files - self.index.prune(where).count()
        return left

    @property
    def all_files(self) -> int:
        return self.index.prune("id is not null").count()


@pytest.fixture(scope="module")
def table(spark: SparkSession, stock_1_2: Any) -> Skipped:
    print(f"HUDIIDX_TEST_SEED={SEED}")
    return Skipped(spark, stock_1_2, "MOR", SEED)


def test_rows_of_random_filters_are_stocks(table: Skipped) -> None:
    r = random.Random(SEED)
    filters = [predicate(r) for _ in range(20)]
    assert table.compare(filters) > 20, SEED


REPORTED = {
    "hudi-18754 NaN in a column": "d > 5",
    "hudi-18754 NaN in another column": "d > 5 and name >= 'a'",
    "hudi-18754 NaN is the greatest": "d > 1e300",
    "hudi-18755 values of more than a kilobyte": "name >= 'm'",
    "hudi-18755 such a value itself": f"name like '{'p' + 'y' * 1100}%'",
    "hudi-18791 LIKE 'p%'": "name like 'p%'",
    "hudi-18791 NOT LIKE 'p%'": "name not like 'p%'",
    "hudi-19645 IS NULL": "sparse is null",
    "hudi-19645 IS NULL of a field": "addr.zip is null",
    "hudi-5224 IS NOT NULL": "sparse is not null",
    "hudi-7032 the greatest value": "i >= 90 or dec5 > 90",
    "hudi-4996 functions of functions": "upper(substring(name, 1, 1)) = 'P' and abs(i - 50) < 40",
    "hudi-12744 one part without a range": "i > 50 and length(name) > 2",
    "hudi-17489 a function is not its column": "month(day) = 3",
    "hudi-5804 fields of structs": "addr.street like 'p%' or addr.zip between 300 and 500",
    "delta-5249 zones": "at >= timestamp'2011-11-06 02:31:00' and to_date(at) = date'2011-11-06'",
    "delta-kernel-1003 microseconds": "at > timestamp'2024-03-31 12:00:00.000001Z'",
    "clickhouse-118112 NaN alone": "d = double('NaN') or f != f",
    "dates before 1582": "day < date'1582-10-10'",
}


@pytest.mark.parametrize("where", REPORTED.values(), ids=REPORTED.keys())
def test_rows_that_others_lost(table: Skipped, where: str) -> None:
    for zone in ("UTC", "America/St_Johns"):
        with in_zone(table.spark, zone):
            on, off = (hudifix.answer(table.rows(**how).where(where))[1] for how in ({}, OFF))
        assert on == off, (SEED, zone)
    stocks = table.stock.filtered(name=table.name, filters=[where])[0]
    got = hudifix.answer(table.rows().where(where))[1]
    assert answered(got) == answered(stocks), SEED


def test_a_column_without_an_index_decides_nothing(table: Skipped, tmp_path: Path) -> None:
    """A filter on an indexed column and on one that is not (hudi-10389, hudi-10427, delta-rs-3201), and the
    latter's values (hudi-7672)."""
    index = HudiIndex(table.spark, table.path, index_path=tmp_path / "i")
    index.create(columns=["i"])
    here = {"hudiidx.index.path": str(tmp_path / "i")}
    for where in ("i < 50 or l > 3", "i < 50 and name like 'p%'", "l > 3", "not (i < 50 and l > 3)"):
        got = hudifix.answer(table.rows(**here).where(where))[1]
        assert got == hudifix.answer(table.rows(**OFF).where(where))[1], (SEED, where)


def test_files_that_are_left_out_are_not_needed(table: Skipped, spark: SparkSession, tmp_path: Path) -> None:
    """Every one of them is removed, and the rows are the same."""
    r = random.Random(SEED + 1)
    shown = table.index.prune("id is not null").collect()
    done = 0
    for _ in range(60):
        where = predicate(r)
        kept = {row.file_name for row in table.index.prune(where).collect()}
        gone = [table.path / row.partition_path / row.file_name for row in shown if row.file_name not in kept]
        if not gone or done == 5:
            continue
        whole = hudifix.answer(table.rows(**OFF).where(where))[1]
        aside = [file.rename(tmp_path / file.name) and file for file in gone]
        try:
            assert hudifix.answer(table.rows().where(where))[1] == whole, (SEED, where)
        finally:
            for file in aside:
                (tmp_path / file.name).rename(file)
        done += 1
    assert done == 5, SEED


def test_recommend_tells_the_columns_that_help(table: Skipped) -> None:
    table.rows().createOrReplaceTempView("skipping")
    sql = "SELECT count(*) FROM skipping WHERE dec5 > 95"
    advice = table.index.recommend("i < 10", sql, table.rows().where("f > 0"))
    assert {a.column for a in advice} == {"i", "dec5", "f"}
    assert all(isinstance(a, ColumnAdvice) and a.is_indexed and a.files for a in advice)
    assert any(a.skipped for a in advice) and all(a.skipped <= a.files for a in advice)
    table.rows().where("addr.zip = 3").collect()
    learned = {a.column: a for a in table.index.recommend()}
    assert learned["addr.zip"].pointed >= 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["COW", "MOR"])
@pytest.mark.parametrize("release", RELEASES)
def test_rows_of_many_filters_are_stocks(
    spark: SparkSession, request: pytest.FixtureRequest, release: str, kind: str
) -> None:
    made = Skipped(spark, request.getfixturevalue(release), kind, SEED + 7)
    r = random.Random(SEED + 8)
    assert made.compare([predicate(r) for _ in range(60)]) > 60, SEED
