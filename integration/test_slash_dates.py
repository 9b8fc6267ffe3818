"""Tables of stock Hudi 1.2.0 whose folders of dates are 2026/01/05: rows, filters and files are as written.

Of a column of the type date stock Hudi reads no row there: its reader takes the path for a text.
"""

from pathlib import Path
from typing import Any

import hudifix
import pytest
import test_partition_values
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import expr
from test_partition_values import rows_of
from test_streams import BEGIN, CHANGES, Stream

from hudiidx import HudiIndex

DATES = ("'2026-01-05'", "'2026-01-06'", "'2025-12-31'", "'2026-01-07'")
SLASH = "hoodie.datasource.write.slash.separated.date.partitioning"
# `make test` has one of the four.
TABLES = [
    pytest.param(of, kind, marks=() if (of, kind) == ("string", "mor") else pytest.mark.slow)
    for of in ("string", "date")
    for kind in ("mor", "cow")
]
FILTERS = [
    "d = '2026-01-05'",
    "d in ('2026-01-06', '2025-12-31')",
    "d > '2026-01-05'",
    "d != '2026-01-05'",
    "d = '2026/01/05'",
    "d is null",
    "n > 100 and d < '2026-01-06'",
]


def rows(first: int, end: int, seed: int, of: str) -> str:
    return rows_of(DATES, of, "d", first, end, seed)


def texts(frame: DataFrame) -> list[str]:
    return test_partition_values.texts(frame, "d")


@pytest.mark.parametrize(("of", "kind"), TABLES)
def test_dates_with_slashes_in_their_folders_are_stocks(
    spark: SparkSession, stock_1_2: Any, of: str, kind: str
) -> None:
    name = f"slash-{of}-{kind}"
    columns = f"id string, n long, ts long, d {of}"
    properties = {"type": kind, "primaryKey": "id", "preCombineField": "ts", SLASH: "true"}
    path = stock_1_2.create_table(name=name, columns=columns, partition="d", properties=properties)
    written: dict[str, Any] = {}

    def expect(frame: DataFrame) -> None:
        written.update({r.id: r for r in frame.select("id", "n", "d").collect()})

    stock_1_2.statement(name=name, sql=f"insert into @T {rows(0, 40, 1, of)}")
    expect(spark.sql(rows(0, 40, 1, of)))

    def read(**options: str) -> DataFrame:
        return spark.read.format("hudiidx").options(**options).load(path)

    def check() -> None:
        assert texts(read()) == sorted(str(tuple(row)) for row in written.values())
        if of == "string":
            assert texts(read()) == stock_1_2.values(name=name, column="d")
        kept = read().cache()
        for where in FILTERS:
            assert texts(read().where(where)) == texts(kept.where(where)), where
        assert {r.d for r in kept.select("d").collect()} == {
            r.d for r in read().select("d").distinct().collect()
        }
        kept.unpersist()

    partitions = {"2026/01/05", "2026/01/06", "2025/12/31", "2026/01/07"}
    check()
    handle = HudiIndex(spark, path)
    handle.create(record="global", columns="*")
    check()
    assert set(handle.partitions()) == partitions
    named = {r.partition_path for r in handle.prune("d = '2026-01-05'").select("partition_path").collect()}
    assert named == {"2026/01/05"}
    stock_1_2.statement(
        name=name,
        sql=f"merge into @T t using ({rows(20, 60, 2, of)}) s on t.id = s.id "
        "when matched then update set * when not matched then insert *",
    )
    expect(spark.sql(rows(20, 60, 2, of)))
    check()
    handle.update()
    check()
    if kind == "mor":
        ours = spark.sql(rows(50, 70, 3, of))
        ours.write.format("hudiidx").mode("append").save(path)
        expect(ours)
        check()
        assert set(HudiIndex(spark, path).partitions()) == partitions
        overwritten = spark.sql(rows(0, 8, 4, of)).where("d = '2026-01-05'")
        for row in [r for r in written.values() if str(r.d) == "2026-01-05"]:
            del written[row.id]
        expect(overwritten)
        overwritten.write.format("hudiidx").option("partitionOverwriteMode", "dynamic").mode(
            "overwrite"
        ).save(path)
        check()
        stock_1_2.statement(name=name, sql=f"insert into @T {rows(70, 80, 5, of)}")
        expect(spark.sql(rows(70, 80, 5, of)))
        check()
    if of == "string":
        # Stock Hudi takes dates with slashes from other writers too: the value is the folder's.
        stock_1_2.statement(name=name, sql="insert into @T select 'slashed', 1L, 9L, '2026/01/05'")
        expect(spark.sql("select 'slashed' id, 1L n, '2026-01-05' d"))
        check()


COLUMNS = ["_hoodie_commit_time", "_hoodie_record_key", "_hoodie_partition_path", "n", "d"]
AGGREGATES = ["count(*)", "min(d)", "max(d)", "count(d)", "min(n)", "max(n)", "count(distinct d)"]
GROUPS = ["count(*)", "min(n)", "max(n)", "max(ts)"]


@pytest.mark.parametrize("kind", [pytest.param("cow", marks=pytest.mark.slow), "mor"])
def test_queries_of_time_changes_and_aggregates_are_stocks_in_folders_with_slashes(
    spark: SparkSession, stock_1_2: Any, kind: str, tmp_path: Path
) -> None:
    name = f"slash-queries-{kind}"
    properties = {
        "type": kind,
        "primaryKey": "id",
        "preCombineField": "ts",
        SLASH: "true",
        "hoodie.table.cdc.enabled": "true",
    }
    columns = "id string, n long, ts long, d string"
    path = stock_1_2.create_table(name=name, columns=columns, partition="d", properties=properties)
    stream = Stream(spark, Path(path), tmp_path / "rows", COLUMNS)
    merge = "when matched then update set * when not matched then insert *"
    statements = [
        f"insert into @T {rows(0, 40, 1, 'string')}",
        f"merge into @T t using ({rows(20, 60, 2, 'string')}) s on t.id = s.id {merge}",
        "delete from @T where id in ('k000003', 'k000021')",
    ]
    for number, sql in enumerate(statements):
        stock_1_2.statement(name=name, sql=sql)
        theirs = stock_1_2.stream(name=name, columns=COLUMNS)
        assert stream.next() == theirs, sql
        if number == 1:
            HudiIndex(spark, path).create(record="global", columns="*")

    def read(**options: str) -> DataFrame:
        return spark.read.format("hudiidx").options(**options).load(path)

    def check(**settings: str) -> None:
        for travel in stock_1_2.travel(name=name):
            found = hudifix.answer(read(**{"as.of.instant": travel.pop("as_of")}, **settings))[1]
            assert found == travel
        for change in stock_1_2.changes(name=name):
            asked = {"hoodie.datasource.query.type": "incremental", BEGIN: change.pop("begin")}
            assert hudifix.answer(read(**asked, **settings))[1] == change
        theirs = stock_1_2.change_data(name=name, options={BEGIN: "000"})["rows"]
        ours = [list(r) for r in read(**CHANGES, **{BEGIN: "000"}, **settings).collect()]
        assert sorted(map(str, ours)) == sorted(map(str, theirs))
        kept = read(**settings).cache()
        assert read(**settings).selectExpr(*AGGREGATES).collect() == kept.selectExpr(*AGGREGATES).collect()
        assert [str(r[0]) for r in read(**settings).selectExpr("max(d)").collect()] == ["2026-01-07"]
        by_date = [
            f.groupBy("d").agg(*map(expr, GROUPS)).orderBy("d").collect() for f in (read(**settings), kept)
        ]
        assert by_date[0] == by_date[1]
        kept.unpersist()

    check()
    check(**{"hudiidx.index.enabled": "false"})
    HudiIndex(spark, path).update()
    check(**{"hudiidx.index.strict": "true"})
    done = HudiIndex(spark, path).export_symlink_manifest(read_optimized=kind == "mor", keep=True)
    folder = Path(done["path"].removeprefix("file:"))
    manifests = {p.parent.relative_to(folder): p.read_text().split() for p in folder.rglob("manifest")}
    assert {str(p) for p in manifests} == {"2026/01/05", "2026/01/06", "2025/12/31", "2026/01/07"}
    named = [line for lines in manifests.values() for line in lines]
    files = [f"{r.partition_path}/{r.file_name}" for r in read(view="latest_base_files").collect()]
    assert sorted(line.split(f"/{Path(path).name}/")[1] for line in named) == sorted(files)
