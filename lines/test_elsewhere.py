"""Rows and links that would lead a writer out of its table, on the Spark that is installed."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
import stored
from pyspark.sql import SparkSession

from hudiidx import HudiIdxException, HudiIndex, IndexNotWritable, InvalidOption, UnsupportedTable

OUTSIDE = ("../other/evil", "a//b", "a/", "x/./y", ".", "/abs", "s3a://b/x", ".hoodie/timeline", "a\nb", "..")


@pytest.mark.parametrize("value", OUTSIDE)
def test_rows_whose_partition_would_be_elsewhere_are_refused(
    spark: SparkSession, tmp_path: Path, value: str
) -> None:
    options = {
        "hoodie.table.name": "line",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "p",
        "hoodie.datasource.write.precombine.field": "n",
        "hudiidx.write.create": "true",
    }
    lake = tmp_path / "lake"
    (lake / "other").mkdir(parents=True)

    def save(partition: str) -> None:
        rows = spark.createDataFrame([(1, partition, 2)], "id long, p string, n long")
        rows.write.format("hudiidx").options(**options).mode("append").save(str(lake / "t"))

    save("good")
    before = tree(lake)
    with pytest.raises(InvalidOption) as refused:
        save(value)
    assert value.replace("\n", "\\n") in str(refused.value)
    assert tree(lake) == before


def tree(folder: Path) -> list[str]:
    """All below it; heartbeats and locks of writers come and go."""
    found = (str(f.relative_to(folder)) for f in folder.rglob("*"))
    return sorted(f for f in found if "heartbeat" not in f and ".temp" not in f and "lock" not in f)


def test_nothing_is_written_or_removed_through_a_link(spark: SparkSession, tmp_path: Path) -> None:
    table = stored.load("v9-cow-part").unpack(tmp_path)
    elsewhere = tmp_path / "documents"
    (elsewhere / "versions").mkdir(parents=True)
    for name in ("id_rsa", "manifest", "versions/000000000000001.json", "x.master_manifest"):
        (elsewhere / name).write_text(name)
        os.utime(elsewhere / name, (0, 0))
    before = {f: f.read_text() for f in elsewhere.rglob("*") if f.is_file()}
    link = table / ".hoodie" / "hudiidx"
    link.symlink_to(elsewhere)
    index = HudiIndex(spark, table)
    for work in (index.create, index.update, index.drop, lambda: index.expire_index_versions(retain_last=1)):
        with pytest.raises(IndexNotWritable):
            work()
    link.unlink()
    index.create()
    (table / ".hoodie" / "hudiidx" / "versions" / "000000000000009.json").symlink_to(elsewhere / "id_rsa")
    (table / ".hoodie" / "hudiidx" / "record-build").symlink_to(elsewhere)
    with suppress(HudiIdxException):
        index.add_index("record")
    index.drop()
    assert {f: f.read_text() for f in elsewhere.rglob("*") if f.is_file()} == before


def test_nothing_of_a_table_is_written_or_removed_through_a_link(spark: SparkSession, tmp_path: Path) -> None:
    table = tmp_path / "t"
    options = {
        "hoodie.table.name": "t",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "p",
    }

    def save() -> None:
        rows = spark.createDataFrame([(1, "oslo", 2)], "id long, p string, n long")
        rows.write.format("hudiidx").options(**options).mode("append").save(str(table))

    save()
    elsewhere = tmp_path / "documents"
    (elsewhere / "old").mkdir(parents=True)
    (elsewhere / "old" / "a.txt").write_text("a")
    # A write that is dead, whose folder of markers would go with it.
    beat = table / ".hoodie" / ".heartbeat" / "old.1"
    beat.write_text("")
    os.utime(beat, (0, 0))
    for place, folder in ((".hoodie/.temp", elsewhere), ("oslo", elsewhere / "oslo")):
        link = table / place
        if link.exists():
            shutil.move(link, elsewhere / link.name)
        before = {f for f in elsewhere.rglob("*") if f.is_file()}
        link.symlink_to(folder)
        with pytest.raises(UnsupportedTable, match=f"{place}: a link"):
            save()
        assert {f for f in elsewhere.rglob("*") if f.is_file()} == before
        link.unlink()
