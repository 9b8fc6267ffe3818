"""Tables of stock Hudi: its rows, earlier instants, changes and filters, with an index and without."""

from pathlib import Path

import pytest
import stored
from compare import assert_filters, assert_incremental, assert_rows
from pyspark.sql import SparkSession

from hudiidx import HudiIndex

# Both types on each version, logs to merge, types, columns that came later, and times under another label.
SAMPLE = (
    "v6-cow-part",
    "v6-mor-event",
    "v8-mor-part",
    "v9-cow-types",
    "v9-mor-part",
    "v9-mor-evolution",
    "v9-relabelled-cow",
)


@pytest.mark.parametrize("name", SAMPLE)
def test_a_table_of_stock_hudi_has_its_answers(spark: SparkSession, tmp_path: Path, name: str) -> None:
    fixture = stored.load(name)
    table = fixture.unpack(tmp_path)
    assert_rows(spark, table, fixture)
    index = HudiIndex(spark, table, strict=True)
    index.create(record="global", columns="*")
    strict = {"hudiidx.index.strict": "true"}
    assert_rows(spark, table, fixture, **strict)
    assert_incremental(spark, table, fixture)
    assert_filters(spark, table, fixture, **strict)
    told = fixture.key_locations()
    if told:
        found = index.lookup([key for key, _, _ in told[:50]])
        assert {(f.key, f.partition_path, f.file_id) for f in found} >= set(told[:50])
    assert index.verify(record=True, columns=True).ok
