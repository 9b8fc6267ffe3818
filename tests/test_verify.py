"""`verify(record=True)`: the record index against the keys in the table's files."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import stored
from pyspark.sql import SparkSession

from hudiidx import HudiIndex, IndexNotFound, IndexNotWritable

MakeTable = Callable[[str], Path]


@pytest.fixture
def recorded(spark: SparkSession, cow: Path) -> HudiIndex:
    """A table with a record index, and with Hudi's own."""
    index = HudiIndex(spark, cow, strict=True)
    index.create(record="global")
    return index


def test_nothing_is_found_on_a_table_in_order(recorded: HudiIndex, tmp_path: Path) -> None:
    before = sorted(Path(recorded.path).rglob("*"))
    report = recorded.verify(record=True, scratch=tmp_path / "scratch")
    assert report.ok and report.record is not None and report.record.ok
    assert set(report.record.counts.values()) == {0}
    assert (report.record.keys, report.record.mappings, report.record.samples) == (520, 520, ())
    assert report.stock_record_index is not None and report.stock_record_index.skipped is None
    assert (report.stock_record_index.equal, report.stock_record_index.samples) == (520, ())
    assert sorted(Path(recorded.path).rglob("*")) == before
    assert recorded.verify().record is None


def test_a_file_with_other_keys_is_found_in_index_and_table(recorded: HudiIndex) -> None:
    table = Path(recorded.path)
    (one,) = recorded.latest_base_files("sf")
    (other,) = recorded.latest_base_files("oslo")
    shutil.copy(table / "oslo" / other.file_name, table / "sf" / one.file_name)
    report = recorded.verify(record=True, samples=3)
    assert report.record is not None and not report.ok and not report.record.ok
    assert report.record.counts["MAPPING_MISSING"] > 3 and report.record.counts["MAPPING_EXTRA"] > 3
    assert {(d.partition, d.file_id) for d in report.record.samples} == {("sf", one.file_id)}
    assert len(report.record.samples) == 6
    missing = next(d for d in report.record.samples if d.kind == "MAPPING_MISSING")
    assert {at.file_id for at in recorded.lookup([missing.key])} == {other.file_id}
    assert "replaced behind the timeline" in missing.cause


def test_a_stale_index_is_compared_in_what_readers_take_from_it(
    spark: SparkSession, make_table: MakeTable
) -> None:
    fixture, table = stored.load("v9-moved-mor"), make_table("v9-moved-mor")
    index = HudiIndex(spark, table)
    with stored.rewound(table, fixture, min(fixture.tail(), 2)):
        HudiIndex(spark, table, source="listing").create(record="global")
    behind = index.verify(record=True)
    assert behind.ok and behind.record is not None and behind.record.overlaid_file_groups > 0
    assert behind.stock_record_index is not None and "update it first" in (
        behind.stock_record_index.skipped or ""
    )
    index.update()
    in_step = index.verify(record=True)
    assert in_step.ok and in_step.record is not None and in_step.record.overlaid_file_groups == 0
    assert in_step.stock_record_index is not None and in_step.stock_record_index.equal == in_step.record.keys


def test_what_is_missing_is_said(spark: SparkSession, indexed: HudiIndex, tmp_path: Path) -> None:
    with pytest.raises(IndexNotFound):
        indexed.verify(record=True)
    indexed.add_index("record")
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(IndexNotWritable, match="scratch="):
        indexed.verify(record=True, scratch=tmp_path / "file")
