"""Stock Hudi live: it writes, we index; it writes on, we are asked before and after an update."""

from pathlib import Path
from typing import Any

import pytest
import stored
from compare import assert_listings, expect_answer
from pyspark.sql import SparkSession
from stock_hudi import OLDEST, RELEASES

from hudiidx import HudiIndex

NO_STATS = {"hoodie.metadata.index.column.stats.enable": "false"}
PAYLOAD = "hoodie.datasource.write.payload.class"
MODE = "hoodie.write.record.merge.mode"
MODEL = "org.apache.hudi.common.model."
# What a copy-on-write table is written with, and merge-on-read ones.
OPTIONS: dict[str, dict[str, str]] = {
    "COW": {},
    "MOR": {},
    "MOR-commit-time": {MODE: "COMMIT_TIME_ORDERING"},
    "MOR-event-time": {MODE: "EVENT_TIME_ORDERING"},
    "MOR-partial-update": {PAYLOAD: MODEL + "PartialUpdateAvroPayload"},
}
OPTIONS_OF_0_15 = {
    **OPTIONS,
    "MOR-commit-time": {PAYLOAD: MODEL + "OverwriteWithLatestAvroPayload"},
    "MOR-event-time": {PAYLOAD: MODEL + "DefaultHoodieRecordPayload"},
}
CASES = [
    pytest.param(v, way, id=f"{v}-{way}")
    for v in RELEASES
    for way in OPTIONS
    if (v, way) != ("stock_1_0", "MOR-partial-update")  # merged by Hudi alone
]


ROWS = 130  # more than are ever written


class Pair:
    """A table that stock Hudi writes, and our strict index of it."""

    def __init__(
        self, spark: SparkSession, stock: Any, name: str, kind: str, options: dict[str, str] | None = None
    ) -> None:
        self.stock, self.name, self.kind, self._spark = stock, name, kind, spark
        self.path = Path(stock.new(name=name, kind=kind, options={**NO_STATS, **(options or {})}))

    def index(self) -> HudiIndex:
        return HudiIndex(self._spark, self.path, strict=True)

    def write(self, first: int, end: int, seed: int, operation: str = "upsert") -> None:
        self.stock.write(name=self.name, first=first, end=end, seed=seed, operation=operation)

    def assert_same(self) -> None:
        """Listings, views, rows and places of keys equal stock's, and stock's never show our folder."""
        assert_same(self._spark, self.stock, self.name, self.path, self.kind)
        wanted = [(k, p, f) for p, f, keys in self.stock.groups(name=self.name)["groups"] for k in keys]
        found = self.index().lookup([f"k{n:06d}" for n in range(ROWS)])
        assert sorted((at.key, at.partition_path, at.file_id) for at in found) == sorted(wanted)


def assert_same(spark: SparkSession, stock: Any, name: str, path: Path, kind: str) -> None:
    listing = stock.listing(name=name, metadata_table=True)
    assert not any("hudiidx" in p for p in listing["partitions"])
    answers = {"listing": listing, "table_type": kind}
    if kind == "MOR":
        answers["listing_by_file_system"] = stock.listing(name=name, metadata_table=False)
    assert_listings(HudiIndex(spark, path, strict=True), stored.Fixture(name, answers))
    frame = spark.read.format("hudiidx").option("hudiidx.index.strict", "true").load(str(path))
    expect_answer(frame, stock.rows(name=name))


@pytest.mark.slow
@pytest.mark.parametrize(("version", "way"), CASES)
def test_index_and_stock_agree_while_stock_goes_on_writing(
    spark: SparkSession, request: pytest.FixtureRequest, version: str, way: str
) -> None:
    stock, kind = request.getfixturevalue(version), way.split("-")[0]
    options = (OPTIONS_OF_0_15 if version == OLDEST else OPTIONS)[way]
    pair = Pair(spark, stock, f"live-{way.lower()}", kind, options)
    pair.write(0, 100, 1, "insert")
    assert stock.version(name=pair.name) == RELEASES[version].table_version
    pair.index().create(record="global")
    pair.assert_same()

    pair.write(50, 120, 2)  # the index lags
    assert pair.index().info().state == "LAGGING"
    pair.assert_same()
    pair.index().update()
    assert pair.index().info().state == "READY"
    pair.assert_same()

    stock.fail(name=pair.name, first=0, end=30, seed=3)  # files of no commit
    if version == OLDEST:  # or it hides the rows of the next commit: see test_late_services.py
        stock.roll_back_failed(name=pair.name)
    if kind == "MOR":
        stock.schedule_compaction(name=pair.name)
        pair.assert_same()
    pair.write(0, 60, 4)  # rolls the failed write back first
    pair.assert_same()
    pair.index().update()
    if kind == "MOR":
        stock.compact(name=pair.name)
    stock.clean(name=pair.name)
    pair.assert_same()
    pair.write(40, 90, 2)  # late: older ordering values than what is there
    pair.assert_same()
    if version != "stock_1_0":  # Hudi 1.0.2 cannot merge a record behind an entry of its own delete operation
        pair.write(30, 50, 5, "delete")
        pair.write(20, 40, 3)
    pair.index().update()
    pair.assert_same()
    report = pair.index().verify(record=True)
    assert report.ok, report.differences


@pytest.mark.slow
@pytest.mark.parametrize("newest", ["stock_1_1", "stock_1_2"])
def test_upgrade_and_downgrade_under_an_index_are_noticed(
    spark: SparkSession, request: pytest.FixtureRequest, stock_0_15: Any, stock_1_0: Any, newest: str
) -> None:
    name = f"migrated-{newest}"
    pair = Pair(spark, stock_0_15, name, "COW")
    pair.write(0, 100, 1, "insert")
    pair.write(20, 40, 2)
    pair.index().create(record="global")
    pair.assert_same()
    writers = {6: stock_0_15, 8: stock_1_0, 9: request.getfixturevalue(newest)}
    names = {6: "SIX", 8: "EIGHT", 9: "NINE"}
    for by, to in ((8, 8), (9, 9), (9, 8), (8, 6)):
        stock, reader = writers[by], writers[to]
        stock.adopt(name=name, path=str(pair.path), kind="COW")
        stock.migrate(name=name, version=names[to])
        reader.adopt(name=name, path=str(pair.path), kind="COW")
        assert reader.version(name=name) == to
        assert_same(spark, reader, name, pair.path, "COW")
        pair.index().update()
        assert pair.index().info().state == "READY"
        assert_same(spark, reader, name, pair.path, "COW")


@pytest.mark.slow
def test_sizes_of_logs_that_a_rollback_left_are_those_of_storage_behind_an_upgrade(
    spark: SparkSession, stock_1_2: Any, tmp_path: Path
) -> None:
    """Stock's metadata table has size 1 for them."""
    table = stored.load("v6-mor-rollback").unpack(tmp_path)
    stock_1_2.adopt(name="rolled-back", path=str(table), kind="MOR")
    stock_1_2.migrate(name="rolled-back", version="NINE")
    index = HudiIndex(spark, table, strict=True, source="metadata")
    index.create()
    assert min(row.size for row in index.files().collect()) > 1
    report = index.verify()
    assert report.ok, report.differences
