"""The calls of HudiIndex as a user makes them; whether the answers are true is test_fixtures' matter."""

import shutil
from pathlib import Path

import pytest
import stored
from pyspark.sql import DataFrame, SparkSession

from hudiidx import BaseFile, FileGroup, FileSlice, HudiIndex, IndexInfo

CALLS = (*stored.BASE_FILE_CALLS, *stored.SLICE_CALLS, "all_file_groups")
FILES = ["partition_path", "file_id", "file_name", "kind", "instant_time", "size"]
COLUMNS = {
    "latest_base_files": ["partition_path", "file_id", "instant_time", "file_name", "size"],
    "latest_file_slices": ["partition_path", "file_id", "base_instant_time", "base_file", "log_files"],
    "all_file_groups": ["partition_path", "file_id"],
}


def files_below(folder: Path) -> dict[str, int]:
    return {str(f.relative_to(folder)): f.stat().st_size for f in folder.rglob("*") if f.is_file()}


def test_an_index_lives_and_dies_inside_one_folder(spark: SparkSession, cow: Path) -> None:
    before = files_below(cow)
    index = HudiIndex(spark, cow)
    assert index.info().state == "ABSENT"
    index.create()
    made = {f for f in files_below(cow) if f not in before}
    assert made
    assert all(f.startswith(".hoodie/hudiidx/") for f in made)
    assert index.drop()
    assert files_below(cow) == before
    assert index.info().state == "ABSENT"
    assert not index.drop()


def test_create_says_what_it_did(spark: SparkSession, cow: Path) -> None:
    done = HudiIndex(spark, cow).create()
    fixture = stored.load(cow.name)
    assert done["partitions"] == 4
    assert done["files"] == sum(len(fixture.sizes(p)) for p in fixture.partitions)


def test_info_of_a_fresh_index(indexed: HudiIndex) -> None:
    info = indexed.info()
    assert isinstance(info, IndexInfo)
    assert (info.state, info.instants_behind, info.fallbacks) == ("READY", 0, {})
    assert info.partitions == 4
    assert sum(info.bytes_by_kind.values()) > 0
    last = [i for i in stored.load("v9-cow-part").answers["active_timeline"] if i["state"] == "COMPLETED"]
    assert info.last_synced_instant == last[-1]["requested"]


def test_update_with_nothing_to_do_keeps_the_version(indexed: HudiIndex) -> None:
    before = indexed.info().index_version
    indexed.update()
    assert indexed.info().index_version == before


def test_files_is_a_frame_of_six_columns(indexed: HudiIndex) -> None:
    every = indexed.files()
    assert isinstance(every, DataFrame)
    assert every.columns == FILES
    assert dict(every.dtypes)["size"] == "bigint"
    one = indexed.files("sf")
    assert one.schema.simpleString() == every.schema.simpleString()
    assert sorted(one.collect()) == sorted(every.where("partition_path = 'sf'").collect())


@pytest.mark.parametrize(("call", "columns"), COLUMNS.items())
def test_a_view_of_the_whole_table_is_a_frame(indexed: HudiIndex, call: str, columns: list[str]) -> None:
    assert getattr(indexed, call)().columns == columns


@pytest.mark.parametrize("call", CALLS)
def test_the_frame_holds_what_the_partitions_hold(indexed: HudiIndex, call: str) -> None:
    lists = [x for p in indexed.partitions() for x in getattr(indexed, call)(p)]
    rows = getattr(indexed, call)().collect()
    assert sorted((r.partition_path, r.file_id) for r in rows) == sorted(
        (x.partition_path, x.file_id) for x in lists
    )


def test_a_partition_answers_with_frozen_values(indexed: HudiIndex) -> None:
    (base,) = indexed.latest_base_files("sf")
    (group,) = indexed.all_file_groups("sf")
    (found,) = indexed.latest_file_slices("sf")
    assert isinstance(base, BaseFile)
    assert isinstance(found, FileSlice)
    assert group == FileGroup("sf", base.file_id)
    assert found.base_file == base
    assert found.log_files == ()
    assert len({base, found.base_file}) == 1


@pytest.mark.parametrize("letter", ["x", "é", "日"])
def test_large_documents_are_whole(spark: SparkSession, indexed: HudiIndex, cow: Path, letter: str) -> None:
    told = letter * 20_000
    asked = spark.read.format("hudiidx").load(str(cow)).where(f"city = 'sf' and note > '{told}'")
    assert told in indexed.explain(asked)


def test_an_unknown_partition_is_empty(indexed: HudiIndex) -> None:
    for call in CALLS:
        assert getattr(indexed, call)("nowhere") == [], call
    assert indexed.files("nowhere").count() == 0


def test_as_of_is_an_earlier_table(indexed: HudiIndex) -> None:
    instants = sorted({b.instant_time for b in indexed.all_base_files("sf")})
    assert len(instants) > 1
    (then,) = indexed.latest_base_files("sf", as_of=instants[0])
    (now,) = indexed.latest_base_files("sf")
    assert then.instant_time == instants[0]
    assert now.instant_time == instants[-1]
    assert indexed.latest_base_files(as_of=instants[0]).where("partition_path = 'sf'").first().file_name == (
        then.file_name
    )


def test_an_index_can_live_elsewhere(spark: SparkSession, cow: Path, tmp_path: Path) -> None:
    before = files_below(cow)
    index = HudiIndex(spark, cow, index_path=tmp_path / "elsewhere", strict=True)
    index.create()
    assert files_below(cow) == before
    assert index.info().state == "READY"
    assert index.partitions() == ["lima", "nyc", "oslo", "sf"]
    index.drop()


def test_session_conf_sets_options(spark: SparkSession, cow: Path, tmp_path: Path) -> None:
    spark.conf.set("hudiidx.index.path", str(tmp_path / "conf"))
    try:
        HudiIndex(spark, cow).create()
    finally:
        spark.conf.unset("hudiidx.index.path")
    assert HudiIndex(spark, cow).info().state == "ABSENT"
    assert any((tmp_path / "conf").rglob("*"))


def test_reading_skips_the_files_of_other_partitions(spark: SparkSession, indexed: HudiIndex) -> None:
    """The files that must not be read are gone; the rows come all the same."""
    reader = spark.read.format("hudiidx").option("hudiidx.index.strict", "true")
    expected = reader.load(indexed.path).where("city = 'sf'").count()
    for f in Path(indexed.path).glob("*/*.parquet"):
        if f.parent.name != "sf":
            f.unlink()
    frame = reader.load(indexed.path).where("city = 'sf'")
    assert frame.count() == expected > 0
    plan = frame._jdf.queryExecution().toString()
    assert "partitions 1 of 4" in plan


def test_spaces_and_umlauts_in_the_table_path(spark: SparkSession, cow: Path) -> None:
    odd = cow.with_name("a b ü #1")
    cow.rename(odd)
    index = HudiIndex(spark, odd, strict=True)
    index.create()
    assert index.partitions() == ["lima", "nyc", "oslo", "sf"]
    assert spark.read.format("hudiidx").load(str(odd)).count() == 520


def test_a_moved_table_keeps_its_index(spark: SparkSession, indexed: HudiIndex) -> None:
    moved = Path(indexed.path).with_name("moved")
    shutil.move(indexed.path, moved)
    again = HudiIndex(spark, moved, strict=True)
    assert again.info().state == "READY"
    assert again.partitions() == ["lima", "nyc", "oslo", "sf"]


def test_a_uri_names_the_same_table(spark: SparkSession, indexed: HudiIndex) -> None:
    assert HudiIndex(spark, Path(indexed.path).as_uri(), strict=True).info().state == "READY"
