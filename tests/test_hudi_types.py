"""Columns of Hudi 1.2's types beside Avro's: vectors, blobs, variants; and times without a zone."""

import base64
import json
import struct
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import stored
from compare import assert_filters, assert_incremental, assert_listings, assert_rows
from pyspark.sql import SparkSession

from hudiidx import HudiIndex

MakeTable = Callable[[str], Path]
FORMS = {"vf": "<8f", "vd": "<4d", "vi": "<6b"}


OF_TYPES = [n for n in stored.names() if n.startswith(("ty-", "v9-vectors-"))] + stored.more("types")


def assert_queries(spark: SparkSession, table: Path, fixture: stored.Fixture, **options: str) -> None:
    """Rows now and as of every instant, those of ranges, and filters."""
    assert_rows(spark, table, fixture, travels=None, **options)
    assert_incremental(spark, table, fixture, **options)
    assert_filters(spark, table, fixture, **options)


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_TYPES)
def test_rows_and_files_equal_stock_without_an_index_and_with_one(
    spark: SparkSession, make_table: MakeTable, name: str
) -> None:
    fixture, table = stored.load(name), make_table(name)
    assert_listings(HudiIndex(spark, table), fixture)
    assert_queries(spark, table, fixture)
    strict = {"hudiidx.index.strict": "true"}
    index = HudiIndex(spark, table, strict=True)
    behind = fixture.tail() - 1
    assert behind > 0
    with stored.rewound(table, fixture, behind):
        HudiIndex(spark, table, strict=True, source="listing").create(columns="*", record="global")
    info = HudiIndex(spark, table, strict=True).info()
    assert (info.state, info.instants_behind) == ("LAGGING", behind)
    assert_listings(index, fixture)
    assert_queries(spark, table, fixture, **strict)
    for left in reversed(range(behind)):
        with stored.rewound(table, fixture, left):
            HudiIndex(spark, table, strict=True, source="listing").update()
    for _ in ("brought up write by write", "made anew"):
        assert HudiIndex(spark, table, strict=True).info().state == "READY"
        assert_listings(index, fixture)
        assert_queries(spark, table, fixture, **strict)
        report = index.verify(record=True, columns=True)
        assert report.ok, report.differences
        index.create(columns="*", record="global")


def test_a_dataset_has_vectors_as_their_bytes_and_says_so(spark: SparkSession, make_table: MakeTable) -> None:
    index = HudiIndex(spark, make_table("v9-vectors-cow"))
    dataset = index.arrow_dataset()
    found = {row["id"]: row for row in dataset.to_table(columns=["id", *FORMS]).to_pylist()}
    for row in spark.read.format("hudiidx").load(str(index.path)).select("id", *FORMS).collect():
        for column, form in FORMS.items():
            kept = found[row["id"]][column]
            assert row[column] == (None if kept is None else list(struct.unpack(form, kept)))
    types = import_module("pyarrow").types
    marks = {}
    for column in FORMS:
        field = dataset.schema.field(column)
        assert types.is_fixed_size_binary(field.type)
        marks[column] = field.metadata[b"hudi_type"].decode()
    assert marks == {"vf": "VECTOR(8)", "vd": "VECTOR(4, DOUBLE)", "vi": "VECTOR(6, INT8)"}
    assert types.is_struct(dataset.schema.field("content").type)


@pytest.mark.parametrize("name", ["ty-blob-sql-cow", "v9-vectors-cow"])
def test_a_dataset_has_the_blobs_that_stock_has(
    spark: SparkSession, make_table: MakeTable, name: str
) -> None:
    told = [json.loads(row) for row in stored.load(name).answers["snapshot"]["rows"]]
    wanted = {row["_hoodie_record_key"]: row["content"] for row in told}
    kinds = {content and content["type"] for content in wanted.values()}
    assert {"INLINE", "OUT_OF_LINE"} <= kinds and any((c or {}).get("data") for c in wanted.values())
    dataset = HudiIndex(spark, make_table(name)).arrow_dataset()
    rows = dataset.to_table(columns=["_hoodie_record_key", "content"]).to_pylist()
    assert {row["_hoodie_record_key"]: as_stored(row["content"]) for row in rows} == wanted


def as_stored(blob: dict[str, Any] | None) -> dict[str, Any] | None:
    """As a stored row has it: its bytes in base64, a mark for paths into the folder of the table's making."""
    if blob is None:
        return None
    data, reference = blob["data"], blob["reference"]
    if reference is not None and reference["external_path"].startswith("/tmp/v12/"):
        reference = {**reference, "external_path": "<DIR>"}
    text = None if data is None else base64.b64encode(data).decode()
    return {**blob, "data": text, "reference": reference}
