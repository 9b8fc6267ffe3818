"""Writes of stock Hudi that overlap: a commit is requested before another one, or before a compaction, and
completes behind it. Snapshots are stock's. Ranges of such commits, which stock answers wrong or not at all,
have their rows."""

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from stock_hudi import OF_VERSION_9, each
from test_streams import BEGIN, Stream

from hudiidx import HudiIndex

LOCK = "org.apache.hudi.client.transaction.lock.InProcessLockProvider"
PARTIAL = "hoodie.spark.sql.merge.into.partial.updates"
WRITES = {
    "hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL",
    "hoodie.write.lock.provider": LOCK,
    "hoodie.cleaner.policy.failed.writes": "LAZY",
    "hoodie.index.type": "BUCKET",
    "hoodie.bucket.index.num.buckets": "1",
    "hoodie.bucket.index.hash.field": "id",
    "hoodie.metadata.enable": "false",
    "hoodie.compact.inline": "false",
    "hoodie.embed.timeline.server": "false",
    PARTIAL: "true",
}
PROPERTIES = {
    "type": "mor",
    "primaryKey": "id",
    "hoodie.record.merge.mode": "COMMIT_TIME_ORDERING",
}
COLUMNS = ["_hoodie_commit_time", "id", "c1", "c2"]


def merge(column: str, value: int, keys: str, held: bool = False, whole: bool = False) -> str:
    """A MERGE INTO that sets one column of some keys, in one task; ``whole``: the others too, c2 to 0."""
    text = f"held('{keys}')" if held else f"'{keys}'"
    source = f"select explode(split({text}, ' ')) as id, 'p' as city, {value} as v"
    others = "id = s.id, city = s.city, c2 = 0, " if whole else ""
    return (
        f"merge into @T t using ({source}) s on t.id = s.id and t.city = s.city "
        f"when matched then update set {others}{column} = s.v"
    )


@pytest.mark.parametrize("release", each(OF_VERSION_9))
@pytest.mark.parametrize("compacted", [False, True], ids=["", "compacted"])
def test_a_partial_update_that_completes_behind_others_has_all_columns_in_ranges_and_streams(
    spark: SparkSession, request: pytest.FixtureRequest, tmp_path: Path, release: str, compacted: bool
) -> None:
    stock, name = request.getfixturevalue(release), f"late-partial-{release}-{compacted}".lower()
    columns = "id string, c1 int, c2 int, city string"
    path = stock.create_table(name=name, columns=columns, partition="city", properties=PROPERTIES)
    values = "values ('a', 0, 0, 'p'), ('b', 0, 0, 'p'), ('c', 0, 0, 'p')"
    stock.statement(name=name, sql=f"insert into @T {values}", **WRITES)
    stock.statement(name=name, sql=merge("c1", 1, "b"), **WRITES)
    stock.begin(name=name, sql=merge("c1", 100, "a c", held=True), **WRITES)
    stock.statement(name=name, sql=merge("c2", 200, "a b"), **WRITES)
    index = HudiIndex(spark, path)
    index.create(record="global", columns="*")
    if compacted:
        stock.compact(name=name)
    stream = Stream(spark, Path(path), tmp_path, COLUMNS)
    stream.next()
    begin = stock.completions(name=name)[-1]
    stock.finish(name=name)
    assert stock.completions(name=name)[-2] == begin
    snapshot = [("a", 100, 200), ("b", 1, 200), ("c", 100, 0)]
    # The block of the later request is merged last, so that row a bears its time, as row b does.
    wanted = [row for row in snapshot if row[0] != "b"] if compacted else snapshot
    assert sorted(tuple(json.loads(row).values())[1:] for row in stream.next()) == wanted
    frame = spark.read.format("hudiidx")
    since = frame.option("hoodie.datasource.query.type", "incremental").option(BEGIN, begin).load(path)
    assert sorted(map(tuple, since.select("id", "c1", "c2").collect())) == wanted
    frame = spark.read.format("hudiidx")
    for _ in range(2):
        rows = frame.load(path).select("id", "c1", "c2")
        assert sorted(map(tuple, rows.collect())) == snapshot
        assert sorted(map(tuple, rows.where("id in ('a', 'c')").collect())) == [snapshot[0], snapshot[2]]
        assert [place.key for place in index.lookup(["a", "b", "c"])] == ["a", "b", "c"]
        index.update()
    assert index.verify(record=True, columns=True).ok


@pytest.mark.parametrize("release", each(OF_VERSION_9))
@pytest.mark.parametrize("mode", ["OPTIMISTIC_CONCURRENCY_CONTROL", "NON_BLOCKING_CONCURRENCY_CONTROL"])
def test_a_commit_that_completes_behind_the_plan_of_a_compaction_is_in_its_range_and_in_streams(
    spark: SparkSession, request: pytest.FixtureRequest, tmp_path: Path, release: str, mode: str
) -> None:
    stock, name = request.getfixturevalue(release), f"late-planned-{release}-{mode[:3]}".lower()
    writes = {**WRITES, "hoodie.write.concurrency.mode": mode, PARTIAL: "false"}
    if mode.startswith("OPTIMISTIC"):
        writes = {k: v for k, v in writes.items() if "bucket" not in k} | {"hoodie.index.type": "SIMPLE"}
    columns = "id string, c1 int, c2 int, city string"
    path = stock.create_table(name=name, columns=columns, partition="city", properties=PROPERTIES)
    values = "values ('a', 0, 0, 'p'), ('b', 0, 0, 'p'), ('c', 0, 0, 'p')"
    stock.statement(name=name, sql=f"insert into @T {values}", **writes)
    stock.statement(name=name, sql=merge("c1", 1, "b", whole=True), **writes)
    stock.begin(name=name, sql=merge("c1", 100, "a c", held=True, whole=True), **writes)
    stock.schedule_compaction(name=name)
    stream = Stream(spark, Path(path), tmp_path, COLUMNS)
    stream.next()
    begin = stock.completions(name=name)[-1]
    stock.finish(name=name)
    wanted = [("a", 100, 0), ("c", 100, 0)]
    assert sorted(tuple(json.loads(row).values())[1:] for row in stream.next()) == wanted
    HudiIndex(spark, path).create(record="global", columns="*")
    frame = spark.read.format("hudiidx").option("hoodie.datasource.query.type", "incremental")
    for _ in range(2):
        for since, rows in ((begin, wanted), ("000", [wanted[0], ("b", 1, 0), wanted[1]])):
            found = frame.option(BEGIN, since).load(path).select("id", "c1", "c2")
            assert sorted(map(tuple, found.collect())) == rows
        stock.run_compaction(name=name)
    assert stream.next() == []
