"""Columns of Hudi 1.2's types beside Avro's: vectors, blobs, variants; and times without a zone."""

import struct
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
import stored
from compare import assert_listings, assert_rows, expect_answer
from pyspark.sql import SparkSession

from hudiidx import HudiIndex

MakeTable = Callable[[str], Path]
FORMS = {"vf": "<8f", "vd": "<4d", "vi": "<6b"}


@pytest.mark.slow
@pytest.mark.parametrize("name", stored.more("types"))
def test_rows_and_files_equal_stock_without_an_index_and_with_one(
    spark: SparkSession, make_table: MakeTable, name: str
) -> None:
    fixture, table = stored.load(name), make_table(name)
    assert_rows(spark, table, fixture)
    index = HudiIndex(spark, table, strict=True)
    index.create(columns="*", record="global")
    assert_listings(index, fixture)
    options = {"hudiidx.index.strict": "true"}
    assert_rows(spark, table, fixture, **options)
    for query in fixture.answers["incremental"]:
        begin = {"hoodie.datasource.read.begin.instanttime": query["begin"]} if query["begin"] else {}
        end = {"hoodie.datasource.read.end.instanttime": query["end"]} if query["end"] else {}
        asked = {**options, "hoodie.datasource.query.type": "incremental", **begin, **end}
        expect_answer(spark.read.format("hudiidx").options(**asked).load(str(table)), query)
    report = index.verify()
    assert report.ok, report.differences


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
