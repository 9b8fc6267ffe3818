"""Indexes on columns as a user makes and drops them."""

import json
import time
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from test_cli import answer, run

from hudiidx import ColumnIndexInfo, HudiIndex, IndexNotFound, InvalidOption
from hudiidx._columns import indexes, names, part, specs


def made(index: HudiIndex) -> set[str]:
    return {f"{c.kind}({','.join(c.columns)})" for c in index.info().columns}


def test_names_and_indexes_become_texts() -> None:
    assert names(["a", "b.c", "x,y"]) == "a,b.c,`x,y`"
    assert names("*") == "*"
    assert names([]) == ""
    assert names(None) is None
    assert specs(["quadkey(lon,lat)", "bloom(a)"]) == "quadkey(lon,lat);bloom(a)"
    assert indexes(["a", "b"], "bloom", {"fpp": 0.1}) == "bloom(a,fpp=0.1);bloom(b,fpp=0.1)"
    assert indexes(["lon", "lat"], "quadkey", {}) == "quadkey(lon,lat)"
    assert indexes("bloom(a,fpp=0.1)", None, {}) == "bloom(a,fpp=0.1)"
    assert indexes(["bloom(a)", "b", "year(ts)"], None, {}) == "bloom(a);range(b);year(ts)"
    assert indexes("a + b", None, {}, "any") == "any(`=a + b`)"
    assert indexes("lower(`odd name`)", "bloom", {}) == "bloom(`=lower(``odd name``)`)"
    assert names(["ts", "date_format(ts, 'yyyy-MM')"]) == "ts,`=date_format(ts, 'yyyy-MM')`"
    assert part("record", None) == "record" and part("logs", None) == part("x", "logs") == "logs"
    assert part("record", "range") is part("logs", "bloom") is part("fare", None) is None
    for bad in (7, {"a": 1}, [1]):
        with pytest.raises(InvalidOption):
            names(bad)  # type: ignore[arg-type]
    with pytest.raises(InvalidOption, match="no column"):
        indexes([], "range", {})


def test_columns_live_and_die_one_by_one(spark: SparkSession, cow: Path) -> None:
    index = HudiIndex(spark, cow, strict=True)
    with pytest.raises(IndexNotFound):
        index.add_index("fare")
    done = index.create(columns=["ts", "fare"], bloom=["rider"], bloom_fpp=0.001)
    assert done["bytes_by_kind"]["column_stats"] > 0
    assert done["bytes_by_kind"]["column_records"] > 0
    assert index.info().columns == (
        ColumnIndexInfo("range", ("ts", "fare")),
        ColumnIndexInfo("bloom", ("rider",), {"fpp": "0.001"}),
    )
    index.add_index("city")
    index.add_index("city", kind="values", most=10)
    assert made(index) == {"range(ts,fare,city)", "bloom(rider)", "values(city)"}
    index.drop_index("city")
    assert made(index) == {"range(ts,fare)", "bloom(rider)"}
    index.drop_index("rider", kind="range")
    assert made(index) == {"range(ts,fare)", "bloom(rider)"}
    index.create(columns=[], bloom=[])
    assert index.info().columns == ()
    assert "column_stats" not in index.info().bytes_by_kind


def test_all_columns_and_the_record_index_side_by_side(spark: SparkSession, cow: Path) -> None:
    index = HudiIndex(spark, cow, strict=True)
    index.create(columns="*", record="global")
    assert made(index) == {"range(*)"}
    index.drop_index("record")
    index.drop_index("fare")
    assert "range(*)" not in made(index)
    assert index.info().record is None
    assert "ts" in index.info().columns[0].columns


def test_what_is_not_waited_for_is_made_in_the_background_or_by_the_next_update(
    spark: SparkSession, cow: Path
) -> None:
    index = HudiIndex(spark, cow)
    index.create(columns="fare")
    before = index.info().index_version or 0
    index.add_index("city", wait=False)
    assert made(index) == {"range(fare,city)"}
    until = time.monotonic() + 60
    while (index.info().index_version or 0) < before + 2 and time.monotonic() < until:
        time.sleep(0.1)
    assert not any(c.pending for c in index.info().columns)
    # A process that ended meanwhile leaves this; it has no thread of its own here.
    index._api.noteColumns("range(ts)")
    assert any(c.pending for c in index.info().columns)
    index.update()
    assert not any(c.pending for c in index.info().columns)
    assert made(index) == {"range(fare,city,ts)"}


def test_views_show_what_is_indexed(spark: SparkSession, cow: Path) -> None:
    HudiIndex(spark, cow).create(columns="*", bloom="rider")

    def view(name: str) -> DataFrame:
        return spark.read.format("hudiidx").option("view", name).load(str(cow))

    stats = view("column_stats")
    assert stats.columns[:5] == ["partition_path", "file_name", "column", "type", "rows"]
    assert stats.columns[5:] == ["nulls", "min", "max", "exact"]
    latest = [f.file_name for f in HudiIndex(spark, cow).latest_base_files("sf")]
    found = stats.where(stats.file_name.isin(latest) & (stats.column == "fare")).collect()
    table = spark.read.format("hudiidx").load(str(cow)).where("city = 'sf'")
    rows = table.selectExpr("min(fare)", "max(fare)")
    assert min(float(r.min) for r in found) == rows.first()[0]
    assert max(float(r.max) for r in found) == rows.first()[1]
    days = stats.where("column = 'day'").first()
    assert (days.type, len(days.min)) == ("date", 10)
    blooms = view("bloom_filters").collect()
    assert {b.column for b in blooms} == {"rider"}
    assert len(blooms) == stats.select("file_name").distinct().count()


def test_wrong_columns_kinds_and_options_are_refused(spark: SparkSession, indexed: HudiIndex) -> None:
    for bad in ("nope", "fare.x"):
        with pytest.raises(InvalidOption, match=bad):
            indexed.add_index(bad)
    with pytest.raises(InvalidOption, match="unknown index kind"):
        indexed.add_index("fare", kind="quadtree")
    with pytest.raises(InvalidOption, match="window_days"):
        indexed.add_index("fare", window_days=3)
    with pytest.raises(InvalidOption, match="wait"):
        indexed.add_index("record", wait=False)
    with pytest.raises(InvalidOption, match="share between 0 and 1"):
        indexed.add_index("fare", kind="bloom", fpp=7)
    with pytest.raises(InvalidOption, match="unknown option 'bits' for index kind 'range', which takes none"):
        indexed.add_index("fare", bits=3)
    with pytest.raises(InvalidOption, match="unknown option 'fppp' for index kind 'bloom', which takes fpp"):
        indexed.add_index("bloom(rider,fppp=0.1)")
    assert indexed.info().columns == ()


@pytest.mark.spark
def test_the_command(cow: Path) -> None:
    answer("create", cow, "--columns", "ts,fare", "--bloom", "rider", "--master", "local[2]")
    answer("add-index", cow, "city", "qty", "--kind", "values", "--master", "local[2]")
    found = answer("info", cow)["columns"]
    assert [(c["kind"], c["columns"]) for c in found] == [
        ("range", ["ts", "fare"]),
        ("bloom", ["rider"]),
        ("values", ["city"]),
        ("values", ["qty"]),
    ]
    assert "range(ts, fare); bloom(rider)" in run("info", cow).stdout.replace("\n", " ")
    on_two = ("--master", "local[2]")
    answer("add-index", cow, "qty", "--no-wait", *on_two)
    assert [c["columns"] for c in answer("info", cow)["columns"] if c["pending"]] == [["ts", "fare", "qty"]]
    assert "made at once" in run("add-index", cow, "record", "--no-wait", *on_two, code=2).stderr
    answer("update", cow, *on_two)
    assert not any(c["pending"] for c in answer("info", cow)["columns"])
    answer("drop-index", cow, "ts", "rider", "--master", "local[2]")
    assert json.dumps(answer("info", cow)["columns"]).count("rider") == 0


def test_an_expression_is_indexed_and_known_in_any_spelling(spark: SparkSession, cow: Path) -> None:
    index = HudiIndex(spark, cow, strict=True)
    index.create(columns=["fare", "n * 2 + 1"])
    index.add_index("lpad(cast(n AS string), 9, '0')")
    index.add_index("upper(rider)", kind="bloom", fpp=0.001)
    index.add_index(["values(qty % 5,most=5)", "year(day)"])
    assert {kind.split("(")[0] for kind in made(index)} == {"range", "bloom", "values"}
    (ranges,) = (c.columns for c in index.info().columns if c.kind == "range")
    assert ranges[0] == "fare" and len(ranges) == 4

    table = spark.read.format("hudiidx").load(str(cow))
    top = table.selectExpr("max(n)").first()[0]
    wanted = [r.id for r in table.where(f"n = {top}").collect()]
    for where in (f"1 + 2 * N = {2 * top + 1}", f"LPAD(CAST(n AS STRING),9,'0') >= '{top:09d}'"):
        assert [r.id for r in table.where(where).collect()] == wanted
        kept = index.prune(where).collect()
        assert len(kept) < index.files().count()
        (by,) = {r.decided_by for r in kept}
        assert "range(" in by and "n" in by
        assert "range" in index.explain(table.where(where))
    for spelled in (
        "(n*2)+1",
        "YEAR(day)",
        "ucase(rider)",
        "extract(YEAR FROM day)",
        "lpad(CAST(n AS STRING), 9, '0')",
    ):
        index.drop_index(spelled)
    assert made(index) == {"range(fare)", "values((qty % 5))"}
    for bad, why in (
        ("rand() * n", "rand"),
        ("nope(n)", "nope"),
        ("array(n)", "order"),
        ("n +", "expression"),
    ):
        with pytest.raises(InvalidOption, match=why):
            index.add_index(bad)


@pytest.mark.spark
def test_the_command_makes_and_drops_indexes_on_expressions(indexed: HudiIndex) -> None:
    table = indexed.path
    answer("add-index", table, "n + qty", "upper(rider)", "--master", "local[2]")
    (ranges,) = answer("info", table)["columns"]
    assert [c.replace("CAST(qty AS BIGINT)", "qty") for c in ranges["columns"]] == [
        "(n + qty)",
        "upper(rider)",
    ]
    out = run("verify", table, "--columns", "--master", "local[2]").stdout
    assert "indexes on columns" in out
    answer("drop-index", table, "QTY+n", "UPPER(rider)", "--master", "local[2]")
    assert answer("info", table)["columns"] == []


def test_verify_compares_statistics_filters_and_expressions_with_the_files(
    spark: SparkSession, cow: Path
) -> None:
    index = HudiIndex(spark, cow, strict=True)
    index.create()
    with pytest.raises(IndexNotFound):
        index.verify(columns=True)
    index.create(columns=["*", "n + qty"], bloom=["rider", "_hoodie_record_key"], values="city")
    assert index.verify().columns is None
    report = index.verify(columns=True)
    assert report.ok and report.columns is not None and set(report.columns.counts.values()) == {0}
    assert report.columns.files > 0 and report.columns.equal > report.columns.files * 10
    folder = cow / ".hoodie" / "hudiidx"
    (stats,) = folder.glob("*.column_stats")
    stats.unlink()
    report = index.verify(columns=True)
    assert not report.ok and report.columns is not None and report.columns.counts["INDEX_UNUSABLE"] == 1
    assert stats.name in report.columns.samples[0].detail
