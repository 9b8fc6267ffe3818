"""Tables that stock Hudi 1.2.0 upgrades and downgrades, and hudiidx writes: at each version rows, keys and
files are stock's without an index, with one from before all of it, with one that is behind, and in step."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import hudifix
import pytest
import stored
from compare import expect_answer
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col
from test_live import assert_same

from hudiidx import HudiIndex

SHAPES = {
    6: (
        "archived-cow",
        "commit-time",
        "cow-complex",
        "cow-part",
        "cow-replace",
        "mor-bucket",
        "mor-event",
        "mor-evolution",
        "mor-log-only",
        "mor-part",
        "mor-rollback",
        "moved-mor",
        "no-mdt-mor",
        "savepoint-restore",
        "virtual-mor",
    ),
    8: ("cow-part", "many-indexes", "mor-event", "mor-part", "mor-rollback", "moved-mor", "partial-updates"),
}
# At versions 8 and 9 stock does not show the log files behind a pending compaction of version 6, which bear
# its instant. The rows are those from before the upgrade; behind a downgrade to 6 stock shows them again.
HIDDEN_BY_STOCK = ("v6-mor-part",)
TABLES = [f"v{version}-{shape}" for version, shapes in SHAPES.items() for shape in shapes]
ROUTES = {6: (8, 9, 8, 6, 9), 8: (9, 8, 6, 8)}
NAMES = {6: "SIX", 8: "EIGHT", 9: "NINE"}
WRITTEN = (6, 9)  # versions that hudiidx writes
QUERY = "hoodie.datasource.query.type"


def begin_of(change: dict[str, Any], version: int) -> dict[str, str]:
    """The begin of stock 1.2.0's incremental query, for ours.

    On version 8 ours has a commit at the begin too, as Hudi 1.0 whose version that is; 1.2.0 leaves it out.
    """
    begin = change["begin"]
    if version == 8:
        later = datetime.strptime(begin, "%Y%m%d%H%M%S%f") + timedelta(milliseconds=1)
        begin = later.strftime("%Y%m%d%H%M%S%f")[:17]
    return {"hoodie.datasource.read.begin.instanttime": begin}


class Migrated:
    """A table of an earlier release, an index in it, and one elsewhere that is never updated."""

    def __init__(self, spark: SparkSession, stock: Any, name: str, into: Path) -> None:
        self.spark, self.stock, self.name = spark, stock, name
        self.fixture = stored.load(name)
        self.kind = "COW" if self.fixture.copy_on_write else "MOR"
        self.path = self.fixture.unpack(into)
        self.elsewhere = into / "from-before"
        for where in (None, self.elsewhere):
            HudiIndex(spark, self.path, index_path=where).create(record="global", columns="*")
        stock.adopt(name=name, path=str(self.path), kind=self.kind)

    def index(self) -> HudiIndex:
        return HudiIndex(self.spark, self.path, strict=True)

    def read(self, **options: str) -> DataFrame:
        return self.spark.read.format("hudiidx").options(**options).load(str(self.path))

    def check_rows(self, rows: dict[str, Any]) -> None:
        """Without an index, by one from before, and by the one in the table, which may be behind."""
        nowhere = {"hudiidx.index.path": str(self.elsewhere.with_name("nowhere"))}
        before = {"hudiidx.index.path": str(self.elsewhere)}
        for options in (nowhere, before, {"hudiidx.index.strict": "true"}):
            expect_answer(self.read(**options), rows)

    def check(self) -> None:
        """Rows, keys and files, the index in the table behind and then in step."""
        self.check_rows(self.stock.rows(name=self.name))
        places = sorted(
            (key, partition, file)
            for partition, file, keys in self.stock.groups(name=self.name)["groups"]
            for key in keys
        )
        asked = sorted({key for key, _, _ in places} | {"none"})
        stale = HudiIndex(self.spark, self.path, index_path=self.elsewhere)
        for index in (stale, self.index()):
            found = index.lookup(asked)
            assert sorted((at.key, at.partition_path, at.file_id) for at in found) == places
        assert_same(self.spark, self.stock, self.name, self.path, self.kind)
        self.index().update()
        assert self.index().info().state == "READY"
        assert_same(self.spark, self.stock, self.name, self.path, self.kind)
        self.check_history()

    def check_history(self) -> None:
        version = self.stock.version(name=self.name)
        for change in self.stock.changes(name=self.name):
            begin = begin_of(change, version)
            if "error" not in change:
                expect_answer(self.read(**{QUERY: "incremental"}, **begin), change)
        for travel in self.stock.travel(name=self.name):
            if "error" not in travel:
                expect_answer(self.read(**{"as.of.instant": travel["as_of"]}), travel)
        if self.kind == "MOR":
            base = {QUERY: "read_optimized"}
            expect_answer(self.read(**base), self.stock.rows(name=self.name, options=base))

    def write(self) -> None:
        """An upsert of rows that are there, the newest by their ordering value, and stock's answers to it."""
        frame = self.read()
        data = frame.select([c for c in frame.columns if not c.startswith("_hoodie_")]).localCheckpoint()
        changed = data.where("n % 3 = 1").withColumn(
            "ts", (col("ts") + 1_000_000).cast(frame.schema["ts"].dataType)
        )
        assert changed.count()
        before = self.stock.texts(name=self.name)
        changed.write.format("hudiidx").mode("append").save(str(self.path))
        after = self.stock.texts(name=self.name)
        assert len(after) == len(before) and len(set(after) - set(before)) == changed.count()
        assert list(hudifix.answer(self.read())[0]) == after


def test_every_table_that_is_to_be_migrated_is_there() -> None:
    assert [name for name in TABLES if not (stored.FIXTURES / f"{name}.zip").exists()] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_upgraded_and_downgraded_tables_are_stocks(
    spark: SparkSession, stock_1_2: Any, name: str, tmp_path: Path
) -> None:
    table = Migrated(spark, stock_1_2, name, tmp_path)
    for to in ROUTES[table.fixture.version]:
        stock_1_2.migrate(name=name, version=NAMES[to])
        assert stock_1_2.version(name=name) == to
        if name in HIDDEN_BY_STOCK and to > 6:
            table.check_rows(table.fixture.answers["snapshot"])
            continue
        table.check()
        if table.kind == "MOR" and to in WRITTEN:
            table.write()
            table.check()
    report = table.index().verify(record=True)
    assert report.ok, report.differences
