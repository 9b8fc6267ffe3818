"""The index of log blocks as a user makes it and looks into it."""

import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.functions import col
from test_cli import MakeTable, answer, run

from hudiidx import HudiIndex, InvalidOption


def log_files(table: Path) -> list[Path]:
    return sorted(p for p in table.rglob(".*.log.*") if ".hoodie" not in p.parts and p.suffix != ".crc")


@pytest.fixture
def mor(spark: SparkSession, make_table: MakeTable) -> HudiIndex:
    index = HudiIndex(spark, make_table("v9-mor-part"))
    index.create(record="global", logs=True)
    return index


def test_rows_by_key_are_those_of_a_read_of_all_with_the_index_of_logs_and_without(
    spark: SparkSession, mor: HudiIndex
) -> None:
    assert mor.info().bytes_by_kind["log_index"] > 0
    read = spark.read.format("hudiidx")
    everything = read.option("hudiidx.read.record.keys", "false").load(mor.path).collect()
    keys = sorted(r["_hoodie_record_key"] for r in everything)[::7]
    expected = sorted(map(str, (r for r in everything if r["_hoodie_record_key"] in keys)))

    def agrees() -> None:
        found = read.load(mor.path).where(col("_hoodie_record_key").isin(keys)).collect()
        assert sorted(map(str, found)) == expected
        assert sorted(map(str, mor.lookup(keys, rows=True).collect())) == expected

    agrees()
    mor.drop_index("logs")
    assert "log_index" not in mor.info().bytes_by_kind and not mor.info().logs
    agrees()
    mor.add_index("logs")
    assert mor.info().bytes_by_kind["log_index"] > 0 and mor.info().logs
    agrees()
    mor.create()
    assert mor.info().bytes_by_kind["log_index"] > 0  # as the index has it
    with pytest.raises(InvalidOption, match="not for the index of logs"):
        mor.add_index("logs", wait=False)
    with pytest.raises(InvalidOption, match="for the record index"):
        mor.add_index("logs", mode="global")


def test_log_blocks(spark: SparkSession, mor: HudiIndex) -> None:
    blocks = mor.log_blocks()
    found = blocks.collect()
    assert found
    assert {b["indexed"] for b in found if b["kind"] in ("avro_data", "delete")} == {"sidecar"}
    data = [b for b in found if b["kind"] == "avro_data"]
    assert data
    assert all(b["records"] > 0 and b["min_key"] <= b["max_key"] for b in data)
    one = data[0]["partition_path"]
    assert sorted(map(str, mor.log_blocks(one).collect())) == sorted(
        str(b) for b in found if b["partition_path"] == one
    )
    assert mor.log_blocks("nowhere").count() == 0
    by_view = spark.read.format("hudiidx").option("view", "log_blocks").load(mor.path)
    assert by_view.schema == blocks.schema == mor.log_blocks(one).schema
    assert sorted(map(str, by_view.collect())) == sorted(map(str, found))
    mor.drop_index("logs")
    bare = mor.log_blocks().collect()
    assert {b["indexed"] for b in bare} == {"none"}
    counts = {(b["file_name"], b["block"]): b["records"] for b in data}
    assert all(b["records"] == counts[b["file_name"], b["block"]] for b in bare if b["kind"] == "avro_data")


def test_log_show_and_find(mor: HudiIndex) -> None:
    table = Path(mor.path)
    some = next(b for b in mor.log_blocks().collect() if b["kind"] == "avro_data")
    file = table / some["partition_path"] / some["file_name"]
    told = answer("log", "show", file)
    assert told["size"] == file.stat().st_size
    block = told["blocks"][some["block"]]
    assert (block["kind"], block["records"], block["min_key"], block["indexed"]) == (
        "avro_data",
        some["records"],
        some["min_key"],
        "sidecar",
    )
    shown = run("log", "show", file).stdout
    assert "avro_data" in shown and f"keys {some['min_key']} to {some['max_key']}" in shown
    key = some["min_key"]
    indexed = answer("log", "find", file, key)
    assert [h["key"] for h in indexed["hits"]].count(key) == len(indexed["hits"]) > 0
    assert indexed["work"]["whole_blocks"] == 0
    mor.drop_index("logs")
    scanned = answer("log", "find", file, key)
    assert scanned["hits"] == indexed["hits"]
    assert scanned["work"]["whole_blocks"] > 0
    missed = run("log", "find", file, key, "absent", code=1)
    assert "not found: absent" in missed.stdout
    assert "no such log file" in run("log", "show", table / "nothing", code=3).stderr
    base = next(table.rglob("*.parquet"))
    for other in (table, table / ".hoodie" / "hoodie.properties", base):
        for command in (("show", other), ("find", other, "k")):
            told = run("log", *command, code=3).stderr
            assert (
                f"NotAHudiTable: {other}: not a log file" in told and "`hudiidx slices TABLE --json`" in told
            )
    pipe = table / "pipe"
    os.mkfifo(pipe)
    for command in (("show", pipe), ("find", pipe, "k")):
        told = run("log", *command, code=3).stderr
        assert f"NotAHudiTable: {pipe}: cannot be read" in told and "no regular file" in told
    run("log", "find", file, code=2)
    assert "find" in run("log", "--help").stdout
