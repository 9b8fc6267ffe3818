"""Folders that are not of an index, by mistake or by a link: no entry writes there or takes a file away."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from hudiidx import HudiIdxException, HudiIndex, InvalidOption, Watcher

FILES = ("id_rsa", "manifest", "part-0.parquet", "versions/notes.json", "x/y/manifest")
DAYS_3 = 3 * 24 * 3600


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    """A folder with old files."""
    folder = tmp_path / "documents"
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
        os.utime(folder / name, (time.time() - DAYS_3, time.time() - DAYS_3))
    return folder


def held(folder: Path) -> dict[str, str]:
    return {str(f.relative_to(folder)): f.read_text() for f in folder.rglob("*") if f.is_file()}


def by_sql(spark: SparkSession, folder: Path, statement: str) -> None:
    spark.conf.set("hudiidx.index.path", str(folder))
    spark.conf.set("spark.sql.catalog.hudiidx", "hudiidx.spark.HudiIdxCatalog")
    try:
        spark.sql(statement).collect()
    finally:
        spark.conf.unset("hudiidx.index.path")


def by_command(*arguments: object) -> None:
    command = Path(sys.executable).with_name("hudiidx")
    done = subprocess.run([str(command), *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise InvalidOption(done.stderr)


def by_watch(index: HudiIndex) -> None:
    for poll in Watcher(index._spark, [index], create=True).run_once():
        if poll.error:
            raise InvalidOption(str(poll.error))


ENTRIES: dict[str, Callable[[SparkSession, Path, Path], object]] = {
    "create": lambda s, t, f: HudiIndex(s, t, index_path=f).create(record="global"),
    "update": lambda s, t, f: HudiIndex(s, t, index_path=f).update(),
    "add_index": lambda s, t, f: HudiIndex(s, t, index_path=f).add_index("record"),
    "drop_index": lambda s, t, f: HudiIndex(s, t, index_path=f).drop_index("record"),
    "expire": lambda s, t, f: HudiIndex(s, t, index_path=f).expire_index_versions(retain_last=1),
    "drop": lambda s, t, f: HudiIndex(s, t, index_path=f).drop(),
    "watch": lambda s, t, f: by_watch(HudiIndex(s, t, index_path=f)),
    "SQL create": lambda s, t, f: by_sql(s, f, f"CALL hudiidx.system.create_index(table => '{t}')"),
    "SQL drop": lambda s, t, f: by_sql(s, f, f"CALL hudiidx.system.drop_index(table => '{t}')"),
    "command expire": lambda s, t, f: by_command("expire", t, "--index-path", f),
    "command export": lambda s, t, f: by_command("export", "symlink-manifest", t, "-o", f),
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_folder_of_documents_stays_as_it_is(
    spark: SparkSession, cow: Path, documents: Path, entry: str
) -> None:
    before = held(documents)
    with pytest.raises(HudiIdxException, match="documents"):
        ENTRIES[entry](spark, cow, documents)
    assert held(documents) == before


@pytest.mark.parametrize("entry", [e for e in ENTRIES if "export" not in e])
def test_a_link_in_the_place_of_the_index_is_not_followed(
    spark: SparkSession, cow: Path, documents: Path, entry: str
) -> None:
    link = cow / ".hoodie" / "hudiidx"
    link.symlink_to(documents)
    before = held(documents)
    with pytest.raises(HudiIdxException, match="hudiidx: a link"):
        ENTRIES[entry](spark, cow, link)
    assert held(documents) == before and link.is_symlink()


def test_a_write_whose_index_cannot_be_made_is_done_and_leaves_the_folder(
    spark: SparkSession, documents: Path, tmp_path: Path
) -> None:
    before, table = held(documents), str(tmp_path / "written")
    options = {
        "hoodie.table.name": "written",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.precombine.field": "n",
        "hudiidx.write.create": "true",
        "hudiidx.index.path": str(documents),
    }
    rows = spark.range(5).selectExpr("id", "id AS n")
    rows.write.format("hudiidx").options(**options).mode("append").save(table)
    assert spark.read.format("hudiidx").load(table).count() == 5
    assert held(documents) == before


def test_manifests_elsewhere_are_left_by_who_does_not_name_them(
    spark: SparkSession, cow: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "manifests"
    newest = max((cow / ".hoodie" / "timeline").glob("*.commit"))
    hidden = newest.rename(tmp_path / newest.name)
    index = HudiIndex(spark, cow)
    index.create()
    index.export_symlink_manifest(folder, keep=True)
    (folder / "mine").mkdir()
    (folder / "mine" / "manifest").write_text("mine")
    before = held(folder)
    hidden.rename(newest)
    by_watch(index)
    assert held(folder) == before
    with pytest.raises(InvalidOption, match=r"hudiidx\.symlinks\.path"):
        index.export_symlink_manifest()
    spark.conf.set("hudiidx.symlinks.path", f"/elsewhere,{folder}")
    try:
        by_watch(HudiIndex(spark, cow))
    finally:
        spark.conf.unset("hudiidx.symlinks.path")
    after = held(folder)
    assert after != before and after["mine/manifest"] == "mine"


def test_a_drop_leaves_what_is_not_of_the_index(spark: SparkSession, cow: Path) -> None:
    index = HudiIndex(spark, cow)
    index.create(record="global", columns="*")
    folder = cow / ".hoodie" / "hudiidx"
    (folder / "versions" / "mine.json").write_text("mine")
    (folder / "mine").mkdir()
    (folder / "mine" / "f").write_text("mine")
    index.drop()
    assert held(folder) == {"versions/mine.json": "mine", "mine/f": "mine"}
    assert index.info().state == "ABSENT"
