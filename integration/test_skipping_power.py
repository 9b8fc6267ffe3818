"""Every form of a filter leaves files out: all that are left out are gone before the query runs."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import hudifix
import pytest
from pyspark.sql import SparkSession

from hudiidx import HudiIndex

ZONE = "UTC"  # in which filters cut times, of stock Hudi's process too
OFF = {"hudiidx.read.column.stats": "false"}
CITIES = ("lima", "nyc", "oslo")
ALL = "lima nyc oslo"

# What a row of a city holds, n being 0 to 5: {0}, {1}, {2} are of lima, nyc and oslo.
COLUMNS = {
    "i": "cast({n} * 2 + element_at(array(10, 40, 80), {c}) as int)",
    "l": "cast({n} + element_at(array(1704067200, 1714521600, 1725148800), {c}) as bigint)",
    "f": "cast({n} + element_at(array(10, 40, 80), {c}) as float)",
    "d": "cast({n} + element_at(array(10, 40, 80), {c}) as double)",
    "dec5": "cast({n} + element_at(array(10, 40, 80), {c}) as decimal(5,2))",
    "dec18": "cast({n} + element_at(array(10, 40, 80), {c}) as decimal(18,4))",
    "dec38": "cast({n} + element_at(array(10, 40, 80), {c}) as decimal(38,10))",
    "name": "concat(element_at(array('e', 'p', 'v'), {c}), {n})",
    "long_name": "concat(element_at(array('e', 'p', 'v'), {c}), repeat('y', 1500), {n})",
    "bytes": "cast(concat(element_at(array('e', 'p', 'v'), {c}), {n}) as binary)",
    "day": "make_date(element_at(array(2017, 2021, 2024), {c}), 3, {n} + 1)",
    "old_day": "make_date(element_at(array(1581, 2021, 2024), {c}), 3, {n} + 1)",
    "at": "timestampadd(hour, {n}, element_at(array(timestamp'2024-01-15 00:00:00Z',"
    " timestamp'2024-05-15 00:00:00Z', timestamp'2024-09-15 00:00:00Z'), {c}))",
    "flag": "{c} = 1",
    "sparse": "if({c} = 1, cast(null as int), {n})",
    "odd": "if({c} = 3, double('NaN'), cast({n} + element_at(array(10, 40, 80), {c}) as double))",
    "addr": "named_struct('zip', cast({n} + element_at(array(100, 400, 800), {c}) as int),"
    " 'street', concat(element_at(array('e', 'p', 'v'), {c}), {n}))",
}

# A filter, and the cities whose files it needs. Files of all others must be left out.
FORMS: dict[str, str] = {
    # Comparisons
    "i = 12": "lima",
    "12 = i": "lima",
    "i <=> 12": "lima",
    "i < 40": "lima",
    "i <= 39": "lima",
    "i > 79": "oslo",
    "i >= 80": "oslo",
    "i between 0 and 39": "lima",
    "i in (12, 999)": "lima",
    f"i in ({', '.join(map(str, range(100, 400)))}, 82)": "oslo",
    "i = 13": "",  # between the values of a file that has few
    "i = 60": "",
    "i is null": "",
    "i is not null and i < 40": "lima",
    "sparse is null": "lima",
    "sparse <=> null": "lima",
    "sparse is not null": "nyc oslo",
    "sparse >= 0": "nyc oslo",
    "flag": "lima",
    "not flag": "nyc oslo",
    "flag != true": "nyc oslo",
    "l < 1704067300": "lima",
    "f < 40": "lima",
    "d >= 80": "oslo",
    "isnan(odd)": "oslo",
    "odd < 40": "lima oslo",  # files with NaN tell no bounds
    "odd between 40 and 50": "nyc oslo",
    "odd > 1e300": "oslo",
    "dec5 < 39.99": "lima",
    "dec18 > 50": "oslo",
    "dec38 = 41": "nyc",
    "name = 'e3'": "lima",
    "name = 'e33'": "",  # the bloom filter has it not
    "name like 'p%'": "nyc",
    "name not like 'p%'": "lima oslo",
    "name like 'p_'": "nyc",
    "startswith(name, 'v')": "oslo",
    "long_name like 'py%'": "nyc",
    "long_name > 'q'": "oslo",
    "bytes < X'70'": "lima",
    "day < date'2018-01-01'": "lima",
    "old_day < date'1582-10-10'": "lima",
    "old_day > date'2022-01-01'": "oslo",
    "at >= timestamp'2024-09-15 02:00:00Z'": "oslo",
    "addr.zip < 400": "lima",
    "addr.street like 'v%'": "oslo",
    # AND, OR, NOT
    "i < 50 and name like 'e%'": "lima",
    "i < 20 or d > 79": "lima oslo",
    "not (i >= 40)": "lima",
    "not (i < 80 or d < 0)": "oslo",
    "i < 50 and length(name) > 1 and d < 20": "lima",
    "not (i > 20 and i < 80) and name > 'f'": "oslo",
    # Arithmetic, casts, conditions
    "i + 1 < 40": "lima",
    "i - 10 = 2": "lima",
    "100 - i > 70": "lima",
    "i * 2 > 150": "oslo",
    "-i > -30": "lima",
    "i div 10 = 1": "lima",
    "d / 2 > 39": "oslo",
    "floor(d) = 12": "lima",
    "cast(i as bigint) = 12": "lima",
    "cast(i as double) < 39.5": "lima",
    "cast(i as decimal(10,2)) < 39.50": "lima",
    "cast(i as string) = '12'": ALL,  # of numbers of two digits: no range of texts
    "cast(name as binary) > X'76'": "oslo",
    "cast(d as int) = 42": "nyc",
    "coalesce(i, 50) < 40": "lima",
    "case when i < 40 then true else false end": "lima",
    # Texts
    "upper(name) = 'P2'": "nyc",
    "lower(name) like 'p%'": "nyc",
    "substring(name, 1, 1) = 'v'": "oslo",
    "left(name, 1) in ('e')": "lima",
    # Dates and times
    "year(day) = 2021": "nyc",
    "year(day) > 2021": "oslo",
    "trunc(day, 'YEAR') = date'2021-01-01'": "nyc",
    "date_format(day, 'yyyy-MM') = '2024-03'": "oslo",
    "date_add(day, 3) < date'2018-01-01'": "lima",
    "to_date(at) = date'2024-05-15'": "nyc",
    "cast(at as date) < date'2024-02-01'": "lima",
    "month(at) = 9": "oslo",
    "date_trunc('MONTH', at) = timestamp'2024-01-01 00:00:00Z'": "lima",
    "date_format(at, 'yyyy-MM-dd') = '2024-05-15'": "nyc",
    "cast(at as string) like '2024-09%'": "oslo",
    "unix_timestamp(at) < 1706000000": "lima",
    "from_unixtime(l) < '2024-02-01'": "lima",
    "at + interval 1 day < timestamp'2024-02-01 00:00:00Z'": "lima",
}


class Table:
    """By partition a city; of every city three files, and on merge-on-read logs beside two of them."""

    def __init__(self, spark: SparkSession, stock: Any, kind: str) -> None:
        self.spark, name = spark, f"power-{kind}"
        spark.conf.set("spark.sql.parquet.datetimeRebaseModeInRead", "CORRECTED")
        options = {
            "hoodie.parquet.small.file.limit": "0",
            "hoodie.metadata.index.column.stats.enable": "false",
        }
        self.path = Path(stock.new(name=name, kind=kind, options=options))
        for first, operation in ((0, "insert"), (2, "insert"), (0, "upsert"), (4, "insert")):
            stock.write_sql(name=name, sql=self.rows_sql(first, first + 2), operation=operation)
        self.index = HudiIndex(spark, self.path)
        self.index.create(columns="*", bloom=["name"], values=["i"])
        self.all = self.index.prune("id is not null").collect()

    @staticmethod
    def rows_sql(first: int, end: int) -> str:
        def row(city: int, n: int) -> str:
            values = ", ".join(f"{sql.format(c=city + 1, n=n)} as {c}" for c, sql in COLUMNS.items())
            return f"select 'r{city}{n}' as id, '{CITIES[city]}' as city, 1L as ts, {values}"

        return " union all ".join(row(c, n) for c in range(len(CITIES)) for n in range(first, end))

    def answer(self, where: str, **options: str) -> Any:
        rows = self.spark.read.format("hudiidx").options(**options).load(str(self.path)).where(where)
        return hudifix.answer(rows)[1]


@pytest.fixture(scope="module")
def table_of(spark: SparkSession, stock_1_2: Any) -> Callable[[str], Table]:
    """The table of a kind, made once."""
    return cache(lambda kind: Table(spark, stock_1_2, kind))


# `make test` tries every form on one of the two kinds of table, `make test-all` on both.
CASES = [
    pytest.param(kind, where, marks=() if n % 2 == k else pytest.mark.slow)
    for k, kind in enumerate(("COW", "MOR"))
    for n, where in enumerate(FORMS)
]


@pytest.mark.parametrize(("kind", "where"), CASES)
def test_files_that_hold_no_row_are_left_out_and_not_needed(
    table_of: Callable[[str], Table], tmp_path: Path, kind: str, where: str
) -> None:
    table = table_of(kind)
    cities = FORMS[where].split()
    kept = {(row.partition_path, row.file_name) for row in table.index.prune(where).collect()}
    assert {partition for partition, _ in kept} <= set(cities)
    gone = [
        table.path / row.partition_path / row.file_name
        for row in table.all
        if (row.partition_path, row.file_name) not in kept
    ]
    assert gone or cities == ALL.split()
    whole = table.answer(where, **OFF)
    assert (whole["count"] > 0) == bool(cities)
    for n, file in enumerate(gone):
        file.rename(tmp_path / str(n))
    try:
        assert table.answer(where, **{"hudiidx.index.strict": "true"}) == whole
    finally:
        for n, file in enumerate(gone):
            (tmp_path / str(n)).rename(file)
