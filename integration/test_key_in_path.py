"""A record key that is the partition column too, in paths that a key generator formats: no row is lost."""

from itertools import product
from typing import Any

import pytest
from pyspark.sql import SparkSession

from hudiidx import HudiIndex

TIMED = {
    "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.TimestampBasedKeyGenerator",
    "hoodie.datasource.write.recordkey.field": "at",
    "hoodie.datasource.write.partitionpath.field": "at",
    "hoodie.keygen.timebased.output.dateformat": "yyyy-MM-dd",
    "hoodie.keygen.timebased.timezone": "GMT",
}
DAY = 86400
START = 1704067200  # 2024-01-01
# Kind of the generator's input, type of the column, SQL of a value by row number.
COLUMNS = {
    "millis": ("EPOCHMILLISECONDS", "bigint", f"({START} + id * {DAY // 4}) * 1000"),
    "seconds": ("UNIX_TIMESTAMP", "bigint", f"{START} + id * {DAY // 4}"),
    "text": (
        "DATE_STRING",
        "string",
        f"date_format(timestamp_seconds({START} + id * {DAY // 4}), 'yyyyMMddHH')",
    ),
}
FORMAT = {"hoodie.keygen.timebased.input.dateformat": "yyyyMMddHH"}


@pytest.mark.parametrize(
    ("kind", "hive", "of"),
    [
        pytest.param(*t, marks=() if t == ("MOR", True, "millis") else pytest.mark.slow)
        for t in product(("COW", "MOR"), (False, True), COLUMNS)
    ],
)
def test_filters_by_a_key_that_paths_format_lose_no_row(
    spark: SparkSession, stock_1_1: Any, kind: str, hive: bool, of: str
) -> None:
    number, sql_type, value = COLUMNS[of]
    name = f"key-path-{of}-{kind}-{hive}"
    options = {
        **TIMED,
        **(FORMAT if of == "text" else {}),
        "hoodie.keygen.timebased.timestamp.type": number,
        "hoodie.datasource.write.hive_style_partitioning": str(hive).lower(),
        "hoodie.metadata.enable": "false",
    }
    path = stock_1_1.new(name=name, kind=kind, options=options)
    rows = "select {} as at, id, id * 7 + {} as n, cast(id as long) as ts from range({}, {}, 1, 2)"
    for first, end, seed in ((0, 20, 1), (0, 6, 2)):
        sql = rows.format(f"cast({value} as {sql_type})", seed, first, end)
        stock_1_1.write_sql(name=name, sql=sql, operation="insert" if seed == 1 else "upsert")
    stocks = stock_1_1.values(name=name, column="at")

    def check() -> None:
        def frame() -> Any:
            return spark.read.format("hudiidx").load(path)

        # Stock gives numbers as texts.
        shown = frame().selectExpr("id", "n", "cast(at as string)").collect()
        assert sorted(str(tuple(r)) for r in shown) == stocks
        whole = frame().select("at", "id").collect()
        values = [r["at"] for r in whole]
        for where in wheres(values):
            wanted = spark.createDataFrame(whole, frame().select("at", "id").schema).where(where).count()
            assert [frame().where(where).count(), len(frame().where(where).collect())] == [wanted] * 2, where
        keys = spark.createDataFrame([(v,) for v in values[:9]], frame().select("at").schema)
        assert frame().join(keys.hint("broadcast"), "at").count() == sum(v in values[:9] for v in values)
        joined = frame().join(frame().select("at", "id").where("id < 5").hint("broadcast"), ["at", "id"])
        assert joined.count() == 5
        stored = [r[0] for r in frame().select("_hoodie_record_key").collect()]
        by_key = frame().where(f"_hoodie_record_key in ({', '.join(map(repr, stored[:7]))})")
        assert by_key.count() == 7

    check()
    index = HudiIndex(spark, path)
    index.create(record="global", columns="*", bloom="at")
    check()
    assert index.verify(record=True).ok


def wheres(values: list[Any]) -> list[str]:
    first, middle, last = (repr(sorted(values)[k]) for k in (0, len(values) // 2, -1))
    return [
        f"at = {first}",
        f"at = {middle} and id >= 0",
        f"at in ({first}, {last})",
        f"at >= {middle}",
        f"at < {middle}",
        f"at between {first} and {middle}",
        f"at > {middle} or id = 0",
        f"at != {first}",
        "at is not null",
        "at is null",
    ]
