"""Columns that were renamed, retyped, moved, or dropped and added again: files are read by their ids."""

import ast
from pathlib import Path
from typing import Any

import hudifix
import pytest
from pyspark.sql import DataFrame, SparkSession
from stock_hudi import NEWEST

from hudiidx import HudiIndex

BY_ID = {"hoodie.schema.on.read.enable": "true"}
DROPS = {"hoodie.datasource.write.schema.allow.auto.evolution.column.drop": "true"}
CASES = [
    pytest.param(v, kind, id=f"{v}-{kind}")
    for v in ("fresh_stock_0_15", "stock_1_0", "stock_1_1", "stock_1_2")
    for kind in ("COW", "MOR")
] + [pytest.param(NEWEST, "MOR-parquet", id=f"{NEWEST}-MOR-parquet")]
NESTED = "array(named_struct('{x}', id, 'y', concat('y', id))) as items"
SWAP = ("rename column driver to swapped", "rename column note to driver", "rename column swapped to note")


class Columns:
    """A table whose columns change, with an index of all of them that may be behind."""

    def __init__(self, spark: SparkSession, stock: Any, name: str, kind: str) -> None:
        self.spark, self.stock, self.name = spark, stock, name
        # 0.15.0 does not read structs and lists any more once some column was changed.
        self.structs = stock.release != "0.15.0"
        self.path = Path(
            stock.new(name=name, kind=kind, options={**BY_ID, "hoodie.metadata.enable": "false"})
        )

    def write(self, first: int, end: int, seed: int, info: str, items: str, **more: Any) -> None:
        info = f"named_struct('{info}', id, 'b', concat('b', id)) as info"
        columns = [info, NESTED.format(x=items)] if self.structs else []
        self.stock.write(
            name=self.name, first=first, end=end, seed=seed, columns=columns, **BY_ID, **DROPS, **more
        )

    def alter(self, *changes: str) -> None:
        self.stock.alter(name=self.name, changes=list(changes))

    def read(self, **options: str) -> DataFrame:
        return self.spark.read.format("hudiidx").options(**BY_ID, **options).load(str(self.path))

    def same(self, frame: DataFrame, answer: dict[str, Any], **options: str) -> None:
        texts, got = hudifix.answer(frame)
        if got != {k: answer[k] for k in got}:
            stocks = self.stock.texts(name=self.name, options={**BY_ID, **options})
            ours, theirs = sorted(set(texts) - set(stocks)), sorted(set(stocks) - set(texts))
            pytest.fail(f"{options}: ours {ours[:2]}, stock's {theirs[:2]}")

    def compare(self, *filters: str) -> None:
        """Rows, and rows under filters, with the index and without."""
        stocks = self.stock.rows(name=self.name, options=BY_ID)
        answers = self.stock.filtered(name=self.name, filters=list(filters), options=BY_ID)
        for how in ({"hudiidx.index.strict": "true"}, {"hudiidx.index.enabled": "false"}):
            self.same(self.read(**how), stocks)
            for where, answer in zip(filters, answers, strict=True):
                assert hudifix.answer(self.read(**how).where(where))[1] == answer, (where, how)
                assert self.read(**how).where(where).count() == answer["count"], (where, how)

    def compare_instants(self) -> None:
        for travel in self.stock.travel(name=self.name, options=BY_ID):
            assert "error" not in travel
            as_of = {"as.of.instant": travel["as_of"]}
            self.same(self.read(**as_of), travel, **as_of)
        for change in self.stock.changes(name=self.name, more=BY_ID):
            since = {
                "hoodie.datasource.query.type": "incremental",
                "hoodie.datasource.read.begin.instanttime": change["begin"],
            }
            self.same(self.read(**since), change, **since)


@pytest.mark.slow
@pytest.mark.parametrize(("version", "kind"), CASES)
def test_renamed_columns_are_read_by_their_ids(
    spark: SparkSession, request: pytest.FixtureRequest, version: str, kind: str
) -> None:
    stock = request.getfixturevalue(version)
    table = Columns(spark, stock, f"columns-{kind.lower()}", kind)
    # Of renamed fields in structs and lists 1.0.2 reads zeros and nulls from logs.
    nested = version in ("stock_1_1", "stock_1_2")
    a, x = ("c", "z") if nested else ("a", "x")
    number, after, item = ("info.a", f"info.{a}", f"items[0].{x}") if table.structs else ("n", "n", "n")
    fields = ("rename column info.a to c", "rename column items.element.x to z") if nested else ()
    table.write(0, 60, 1, "a", "x", operation="insert")
    table.write(10, 40, 2, "a", "x")
    HudiIndex(spark, table.path).create(record="global", columns="*")
    table.compare("rider like '%-1%'", f"{number} > 30")

    table.alter("rename column rider to driver", *fields)
    table.compare("driver like '%-1%'", f"{after} > 30", "driver is null", "fare > 500")
    table.write(0, 15, 3, a, x, renames={"rider": "driver"})
    HudiIndex(spark, table.path).update()
    table.compare("driver like '%-1%'", f"{after} > 30", f"{item} = 31")

    table.alter("drop column note", "add columns (note string)", "alter column qty type bigint")
    table.alter("alter column fare after id", *(("add columns (info.d double after b)",) if nested else ()))
    table.compare("note is null", "note is not null", "qty > 25", "fare < 300")
    wide = {"renames": {"rider": "driver"}, "retyped": {"qty": "bigint"}}
    table.write(30, 70, 4, a, x, **wide)
    HudiIndex(spark, table.path).update()
    table.compare("note is null", "note is not null", "qty > 25", "id = 'k000033'")

    # Of slices with logs 1.0.2 shows under the swapped name what the dropped column held.
    if version == "stock_1_0" and kind == "MOR":
        table.compare_instants()
        return
    table.alter(*SWAP)
    table.compare("note like 'rider%'", "driver is null", "driver like 'note%'")
    table.write(50, 75, 5, a, x, **{**wide, "renames": {"note": "driver", "rider": "note"}})
    table.compare("note like 'rider%'", "driver is null", "driver like 'note%'")
    if kind != "COW":
        stock.compact(name=table.name)
    HudiIndex(spark, table.path).update()
    table.compare("note like 'rider%'", "driver is null", "driver like 'note%'")
    table.compare_instants()


@pytest.mark.parametrize("kind", ["COW", "MOR"])
def test_values_that_the_wider_type_alone_can_hold_are_found(
    spark: SparkSession, request: pytest.FixtureRequest, kind: str
) -> None:
    """Files of both types are in one file of the index, whose bounds of either say nothing of the others'."""
    stock: Any = request.getfixturevalue(NEWEST)
    name = f"wider-{kind.lower()}"
    path = stock.new(name=name, kind=kind, options={"hoodie.parquet.small.file.limit": "0"})
    filters = ["v = 9.5D", "v in (15.5D, 3.25D)", "v > 21.25D and v < 21.75D", "v = 3.25D", "v = 3"]
    counts = [1, 1, 1, 0, 1]

    def write(first: int, end: int, value: str) -> None:
        sql = f"select concat('k', id) id, 'oslo' city, id ts, cast({value}) v from range({first}, {end})"
        stock.write_sql(name=name, sql=sql)

    def check() -> None:
        assert [answer["count"] for answer in stock.filtered(name=name, filters=filters)] == counts
        frame = spark.read.format("hudiidx").option("hudiidx.index.strict", "true").load(path)
        assert [len(frame.where(f).collect()) for f in filters] == counts
        assert [frame.where(f).count() for f in filters] == counts

    write(0, 10, "id as int")
    write(8, 25, "id + 0.5 as double")
    HudiIndex(spark, path).create(columns="*")
    check()
    write(24, 30, "id + 0.5 as double")
    HudiIndex(spark, path).update()
    check()


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        pytest.param("COW", "X", marks=pytest.mark.slow),
        pytest.param("COW", "x", marks=pytest.mark.slow),
        ("MOR", "X"),
        pytest.param("MOR", "x", marks=pytest.mark.slow),
    ],
)
def test_a_column_that_came_again_in_another_case_is_another_one(
    spark: SparkSession, request: pytest.FixtureRequest, kind: str, field: str
) -> None:
    """Stock gives null in what it merges or rewrites, and what the dropped column held where it reads a base
    file as it is, by a reader that does not look at cases."""
    asked: Any = request.getfixturevalue(NEWEST)
    name = f"cases-{kind}-{ord(field)}"
    options = {
        **BY_ID,
        **DROPS,
        "hoodie.metadata.enable": "false",
        "hoodie.parquet.small.file.limit": "0",
    }
    path = asked.new(name=name, kind=kind, options=options)

    def write(first: int, end: int, seed: int, columns: str) -> None:
        at = f"id + {seed} * 1000 as ts, id as n, if(id < 6, 'oslo', 'lima') as city"
        sql = f"select concat('k', id) as id, {at}, {columns} from range({first}, {end}, 1, 1)"
        asked.write_sql(name=name, sql=sql, **BY_ID, **DROPS)

    def values(column: str) -> list[tuple[int, int | None]]:
        return sorted(ast.literal_eval(row)[1:] for row in asked.values(name=name, column=column))

    # Spark's reader fails in another way for a field that may be null.
    x = "cast(id as int)" if field == "X" else "if(id = 99, null, cast(id as int))"

    write(0, 12, 1, f"cast(id as int) as tip, named_struct('x', {x}, 'y', 'y') as info")
    write(4, 8, 2, f"cast(id as int) as tip, named_struct('x', {x}, 'y', 'y') as info")
    HudiIndex(spark, path).create(columns="*", values="tip")
    asked.alter(name=name, changes=["drop column tip", "drop column info.x"])
    asked.alter(name=name, changes=["add columns (Tip int)", f"add columns (info.{field} int)"])

    def check(with_tip: set[int], fields: dict[int, int]) -> None:
        for how in ({}, {"hudiidx.index.enabled": "false"}):
            frame = spark.read.format("hudiidx").options(**how).load(path)
            rows = {r.n: (r.Tip, r.info[field], r.info.y) for r in frame.collect()}
            assert rows == {n: (n if n in with_tip else None, fields.get(n), "y") for n in range(12)}, how
            assert {r.n for r in frame.where("Tip is null").collect()} == set(range(12)) - with_tip
            assert {r.n for r in frame.where("Tip >= 0").collect()} == with_tip
            assert frame.where(f"info.{field} is null").count() == 12 - len(fields)
            # Of the struct nothing but the new field is asked.
            there = frame.where("info is not null").selectExpr("n", f"info.{field} as v").collect()
            assert sorted(map(tuple, there)) == [(n, fields.get(n)) for n in range(12)]
            counts = frame.selectExpr("count(Tip)", f"count(info.{field})").first()
            assert counts == (len(with_tip), len(fields))

    check(set(), {})
    merged = [row for row in values("Tip") if kind == "MOR" and 4 <= row[0] < 8]
    assert all(tip is None for _, tip in merged)
    write(2, 4, 3, f"named_struct('y', 'y', '{field}', cast(null as int)) as info, cast(id as int) as Tip")
    # What stock's copy-on-write keeps of a dropped field of the same name when it rewrites a file.
    kept = {n: v for n, v in values(f"info.{field}") if n < 6 and kind == "COW" and v is not None}
    assert not kept or field == "x"
    check({2, 3}, kept)
    HudiIndex(spark, path).update()
    check({2, 3}, kept)
    if kind == "COW":  # the file of oslo was rewritten
        assert [tip for n, tip in values("Tip") if n < 6] == [None, None, 2, 3, None, None]
