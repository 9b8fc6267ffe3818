"""Milliseconds under the label of microseconds, on tables of every version: times are those of stock Hudi 1.1
and later, which read tables of all versions so; 0.15 and 1.0 give 1970."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from hudiidx import HudiIndex

ZONE = "UTC"  # of stock Hudi's process, which gets the same filters
# What streamers of 0.14.1 to 1.0 left: column `at` holds milliseconds, `good` what its label says.
COLUMNS = (
    "concat('k', lpad(cast(id as string), 6, '0')) as id",
    "id * 7 + {seed} as n",
    "'sf' as city",
    "cast(id + {seed} * 1000 as long) as ts",
    "timestamp_micros(1704067200000 + id * 86400000) as at",
    "timestamp_micros(1704067200000000 + id * 86400000000) as good",
)
WHERES = [
    "year(at) = 2024",
    "at = good",
    "at >= timestamp'2024-01-01 00:00:00'",
    "at = timestamp'2024-01-08 00:00:00'",
    "at between timestamp'2024-01-03 00:00:00' and timestamp'2024-01-05 00:00:00'",
    "at < timestamp'1971-01-01 00:00:00'",
]
MICROS, MILLIS = b"timestamp-micros", b"timestamp-millis"


def relabel(table: Path) -> None:
    """Commits say that `at` has milliseconds, as the streamers' did."""
    for commit in (table / ".hoodie").glob("**/*commit"):
        text = commit.read_bytes().replace(MICROS, MILLIS)
        good = max(text.find(b'"name":"good"'), text.find(rb"\"name\":\"good\""))
        if good >= 0:
            text = text[:good] + text[good:].replace(MILLIS, MICROS, 1)
        commit.write_bytes(text)
    for checksum in (table / ".hoodie").glob("**/.*.crc"):
        checksum.unlink()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("release", "version", "kind"),
    list(product(("stock_1_1", "stock_1_2"), ("6", "8", "9"), ("COW", "MOR"))),
)
def test_times_under_a_wrong_label_are_those_of_1_1_and_1_2(
    spark: SparkSession, request: pytest.FixtureRequest, release: str, version: str, kind: str
) -> None:
    stock: Any = request.getfixturevalue(release)
    options = {
        "hoodie.write.table.version": version,
        "hoodie.write.auto.upgrade": "false",
        "hoodie.metadata.enable": "false",
    }
    name = f"labels-{version}-{kind}"
    path = stock.new(name=name, kind=kind, options=options)
    for first, end, seed in ((0, 40, 1), (0, 12, 2)):
        columns = ", ".join(COLUMNS).format(seed=seed)
        sql = f"select {columns} from range({first}, {end}, 1, 2)"
        stock.write_sql(name=name, sql=sql, operation="insert" if seed == 1 else "upsert")
    relabel(Path(path))
    rows = stock.values(name=name, column="at")
    counts = [answer["count"] for answer in stock.filtered(name=name, filters=WHERES)]
    assert counts == [40, 40, 40, 1, 3, 0]

    def check() -> None:
        frame = spark.read.format("hudiidx").load(path)
        assert sorted(str((r.id, r.n, r.at)) for r in frame.collect()) == rows
        assert [frame.where(w).count() for w in WHERES] == counts
        assert [len(frame.where(w).collect()) for w in WHERES] == counts
        low, high = frame.selectExpr("min(at) = min(good)", "max(at) = max(good)").first()
        assert low and high

    check()
    HudiIndex(spark, path).create(record="global", columns="*", bloom="at")
    check()
