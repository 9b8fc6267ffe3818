"""Overwrites by hudiidx and by stock Hudi, by turns: each goes on with what the other left."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from stock_hudi import RELEASES, each
from test_metadata_table import FILES, INDEX, Listed
from written import IN_SHORT, OLD_IN_SHORT, VERSIONS, Written, assert_same_history, leave_traces

from hudiidx import DamagedTable, HudiIndex, UnsupportedTable

OF_VERSION_9 = each(of=[name for name, release in RELEASES.items() if release.table_version == 9])


@pytest.mark.slow
@pytest.mark.parametrize("version", IN_SHORT)
def test_stock_and_we_overwrite_by_turns(
    spark: SparkSession, request: pytest.FixtureRequest, version: str
) -> None:
    stock = request.getfixturevalue(version)
    table = Listed(spark, stock, version, "overwritten")
    table.stock_writes(0, 60, 1)
    table.upsert(table.make(30, 90, 2, 2))
    table.overwrite(table.make(80, 120, 3, 3))
    table.assert_rows()
    table.assert_listed()
    report = HudiIndex(spark, table.path, strict=True).verify()
    assert report.ok, report.differences

    # Both write on, and stock overwrites in its turn.
    table.stock_writes(100, 140, 4)
    table.upsert(table.make(110, 150, 5, 5))
    table.assert_rows()
    stock.write(name=table.name, first=0, end=50, seed=6, operation="insert_overwrite_table")
    table.expect_only(table.make(0, 50, 6, 6))
    table.assert_rows()
    table.upsert(table.make(40, 60, 7, 7))
    table.overwrite(table.make(10, 20, 8, 8).where("city = 'oslo'"), partitionOverwriteMode="dynamic")
    stock.write(name=table.name, first=20, end=40, seed=9, operation="insert_overwrite", only="city = 'lima'")
    table.expect_only(table.make(20, 40, 9, 9).where("city = 'lima'"), {"lima"})
    table.assert_rows()
    table.assert_listed()
    assert_same_history(table)

    # A compaction that was planned before an overwrite runs behind it, and a clean removes what was replaced.
    table.upsert(table.make(30, 50, 10, 10))
    stock.schedule_compaction(name=table.name)
    table.overwrite(table.make(0, 30, 11, 11))
    stock.compact(name=table.name)
    table.assert_rows()
    table.upsert(table.make(20, 40, 12, 12))
    stock.compact(name=table.name)
    files = {f.name for f in table.path.glob("*/*.parquet")}
    stock.clean_up(name=table.name, commits=1)
    assert files - {f.name for f in table.path.glob("*/*.parquet")}
    table.assert_rows()
    table.assert_listed()
    report = HudiIndex(spark, table.path, strict=True).verify()
    assert report.ok, report.differences

    # And none at all.
    spark.conf.set("spark.sql.catalog.hudiidx", "hudiidx.spark.HudiIdxCatalog")
    spark.sql(f"TRUNCATE TABLE hudiidx.`{table.path}`")
    table.expect_only(table.make(0, 0, 0, 0))
    table.assert_right()
    table.assert_listed()
    table.stock_writes(0, 5, 13)
    table.assert_rows()


@pytest.mark.slow
@pytest.mark.parametrize("version", OLD_IN_SHORT)
def test_stock_rolls_an_overwrite_back_that_ended_half_way(
    spark: SparkSession, request: pytest.FixtureRequest, version: str, tmp_path: Path
) -> None:
    stock = request.getfixturevalue(version)
    table = Written(spark, stock, VERSIONS[version], tmp_path / f"half-{version[-2:]}")
    table.upsert(table.make(0, 40, 1, 1))
    table.adopt()
    before = table.state()
    table.overwrite(table.make(20, 60, 2, 2))
    table.assert_right()
    hoodie = table.path / ".hoodie"
    timeline = hoodie / "timeline" if (hoodie / "timeline").exists() else hoodie
    done = max(timeline.glob("2*.replacecommit"), key=lambda f: f.name)
    instant = done.name.split(".")[0].split("_")[0]
    done.unlink()
    written = list(table.path.glob(f"*/*_{instant}.parquet"))
    assert written
    leave_traces(hoodie, instant, written, "CREATE")
    table.restore(before)
    table.assert_right()
    stock.write(name=table.name, first=30, end=50, seed=3)
    table.expect(table.make(30, 50, 3, 3))
    assert not list(table.path.glob(f"*/*_{instant}.parquet"))
    assert not list(timeline.glob(f"{instant}*.replacecommit*"))
    table.assert_right()
    table.overwrite(table.make(0, 5, 4, 4))
    table.assert_right()


@pytest.mark.slow
@pytest.mark.parametrize("version", IN_SHORT)
def test_stock_takes_an_overwrite_back_under_an_index(
    spark: SparkSession, request: pytest.FixtureRequest, version: str, tmp_path: Path
) -> None:
    """What it replaced is there again, in the index too."""
    stock = request.getfixturevalue(version)
    table = Written(spark, stock, VERSIONS[version], tmp_path / f"taken-back-{version[-2:]}")
    table.upsert(table.make(0, 60, 1, 1))
    table.adopt()
    table.upsert(table.make(30, 90, 2, 2))
    HudiIndex(spark, table.path).create(record="global")
    before = table.state()
    dynamic = {"partitionOverwriteMode": "dynamic"}
    for overwrites in (
        lambda: table.overwrite(table.make(80, 120, 3, 3).where("city in ('oslo', 'lima')"), **dynamic),
        lambda: table.overwrite(table.make(200, 240, 4, 4)),
        lambda: spark.sql(f"TRUNCATE TABLE hudiidx.`{table.path}`"),
    ):
        spark.conf.set("spark.sql.catalog.hudiidx", "hudiidx.spark.HudiIdxCatalog")
        overwrites()
        stock.roll_back(name=table.name)
        table.restore(before)
        table.assert_right()
        assert [table.ours().where(f"id = 'k0000{n}'").count() for n in (11, 42, 89, 95)] == [1, 1, 1, 0]
        HudiIndex(spark, table.path).update()
        report = HudiIndex(spark, table.path, strict=True).verify()
        assert report.ok, report.differences
    table.upsert(table.make(20, 100, 5, 5))
    table.assert_right()
    report = HudiIndex(spark, table.path, strict=True).verify()
    assert report.ok, report.differences


@pytest.mark.parametrize("release", OF_VERSION_9)
def test_stock_goes_on_with_a_table_that_was_made_anew(
    spark: SparkSession, request: pytest.FixtureRequest, release: str
) -> None:
    """Its timeline has another folder, and the files of the table that was are there until a clean."""
    stock = request.getfixturevalue(release)
    table = Listed(spark, stock, release, "remade")
    table.stock_writes(0, 60, 1)
    table.upsert(table.make(30, 90, 2, 2))
    styled = {"hoodie.datasource.write.hive_style_partitioning": "true"}
    table.overwrite(table.make(80, 120, 3, 3), **styled, **{"hudiidx.write.remake": "true"})
    table.name = "remade-anew"
    stock.adopt(name=table.name, path=str(table.path), kind="MOR", options={**FILES, **INDEX, **styled})
    table.assert_right()
    assert all(r.p.startswith("city=") for r in table.ours().selectExpr("_hoodie_partition_path p").collect())
    table.stock_writes(100, 140, 4)
    table.assert_rows()
    table.assert_listed()
    table.upsert(table.make(110, 150, 5, 5))
    table.assert_rows()
    table.assert_listed()
    assert_same_history(table)
    stock.compact(name=table.name)
    table.upsert(table.make(0, 5, 6, 6))
    stock.clean_up(name=table.name, commits=1)
    table.assert_rows()
    report = HudiIndex(spark, table.path, strict=True).verify()
    assert report.ok, report.differences


@pytest.mark.slow
@pytest.mark.parametrize("release", OF_VERSION_9)
def test_stock_rolls_the_making_anew_back(
    spark: SparkSession, request: pytest.FixtureRequest, release: str, tmp_path: Path
) -> None:
    """Until then files from before would count again with the next commit."""
    stock = request.getfixturevalue(release)
    table = Written(spark, stock, 9, tmp_path / f"undone-{release[-2:]}")
    table.upsert(table.make(0, 60, 1, 1))
    styled = {"hoodie.datasource.write.hive_style_partitioning": "true"}
    remake = {**styled, "hudiidx.write.remake": "true"}
    table.overwrite(table.make(80, 120, 2, 2), **remake)
    table.adopt(**styled)
    stock.roll_back(name=table.name, even_only=True)
    table.options |= styled
    with pytest.raises(DamagedTable, match="was rolled back"):
        table.ours()
    with pytest.raises(UnsupportedTable, match=r"was rolled back.*remake=true"):
        table.save(table.make(0, 5, 3, 3))
    with pytest.raises(UnsupportedTable, match=r"was rolled back.*remake=true"):
        table.overwrite(table.make(0, 5, 3, 3))
    table.overwrite(table.make(40, 90, 4, 4), **remake)
    table.assert_right()
    table.upsert(table.make(85, 100, 5, 5))
    table.assert_right()


@pytest.mark.slow
@pytest.mark.parametrize("release", OF_VERSION_9)
def test_stock_downgrades_a_table_that_was_made_anew(
    spark: SparkSession, request: pytest.FixtureRequest, release: str, tmp_path: Path
) -> None:
    """Version 6 has one place for instants; an upgrade from it then names the folder of the table before."""
    stock = request.getfixturevalue(release)
    table = Written(spark, stock, 9, tmp_path / f"downgraded-{release[-2:]}")
    table.upsert(table.make(0, 60, 1, 1))
    key = {"hoodie.datasource.write.recordkey.field": "id,city"}
    table.overwrite(table.make(100, 120, 2, 2), **key, **{"hudiidx.write.remake": "true"})
    table.options |= key | {"hoodie.write.table.version": "6"}
    table.name += "-anew"
    table.adopt(**key)
    stock.migrate(name=table.name, version="SIX")
    table.assert_right()
    table.upsert(table.make(110, 130, 3, 3))
    table.assert_right()

    stock.migrate(name=table.name, version="NINE")
    table.options["hoodie.write.table.version"] = "9"
    properties = table.path / ".hoodie" / "hoodie.properties"
    text = properties.read_text()
    own = next(f.name for f in properties.parent.glob("timeline_*"))
    assert "hoodie.timeline.path=timeline\n" in text
    for use in (lambda: table.ours().count(), lambda: table.save(table.make(0, 1, 4, 4))):
        with pytest.raises(DamagedTable, match=f"Set hoodie.timeline.path={own}"):
            use()
    properties.write_text(text.replace("hoodie.timeline.path=timeline\n", f"hoodie.timeline.path={own}\n"))
    (properties.parent / ".hoodie.properties.crc").unlink(missing_ok=True)
    table.assert_right()
    table.upsert(table.make(120, 140, 5, 5))
    table.assert_right()
