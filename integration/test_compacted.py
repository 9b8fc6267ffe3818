"""Tables whose logs hudiidx compacts: stock Hudi reads and writes them, and runs our plans as we run its."""

import shutil
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from stock_hudi import NEWEST, OLDEST
from written import IN_SHORT, LOG_INSERTS, OLD_IN_SHORT, OURS, VERSIONS, Written, leave_traces

from hudiidx import HudiIndex, WriteConflict

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "fixtures" / "make"))

import hudifix

FIXTURES = Path(__file__).resolve().parent.parent / "tests" / "fixtures"
SHORT = {"v9-mor-evolution"}
KINDS = ("types", "evolution", "event", "bucket", "log-only", "ordering", "part")
TABLES = [
    pytest.param(name, marks=() if name in SHORT else pytest.mark.slow)
    for name in (f"v{v}-mor-{kind}" for v in (6, 9) for kind in KINDS)
    if (FIXTURES / f"{name}.zip").exists()
]
OPTIMIZED = {"hoodie.datasource.query.type": "read_optimized"}


def stock_texts(stock: Any, name: str) -> list[str]:
    """Rows of a snapshot; those of the base files alone are the same."""
    rows = list(stock.texts(name=name))
    assert list(stock.texts(name=name, options=OPTIMIZED)) == rows
    return rows


@pytest.mark.parametrize("version", IN_SHORT)
def test_stock_and_we_compact_by_turns(
    spark: SparkSession, request: pytest.FixtureRequest, version: str, tmp_path: Path
) -> None:
    stock = request.getfixturevalue(version)
    table = Written(spark, stock, VERSIONS[version], tmp_path / f"compacted-{version[-2:]}")
    index = HudiIndex(spark, table.path, strict=True)
    table.upsert(table.make(0, 60, 1, 1))
    table.adopt()
    stock.write(name=table.name, first=30, end=90, seed=2)
    table.expect(table.make(30, 90, 2, 2))
    table.upsert(table.make(40, 50, 9, 0))  # late: nothing changes
    table.delete(50, 55)

    before = list(stock.texts(name=table.name))
    travels = stock.travel(name=table.name)
    done = index.compact_table()
    assert [c["instant"] for c in done["compactions"]] == [done["scheduled"]]
    table.assert_right()
    assert stock_texts(stock, table.name) == before
    assert stock.travel(name=table.name)[: len(travels)] == travels
    assert index.compact_table() == {"scheduled": None, "compactions": []}
    assert index.info().state == "READY"

    # Stock and we write to what we compacted, and stock compacts that.
    stock.write(name=table.name, first=80, end=110, seed=3)
    table.expect(table.make(80, 110, 3, 3))
    table.upsert(table.make(0, 20, 3, 3))
    table.delete(100, 105)
    table.assert_right()
    stock.compact(name=table.name)
    table.assert_right()

    # We run stock's plan, and writes go on behind it.
    table.upsert(table.make(10, 30, 4, 4))
    stock.schedule_compaction(name=table.name)
    table.upsert(table.make(20, 125, 5, 5))
    table.assert_right()
    done = index.compact_table(op="execute")
    assert done["scheduled"] is None
    assert len(done["compactions"]) == 1
    table.assert_right()

    # Stock runs ours.
    planned = index.compact_table(op="schedule")
    assert planned["compactions"] == []
    table.upsert(table.make(0, 10, 6, 6))
    stock.write(name=table.name, first=5, end=40, seed=7)
    table.expect(table.make(5, 40, 7, 7))
    table.assert_right()
    stock.compact(name=table.name)
    assert planned["scheduled"] not in [c["instant"] for c in index.compact_table()["compactions"]]
    table.assert_right()
    stock.clean_up(name=table.name)
    table.assert_right()
    assert stock_texts(stock, table.name) == list(hudifix.answer(table.ours())[0])
    report = index.verify(record=True)
    assert report.ok, report.differences


@pytest.mark.slow
@pytest.mark.parametrize("version", OLD_IN_SHORT)
def test_stock_takes_up_a_compaction_of_ours_that_died(
    spark: SparkSession, request: pytest.FixtureRequest, version: str, tmp_path: Path
) -> None:
    stock = request.getfixturevalue(version)
    table = Written(spark, stock, VERSIONS[version], tmp_path / f"died-{version[-2:]}", **LOG_INSERTS)
    table.upsert(table.make(0, 60, 1, 1))
    table.adopt()
    index = HudiIndex(spark, table.path)
    instant = index.compact_table()["scheduled"]
    undo_last_step(table.path, instant)
    table.assert_right()
    with pytest.raises(WriteConflict, match=instant):
        index.compact_table()
    table.upsert(table.make(30, 70, 2, 2))  # writers go on beside it
    table.assert_right()
    stock.compact(name=table.name)
    table.assert_right()
    assert len(list(table.path.glob(f"*/*_{instant}.parquet"))) == len(hudifix.PARTS)
    # What was written behind the plan stays in logs.
    ours = spark.read.format("hudiidx").options(**OPTIMIZED).load(str(table.path))
    assert list(stock.texts(name=table.name, options=OPTIMIZED)) == list(hudifix.answer(ours)[0])
    assert ours.count() == 60


def undo_last_step(path: Path, instant: str) -> None:
    """Leaves the table as a compaction does whose process ends before its commit."""
    hoodie = path / ".hoodie"
    timeline = hoodie / "timeline" if (hoodie / "timeline").exists() else hoodie
    for done in timeline.glob(f"{instant}*.commit"):
        done.unlink()
    leave_traces(hoodie, instant, path.glob(f"*/*_{instant}.parquet"), "CREATE")


@pytest.mark.parametrize("name", TABLES)
def test_tables_of_stock_are_read_by_stock_as_before(
    spark: SparkSession, request: pytest.FixtureRequest, name: str, tmp_path: Path
) -> None:
    stock = request.getfixturevalue(OLDEST if name.startswith("v6") else NEWEST)
    with zipfile.ZipFile(FIXTURES / f"{name}.zip") as z:
        z.extractall(tmp_path)
    path = tmp_path / name
    properties = path / ".hoodie" / "hoodie.properties"
    kept = [x for x in properties.read_text().splitlines() if "hoodie.table.metadata.partitions" not in x]
    properties.write_text("\n".join(kept) + "\n")
    shutil.rmtree(path / ".hoodie" / "metadata", ignore_errors=True)
    stock.adopt(name=f"copy-{name}", path=str(path), kind="MOR", options=OURS)
    before = list(stock.texts(name=f"copy-{name}"))
    assert HudiIndex(spark, path).compact_table()["compactions"]
    assert stock_texts(stock, f"copy-{name}") == before
    assert list(hudifix.answer(spark.read.format("hudiidx").load(str(path)))[0]) == before


PAYLOADS = ("DefaultHoodieRecordPayload", "OverwriteWithLatestAvroPayload")


@pytest.mark.parametrize(
    ("payload", "compacts"),
    [
        (PAYLOADS[0], "stock"),
        pytest.param(PAYLOADS[0], "hudiidx", marks=pytest.mark.slow),
        pytest.param(PAYLOADS[1], "stock", marks=pytest.mark.slow),
        pytest.param(PAYLOADS[1], "hudiidx", marks=pytest.mark.slow),
    ],
)
def test_keys_are_where_a_later_release_left_them_that_compacts_version_6(
    spark: SparkSession, stock_1_1: Any, payload: str, compacts: str
) -> None:
    """0.15 and 1.1 merge late records and deletes differently, and nothing says whose compaction it was."""
    name = f"compacted-6-as-1.1-{payload[:5].lower()}-by-{compacts}"
    options = {
        "hoodie.write.table.version": "6",
        "hoodie.write.auto.upgrade": "false",
        "hoodie.metadata.enable": "false",
        "hoodie.datasource.write.payload.class": f"org.apache.hudi.common.model.{payload}",
    }
    path = stock_1_1.new(name=name, kind="MOR", options=options)

    def write(what: str, ts: int, ids: str) -> None:
        row = f"concat('k', id) id, id n, 'sf' city, {ts} ts, {what == 'delete'} _hoodie_is_deleted"
        sql = f"select {row} from range(0, 60) where {ids}"
        stock_1_1.write_sql(name=name, sql=sql, operation="insert" if what == "insert" else "upsert")

    def assert_right(index: HudiIndex) -> None:
        live = {r.id for r in spark.read.format("hudiidx").load(path).select("id").collect()}
        asked = [f"k{i}" for i in range(60)]
        assert {f.key for f in index.lookup(asked)} == live
        rows = spark.read.format("hudiidx").load(path)
        assert all((rows.where(f"id = '{key}'").count() == 1) == (key in live) for key in asked[:60:7])

    write("insert", 10, "true")
    index = HudiIndex(spark, path, strict=True)
    index.create(record="global")
    write("delete", 5, "id < 20")
    write("upsert", 20, "id >= 20 and id < 40")
    write("delete", 15, "id >= 30 and id < 50")
    write("upsert", 12, "id >= 45 and id < 55 or id < 5")
    assert_right(index)
    index.update()
    assert_right(index)
    before = stock_1_1.texts(name=name)
    if compacts == "stock":
        stock_1_1.compact(name=name)
    else:
        assert index.compact_table(options={"hudiidx.read.merge.release": "1.1"})["compactions"]
    assert stock_1_1.texts(name=name) == before
    assert_right(index)
    index.update()
    assert_right(index)
    assert index.verify(record=True).ok
