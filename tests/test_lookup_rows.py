"""The rows of record keys are those of stock Hudi, and those of a scan."""

from collections.abc import Callable
from pathlib import Path

import pytest
import stored
from compare import expect_answer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from located import FIXTURES
from pyspark.sql import SparkSession

from hudiidx import HudiIndex, InvalidOption

MakeTable = Callable[[str], Path]
READABLE = [p for p in FIXTURES if not stored.load(str(p.id)).merged_by_hudi]


@pytest.mark.parametrize("name", READABLE)
def test_rows_of_all_keys_are_stocks_while_the_index_lags_and_after_an_update(
    spark: SparkSession, make_table: MakeTable, name: str
) -> None:
    fixture, table = stored.load(name), make_table(name)
    index = HudiIndex(spark, table, strict=True)
    with stored.rewound(table, fixture, min(fixture.tail(), 2)):
        HudiIndex(spark, table, source="listing").create(record="global", file_groups=2)
    keys = sorted({key for key, _, _ in fixture.key_locations()})
    expect_answer(index.lookup([*keys, "no such key", ""], rows=True), fixture.answers["snapshot"])
    index.update()
    expect_answer(index.lookup(keys, rows=True), fixture.answers["snapshot"])


@settings(
    max_examples=20,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(chosen=st.sets(st.integers(0, 10**6), max_size=12), strange=st.lists(st.text(max_size=20), max_size=3))
def test_rows_of_any_keys_are_those_of_a_scan(
    spark: SparkSession, moved: HudiIndex, chosen: set[int], strange: list[str]
) -> None:
    known = sorted({key for key, _, _ in stored.load("v9-moved-mor").key_locations()})
    keys = [*{known[n % len(known)] for n in chosen}, *strange]
    table = spark.read.format("hudiidx").option("hudiidx.read.record.keys", "false").load(str(moved.path))
    expected = table.where(table["_hoodie_record_key"].isin(keys))
    found = moved.lookup(keys, rows=True)
    assert found.schema == table.schema
    assert sorted(found.collect()) == sorted(expected.collect())


def test_rows_come_by_every_form_of_a_key(complex_keys: HudiIndex) -> None:
    key, partition, _ = stored.load("v9-cow-complex").key_locations()[0]
    values = dict(part.split(":", 1) for part in key.split(",", 1))
    (row,) = complex_keys.lookup([tuple(values.values()), values, key], rows=True).collect()
    assert (row["_hoodie_record_key"], row["_hoodie_partition_path"]) == (key, partition)
    assert complex_keys.lookup([key], "nowhere", rows=True).collect() == []
    assert complex_keys.lookup([], rows=True).collect() == []
    with pytest.raises(InvalidOption, match="not an instant"):
        complex_keys.lookup([key], as_of="yesterday", rows=True)
