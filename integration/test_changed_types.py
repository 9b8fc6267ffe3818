"""Change data of tables with vectors, blobs and structs of variants, by stock Hudi 1.2.0: images are stock's,
and where stock gives none they have the values of its snapshots."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from test_changes import BEGIN, MODE, MODES, TABLE, _ours, _rows

from hudiidx import HudiIndex

VECTOR = "case when id % 13 = 5 then null else array({items}) end as {name}"
VECTORS = {"vf": ("float", 3, "VECTOR(3)"), "vd": ("double", 2, "VECTOR(2, DOUBLE)")}
BYTES = "case when id % 13 = 4 then null else array(cast(id as tinyint), cast({seed} as tinyint)) end as vi"
REFERENCE = "struct<external_path:string,`offset`:bigint,length:bigint,managed:boolean>"
BLOB = f"""case when id % 11 = 4 then null
  when id % 3 = 0 then named_struct('type', 'OUT_OF_LINE', 'data', cast(null as binary), 'reference',
    named_struct('external_path', concat('/blobs/', id), 'offset', id, 'length', 10L, 'managed', false))
  else named_struct('type', 'INLINE', 'data', cast(concat('bytes-', id, '-{{seed}}') as binary),
    'reference', cast(null as {REFERENCE})) end as content"""
VARIANT = (
    "named_struct('metadata', X'010000', 'value', cast(concat(char(12), char({seed})) as binary)) as payload"
)
MARKS = {**{name: mark for name, (_, _, mark) in VECTORS.items()}, "vi": "VECTOR(2, INT8)"}
WRITES = [(0, 16, 2, "insert"), (0, 8, 3, "upsert"), (0, 4, 1, "upsert"),
          (2, 5, 4, "delete"), (4, 18, 5, "upsert")]  # fmt: skip


def vectors() -> list[str]:
    def of(name: str, kind: str, size: int) -> str:
        items = ", ".join(
            f"cast(id * {i + 1} + {{seed}} as {kind}) * cast(0.25 as {kind})" for i in range(size)
        )
        return VECTOR.format(items=items, name=name)

    return [*(of(name, kind, size) for name, (kind, size, _) in VECTORS.items()), BYTES]


def new(stock: Any, name: str, kind: str, mode: str) -> Path:
    return Path(stock.new(name=name, kind=kind, options={**TABLE, MODE: mode}))


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "mode"), list(itertools.product(["COW", "MOR"], MODES)))
def test_images_of_blobs_and_structs_are_those_of_stock(
    spark: SparkSession, stock_1_2: Any, kind: str, mode: str
) -> None:
    name = f"changed-blobs-{kind}-{mode}".lower().replace("_", "-")
    path = new(stock_1_2, name, kind, mode)
    more = {"columns": [BLOB, VARIANT], "marks": {"content": "BLOB"}}
    for first, end, seed, operation in WRITES:
        stock_1_2.write(name=name, first=first, end=end, seed=seed, operation=operation, **more)
    theirs = stock_1_2.change_data(name=name, options={BEGIN: "000"})["rows"]
    assert any("OUT_OF_LINE" in str(r) for r in theirs) and any("INLINE" in str(r) for r in theirs)
    assert _rows(_ours(spark, path), exact=True) == _rows(theirs, exact=True)
    HudiIndex(spark, path).create(columns="*")
    assert _rows(_ours(spark, path), exact=True) == _rows(theirs, exact=True)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "mode"), [("COW", "op_key_only"), *(("MOR", mode) for mode in MODES)])
def test_images_have_the_vectors_of_stocks_snapshots(
    spark: SparkSession, stock_1_2: Any, kind: str, mode: str
) -> None:
    """Stock's own query of such changes fails: it takes the bytes of its files for the array."""
    name = f"changed-vectors-{kind}-{mode}".lower().replace("_", "-")
    path = new(stock_1_2, name, kind, mode)
    for first, end, seed, operation in WRITES:
        stock_1_2.write(
            name=name, first=first, end=end, seed=seed, operation=operation, columns=vectors(), marks=MARKS
        )
    failed = stock_1_2.change_data(name=name, options={BEGIN: "000"})
    assert "ClassCastException" in str(failed["error"])
    columns = ("id", "n", "city", "ts", *MARKS)

    def of(image: dict[str, Any]) -> dict[str, Any]:
        return {c: image.get(c) for c in columns}

    for index in (False, True):
        if index:
            HudiIndex(spark, path).create(columns="*")
        rows, state = _ours(spark, path), dict[str, Any]()
        for at in stock_1_2.completed(name=name):
            for op, _, before, after in (r for r in rows if r[1] == at):
                if op != "i":
                    old = of(json.loads(before))
                    assert state.pop(old["id"]) == old
                if op != "d":
                    now = of(json.loads(after))
                    assert now["id"] not in state
                    state[now["id"]] = now
            wanted = [of(json.loads(text)) for text in stock_1_2.texts(name=name, as_of=at)]
            assert state == {row["id"]: row for row in wanted}, at
        assert len({r[1] for r in rows}) == 4


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["data_before", "data_before_after"])
def test_stock_keeps_no_images_with_vectors_in_them(stock_1_2: Any, mode: str) -> None:
    """So there are no .cdc files with vectors to be read."""
    name = f"changed-refused-{mode}".replace("_", "-")
    new(stock_1_2, name, "COW", mode)
    more = {"columns": vectors(), "marks": MARKS}
    stock_1_2.write(name=name, first=0, end=8, seed=2, operation="insert", **more)
    with pytest.raises(RuntimeError, match="must be a top-level field"):
        stock_1_2.write(name=name, first=0, end=4, seed=3, **more)
