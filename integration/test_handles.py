"""What stays open while a table changes its nature answers as what is opened anew, and as stock Hudi.

One session, one index handle, one watcher and one DataFrame a step live through all that is done to a table.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hudifix
import pytest
import stored
from compare import assert_listings, expect_answer
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from test_migrated import begin_of

from hudiidx import (
    DamagedTable,
    HudiIdxException,
    HudiIndex,
    NotAHudiTable,
    TableChanged,
    UnsupportedTable,
    Watcher,
)

KEYS = [f"k{n:06d}" for n in range(160)]
# Of this one Spark has cached nothing.
EXPLAINED = "n between 100 and 400"
FILTER = "n between 100 and 400 or city = 'sf'"
# Stock's writers keep to the version that the table has.
AS_IT_IS = {"hoodie.write.auto.upgrade": "false"}
PAST = (TableChanged, NotAHudiTable, DamagedTable)
NAMES = {6: "SIX", 8: "EIGHT", 9: "NINE"}
Sums = dict[str, Any]


class Life:
    """A table that stock Hudi writes, and all that was opened over it."""

    def __init__(self, spark: SparkSession, stock: Any, name: str, kind: str, elsewhere: Path | None) -> None:
        self.spark, self.stock, self.name, self.kind = spark, stock, name, kind
        self.options = {} if elsewhere is None else {"hudiidx.index.path": str(elsewhere)}
        spark.conf.set("spark.sql.catalog.hudiidx", "hudiidx.spark.HudiIdxCatalog")
        self.version, self.seed = 6, 0
        self.path = Path(stock.new(name=name, kind=kind, options={}))
        self.frames: list[tuple[str, DataFrame, Sums]] = []
        self.is_long = False
        self.write(0, 100, "insert")
        self.index = HudiIndex(spark, self.path, index_path=elsewhere)
        self.index.create(record="global", columns=["n"], logs=True)
        self.watcher = Watcher(spark, [self.index], create=True)
        # A part of what later steps ask: what Spark keeps of it must not answer for them.
        self.cached = self.read().where(FILTER).cache()
        self.kept = self.cached.count()

    def write(self, first: int, end: int, operation: str = "upsert", **options: str) -> None:
        self.seed += 1
        version = {"hoodie.write.table.version": str(self.version), **AS_IT_IS}
        self.stock.write(
            name=self.name,
            first=first,
            end=end,
            seed=self.seed,
            operation=operation,
            **version,
            **options,
        )

    def migrate(self, to: int) -> None:
        self.stock.migrate(name=self.name, version=NAMES[to])
        self.version = to
        assert self.stock.version(name=self.name) == to

    def read(self, **options: str) -> DataFrame:
        return self.spark.read.format("hudiidx").options(**self.options, **options).load(str(self.path))

    def agree(self, step: str) -> None:
        """Every handle, the index behind the table and in step with it."""
        stock = self.stock.groups(name=self.name)["groups"]
        truth = self.stock.rows(name=self.name)
        places = sorted((k, p, f) for p, f, keys in stock for k in keys)
        [filtered] = self.stock.filtered(name=self.name, filters=[FILTER])
        self.past_frames(step, truth)
        assert self.cached.count() == self.kept, step  # what Spark keeps is of its moment
        self.calls(step, truth, places, filtered)
        [poll] = self.watcher.run_once()
        assert poll.error is None, (step, poll)
        self.calls(f"{step}, updated", truth, places, filtered)
        self.listings(step)
        assert self.index.info().state == "READY", step
        self.frames.append((step, self.read(), truth))
        if self.is_long:
            self.queries()
            assert _ask_fresh(self.path, self.options) == self.facts(), step

    def facts(self) -> Any:
        return facts(self.spark, self.index, self.path, self.options)

    def past_frames(self, step: str, now: Sums) -> None:
        """A DataFrame of an earlier step has the rows of its moment, or those of now, or says why not."""
        for made, frame, then in self.frames:
            try:
                found = hudifix.answer(frame.where("true"))[1]
            except (HudiIdxException, PySparkException) as e:
                assert any(kind.__name__ in str(e) for kind in PAST) or isinstance(e, PAST), (step, made, e)
            else:
                assert found in (then, now), f"{step}: frame of {made}"

    def calls(self, step: str, truth: Sums, places: list[Any], filtered: Sums) -> None:
        found = self.index.lookup(KEYS)
        assert sorted((at.key, at.partition_path, at.file_id) for at in found) == places, step
        assert hudifix.answer(self.index.lookup(KEYS, rows=True))[1] == truth, step
        asked = self.spark.createDataFrame([(k,) for k in KEYS], "id string")
        tagged = self.index.tag_location(asked, "id").where("file_id is not null")
        assert sorted((r.id, r.partition_path, r.file_id) for r in tagged.collect()) == places, step
        expect_answer(self.read(), truth)
        expect_answer(self.read().where(FILTER), filtered)
        named = self.spark.sql(f"select count(*) from hudiidx.`{self.path}`")
        assert named.first()[0] == truth["count"], step
        pruned = {r.file_name for r in self.index.prune(FILTER).collect()}
        assert pruned <= {r.file_name for r in self.index.files().collect()}, step

    def queries(self) -> None:
        """The other types of queries."""
        kind = "hoodie.datasource.query.type"
        for change in self.stock.changes(name=self.name):
            if "error" not in change:
                expect_answer(self.read(**{kind: "incremental"}, **begin_of(change, self.version)), change)
        for travel in self.stock.travel(name=self.name):
            if "error" not in travel:
                expect_answer(self.read(**{"as.of.instant": travel["as_of"]}), travel)
        base_files = {kind: "read_optimized"}
        if self.kind == "MOR":
            expect_answer(self.read(**base_files), self.stock.rows(name=self.name, options=base_files))

    def stock_listing(self, step: str) -> Any:
        """By stock's metadata table; where that is wrong after stock's own restore, by the file system."""
        if step != "restored":
            return self.stock.listing(name=self.name, metadata_table=True)
        there = self.stock.listing(name=self.name, metadata_table=False)
        if self.kind == "MOR":
            with pytest.raises(RuntimeError, match="No value present in Option"):
                self.stock.listing(name=self.name, metadata_table=True)
        else:  # it has what the restore removed
            known = self.stock.listing(name=self.name, metadata_table=True)
            assert known["per_partition"] != there["per_partition"]
        return there

    def listings(self, step: str) -> None:
        answers = {"listing": self.stock_listing(step), "table_type": self.kind}
        if self.kind == "MOR":
            answers["listing_by_file_system"] = self.stock.listing(name=self.name, metadata_table=False)
        assert_listings(self.index, stored.Fixture(self.name, answers))


def facts(spark: SparkSession, index: HudiIndex, path: Path, options: dict[str, str]) -> Any:
    """What one process says of a table."""
    spark.conf.set("spark.sql.catalog.hudiidx", "hudiidx.spark.HudiIdxCatalog")

    def read(**more: str) -> DataFrame:
        return spark.read.format("hudiidx").options(**options, **more).load(str(path))

    frame = read()
    places, info = index.lookup(KEYS), index.info()
    asked = spark.createDataFrame([(k,) for k in KEYS], "id string")
    tagged = index.tag_location(asked, "id").where("file_id is not null").collect()
    [[past]] = frame.selectExpr("max(_hoodie_commit_time)").collect()
    since = {
        "hoodie.datasource.query.type": "incremental",
        "hoodie.datasource.read.begin.instanttime": "000",
    }
    return {
        "partitions": index.partitions(),
        "files": sorted([r.partition_path, r.file_name, r.size] for r in index.files().collect()),
        "places": sorted([at.key, at.partition_path, at.file_id, at.instant_time] for at in places),
        "rows": hudifix.answer(frame)[1],
        "filtered": hudifix.answer(frame.where(FILTER))[1],
        "pruned": sorted(r.file_name for r in index.prune(FILTER).collect()),
        "tagged": sorted([r.id, r.partition_path, r.file_id, r.instant_time] for r in tagged),
        "rows of keys": hudifix.answer(index.lookup(KEYS, rows=True))[1],
        "by name": spark.sql(f"select count(*) from hudiidx.`{path}`").head()[0],
        "as of": hudifix.answer(read(**{"as.of.instant": past}))[1],
        "changed": hudifix.answer(read(**since))[1],
        "explained": [at for at in index.explain(frame.where(EXPLAINED)).splitlines() if " ms" not in at],
        "log blocks": sorted(map(str, index.log_blocks().collect())),
        "info": [info.state, info.index_version, info.files, info.partitions, info.last_synced_instant],
        "verified": index.verify(record=info.record is not None, columns=bool(info.columns)).ok,
        "for Arrow": files_for_arrow(index),
    }


def files_for_arrow(index: HudiIndex) -> list[str] | str:
    """Of a dataset, or that logs rule one out."""
    try:
        return sorted(index.arrow_dataset(FILTER).files)
    except UnsupportedTable as e:
        return type(e).__name__


def _ask_fresh(path: Path, options: dict[str, str]) -> Any:
    answer = subprocess.run(
        [sys.executable, __file__, str(path), json.dumps(options)],
        env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr[-3000:]
    return json.loads(answer.stdout.splitlines()[-1])


def renamed_away_and_back(life: Life) -> None:
    away = life.path.with_name(life.path.name + "-away")
    life.path.rename(away)
    with pytest.raises(NotAHudiTable):
        life.index.lookup(KEYS[:1])
    with pytest.raises(NotAHudiTable):
        life.index.partitions()
    away.rename(life.path)


def another_in_its_place(life: Life) -> None:
    """For a moment another table stands there, of another version, with the names of its files."""
    away = life.path.with_name(life.path.name + "-away")
    life.path.rename(away)
    stored.load("v9-cow-part").unpack(life.path.parent).rename(life.path)
    try:
        assert life.index.partitions() == stored.load("v9-cow-part").partitions
        life.index.lookup(KEYS)
    finally:
        shutil.rmtree(life.path)
        away.rename(life.path)


def index_made_elsewhere(life: Life) -> None:
    """The index is dropped, and made anew by another process: its versions begin at 1 again."""
    command = Path(sys.executable).with_name("hudiidx")
    place = [f"--index-path={path}" for path in life.options.values()]
    for asked, *more in (["drop", "--yes"], ["create", "--record=global", "--columns=n"]):
        subprocess.run([command, asked, life.path, *place, *more], check=True, capture_output=True)
        life.index.lookup(KEYS[:3])  # without an index meanwhile


def restored(life: Life) -> None:
    saved = life.stock.savepoint(name=life.name)
    life.write(0, 40)
    life.write(120, 140)
    life.agree("written behind a savepoint")
    life.stock.restore(name=life.name, to=saved)


def made_anew(columns: list[str]) -> Callable[[Life], None]:
    def deed(life: Life) -> None:
        shutil.rmtree(life.path)
        with pytest.raises(NotAHudiTable):
            life.index.lookup(KEYS[:1])
        life.stock.new(name=life.name, kind=life.kind, options={})
        life.seed += 1
        life.stock.write(
            name=life.name,
            first=30,
            end=110,
            seed=life.seed,
            operation="insert",
            columns=columns,
            **{"hoodie.write.table.version": str(life.version), **AS_IT_IS},
        )

    return deed


def overwritten(life: Life) -> None:
    life.stock.overwrite(name=life.name, first=10, end=90, seed=life.seed + 100)
    life.version = life.stock.version(name=life.name)


STEPS: dict[str, Callable[[Life], None]] = {
    "created": lambda life: None,
    "upserted": lambda life: life.write(50, 120),
    "upgraded to 8": lambda life: life.migrate(8),
    "upserted on 8": lambda life: life.write(20, 60),
    "upgraded to 9": lambda life: life.migrate(9),
    "upserted on 9": lambda life: life.write(90, 130),
    "metadata table rebuilt": lambda life: life.stock.rebuild_metadata(name=life.name),
    "downgraded to 8": lambda life: life.migrate(8),
    "downgraded to 6": lambda life: life.migrate(6),
    "upserted on 6 again": lambda life: life.write(0, 30),
    "renamed away and back": renamed_away_and_back,
    "another in its place for a while": another_in_its_place,
    "index made anew by another": index_made_elsewhere,
    "restored": restored,
    "made anew": made_anew([]),
    "made anew with another schema": made_anew(["id * 2 as more"]),
    "overwritten": overwritten,
    "replaced whole": lambda life: life.write(0, 50, "insert_overwrite_table"),
    "cleaned": lambda life: life.stock.clean(name=life.name),
}
# Upgrades are the dearest; what a handle makes of a moved timeline `RecordLookupsSuite` tries as well.
SHORT = (
    "created",
    "upgraded to 9",
    "upserted on 9",
    "index made anew by another",
    "made anew with another schema",
    "cleaned",
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "is_elsewhere", "steps"),
    [
        pytest.param("MOR", True, SHORT, id="short"),
        pytest.param("MOR", False, tuple(STEPS), id="MOR"),
        pytest.param("MOR", True, tuple(STEPS), id="MOR-elsewhere"),
        pytest.param("COW", False, tuple(STEPS), id="COW"),
    ],
)
def test_what_stays_open_answers_as_what_is_opened_anew(
    spark: SparkSession, stock_1_2: Any, tmp_path: Path, kind: str, is_elsewhere: bool, steps: tuple[str, ...]
) -> None:
    name = f"life-{kind.lower()}-{len(steps)}-{int(is_elsewhere)}"
    life = Life(spark, stock_1_2, name, kind, tmp_path / "index" if is_elsewhere else None)
    life.is_long = len(steps) == len(STEPS)
    for step in steps:
        STEPS[step](life)
        life.agree(step)
    life.cached.unpersist()


def main() -> None:
    """A process that has seen nothing of the table: what it says of it, as JSON."""
    from spark_session import SETTINGS

    from hudiidx import configure_spark

    builder = SparkSession.builder.master("local[2]")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    session = configure_spark(builder).getOrCreate()
    path, options = Path(sys.argv[1]), json.loads(sys.argv[2])
    index = HudiIndex(session, path, index_path=options.get("hudiidx.index.path"))
    print(json.dumps(facts(session, index, path, options)))
    session.stop()


if __name__ == "__main__":
    main()
