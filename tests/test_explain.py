"""What a query reads, told as text."""

from typing import Any

import pytest
from pyspark.sql import SparkSession

from hudiidx import HudiIndex
from hudiidx._explain import explanation, reasons

SCAN = {
    "path": "/t",
    "reads": "as of 20260101000000000",
    "answered": "rows",
    "file_filters": ["EqualTo(id,7)"],
    "index_version": 3,
    "instants_overlaid": 1,
    "fallback": None,
    "partitions": {"total": 4, "kept": 1, "why_not": None},
    "record_keys": {"keys": 1, "file_groups": 1, "unknown_groups": 2, "why_not": None},
    "columns": {
        "partitions_skipped": 1,
        "files_skipped": 8,
        "parts": [
            {"column": "fare", "kinds": ["range"], "files": 7, "partitions": 1, "why_not": None},
            {
                "column": "",
                "kinds": [],
                "files": 0,
                "partitions": 0,
                "why_not": "length(name) tells no range",
            },
        ],
        "why_not": None,
    },
    "files_left": {"partitions": 12, "record_keys": 11, "bounds": 6, "blooms": 3},
    "files_in_index": 61,
    "files_total": 40,
    "files_kept": 3,
    "bytes_kept": 900,
    "planning_millis": 5,
    "store_calls": 0,
    "store_calls_in_a_row": 0,
    "store_throttled": 0,
    "why_not": [],
}


def test_a_scan_is_a_tree_of_its_stages() -> None:
    assert explanation([SCAN]).splitlines() == [
        "hudiidx /t as of 20260101000000000: rows",
        "+- index: version 3, 1 instants overlaid; 61 files of all instants",
        "+- partitions: 1 of 4; 12 of 40 files left",
        "+- record keys: 1 keys in 1 file groups and 2 that the index has not taken in; 11 files left",
        "+- columns: left out 1 partitions whole, 8 files in all; bounds left 6 files, blooms and values 3",
        "+-   fare: range ruled out 7 files, superseded ones too, and 1 partitions",
        "+-   filter: length(name) tells no range",
        "+- files: 3 of 40, 900 bytes",
        "+- filters for Parquet: EqualTo(id,7)",
        "+- planned in 5 ms",
    ]


def test_calls_of_a_remote_store_are_told() -> None:
    remote = {**SCAN, "store_calls": 7, "store_calls_in_a_row": 3}
    told = "+- planned in 5 ms, by 7 calls of the store, 3 in a row"
    assert explanation([remote]).endswith(told)
    throttled = {**remote, "store_throttled": 2}
    assert explanation([throttled]).endswith(f"{told}, which refused 2 requests since it was asked too much")


def test_what_several_filters_lack_is_told_once() -> None:
    columns: dict[str, Any] = SCAN["columns"]
    twice = {**SCAN, "columns": {**columns, "parts": columns["parts"] * 2}}
    assert explanation([twice]) == explanation([SCAN])


def test_reasons_stand_alone() -> None:
    unhelped = {**SCAN, "why_not": [{"index": "record", "reason": "no filter asks for record keys"}]}
    assert reasons([unhelped, SCAN]).splitlines()[1:4:2] == [
        "+- record: no filter asks for record keys",
        "+- every index helped",
    ]


def test_explain_tells_of_this_tables_scans(spark: SparkSession, indexed: HudiIndex) -> None:
    frame = spark.read.format("hudiidx").load(indexed.path)
    told = indexed.explain(frame.where("city = 'sf'").join(frame.select("id"), "id"))
    assert told.count("+- partitions: ") == 2
    assert "+- partitions: 1 of 4" in told
    assert "+- index: version 1, 0 instants overlaid" in told
    assert "record: no filter asks for record keys" in indexed.why_not(frame)
    assert indexed.explain(spark.range(1)) == ""


def test_scans_whose_rows_spark_has_cached_are_told(spark: SparkSession, indexed: HudiIndex) -> None:
    frame = spark.read.format("hudiidx").load(indexed.path).where("city = 'sf' and n > 5")
    cached = frame.cache()
    try:
        told = indexed.explain(frame.select("id").distinct())
        twice = cached.groupBy("city").count().cache()
        of_twice = indexed.explain(twice)
        advised = indexed.recommend(frame.where("qty > 5"))
    finally:
        spark.catalog.clearCache()
    for text in (told, of_twice):
        assert text.splitlines()[0].endswith(": rows, cached by Spark")
        assert "+- partitions: 1 of 4" in text
    assert [advice.column for advice in advised] == ["n"]
    assert indexed.explain(frame).splitlines()[0].endswith(": rows")


def test_a_frame_of_another_kind_is_refused(indexed: HudiIndex) -> None:
    with pytest.raises(TypeError, match="DataFrame"):
        indexed.explain([1])  # type: ignore[arg-type]
