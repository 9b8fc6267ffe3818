"""Tables of stock Hudi with its metadata table: stock trusts what we keep of it, and makes the rest anew."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from stock_hudi import OLDEST, each
from written import IN_SHORT, OURS, VERSIONS, Written, fail_last_write

from hudiidx import HudiIndex

ALL = {
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "true",
    "hoodie.metadata.index.partition.stats.enable": "true",
    "hoodie.metadata.index.bloom.filter.enable": "true",
    "hoodie.metadata.compact.max.delta.commits": "4",
}
FILES = {**ALL, **{k: "false" for k in ALL if ".index." in k}}
INDEX = {k: v for k, v in OURS.items() if k != "hoodie.metadata.enable"}
TRUSTING = {"hoodie.metadata.enable": "true", "hoodie.enable.data.skipping": "true"}
# By a partition, and by what indexes prune, where there are some. Not by id: with its data skipping 1.1.1
# loses rows so in its own tables too.
FILTERS = [
    "city = 'oslo' and ts > 3000",
    "n = 35",
    "n > 500",
    "fare < 100",
    "rider = 'rider-5'",
    "day = date'2024-03-01'",
]


class Listed(Written):
    """A table that stock Hudi made, whose metadata table must be right at any time."""

    def __init__(
        self,
        spark: SparkSession,
        stock: Any,
        fixture: str,
        name: str,
        log_inserts: str = "true",
        metadata: dict[str, str] = FILES,
    ) -> None:
        options = {**metadata, **INDEX, "hudiidx.write.log.inserts": log_inserts}
        path = stock.new(name=name, kind="MOR", options=options)
        # Writers that died are known to be dead at once.
        heartbeat = {
            "hoodie.client.heartbeat.interval_in_ms": "100",
            "hoodie.client.heartbeat.tolerable.misses": "1",
            "hudiidx.write.log.inserts": log_inserts,
        }
        super().__init__(spark, stock, VERSIONS[fixture], Path(path), **heartbeat)
        self.filters = FILTERS[:1] if metadata == FILES else FILTERS

    def stock_writes(self, first: int, end: int, seed: int) -> None:
        self.stock.write(name=self.name, first=first, end=end, seed=seed)
        self.expect(self.make(first, end, seed, seed))

    @property
    def listed_partitions(self) -> set[str]:
        lines = (self.path / ".hoodie" / "hoodie.properties").read_text().splitlines()
        listed = next(line for line in lines if line.startswith("hoodie.table.metadata.partitions="))
        return set(listed.partition("=")[2].split(","))

    def assert_rows(self) -> None:
        """Stock with metadata table and data skipping, and we, have what was written."""
        self.assert_right()
        frame = self.ours()
        assert frame.count() == len(self.rows)
        wanted = [frame.where(f).count() for f in self.filters]
        found = self.stock.filtered(name=self.name, filters=self.filters, options=TRUSTING)
        assert [answer["count"] for answer in found] == wanted

    def assert_listed(self, whole: bool = True) -> None:
        """Stock lists by the metadata table what it lists by folders; not whole: nothing else than that."""
        by_metadata = self.stock.listing(name=self.name, metadata_table=True)
        by_folders = self.stock.listing(name=self.name, metadata_table=False)
        assert by_metadata["reader"] == "HoodieBackedTableMetadata"
        assert by_metadata["partitions"] == by_folders["partitions"]
        for partition in by_folders["partitions"]:
            files, found = (dict(x["per_partition"][partition]["files"]) for x in (by_folders, by_metadata))
            # A rollback of 0.15.0 gives log files size 1.
            sized = {k: files[k] if v == 1 else v for k, v in found.items()}
            assert sized.items() <= files.items()
            if whole:
                assert sized == files
                for view in ("latestFileSlices", "allFileGroups", "latestBaseFiles"):
                    assert names(by_metadata, partition, view) == names(by_folders, partition, view)


def names(listing: Any, partition: str, view: str) -> Any:
    """Base and log files of a view, without sizes."""
    found = listing["per_partition"][partition][view]
    return [f if isinstance(f, str) else {k: v for k, v in f.items() if "ize" not in k} for f in found]


def metadata_timeline(table: Written) -> Path:
    hoodie = table.path / ".hoodie" / "metadata" / ".hoodie"
    return hoodie / "timeline" if (hoodie / "timeline").exists() else hoodie


def undo_steps(table: Written) -> list[Callable[[], None]]:
    """What takes the last write's steps in the metadata table back, from the last one on."""
    timeline = metadata_timeline(table)
    done = max((f for f in timeline.glob("2*.deltacommit")), key=lambda f: f.name)
    instant = done.name.split(".")[0].split("_")[0]

    def remove_files() -> None:
        for log in (table.path / ".hoodie" / "metadata" / "files").glob(".files*.log.*"):
            if log.suffix != ".crc" and instant.encode() in log.read_bytes():
                log.unlink()

    return [
        lambda: None,
        done.unlink,
        remove_files,
        (timeline / f"{instant}.deltacommit.inflight").unlink,
        (timeline / f"{instant}.deltacommit.requested").unlink,
    ]


# The third turn has a compaction, the fourth a clean.
TURNS = [
    pytest.param(v, turns, id=f"{v}-{len(turns)}") for v in VERSIONS for turns in (range(4, 9), range(6, 8))
]


@pytest.mark.slow
@pytest.mark.parametrize(("version", "turns"), TURNS)
def test_stock_trusts_the_metadata_table_that_we_kept(
    spark: SparkSession, request: pytest.FixtureRequest, version: str, turns: range
) -> None:
    table = Listed(spark, request.getfixturevalue(version), version, "trusted")
    table.stock_writes(0, 60, 1)
    assert table.listed_partitions == {"files"}

    # A partition that is new.
    table.upsert(table.make(40, 90, 2, 2))
    assert table.listed_partitions == {"files"}
    table.assert_rows()
    table.assert_listed()
    table.delete(50, 55)
    table.assert_rows()
    table.assert_listed()

    table.stock_writes(85, 120, 3)
    table.assert_rows()
    table.assert_listed()

    for turn in turns:
        table.upsert(table.make(turn * 10, turn * 10 + 30, turn, turn))
        table.upsert(table.make(0, 20, turn, turn))
        if turn == 6:
            table.stock.compact(name=table.name)
        if turn == 7:
            table.stock.clean(name=table.name)
        table.assert_rows()
        table.assert_listed()
        table.stock_writes(100 + turn * 5, 130 + turn * 5, turn)
        assert table.listed_partitions == {"files"}
        table.assert_rows()
        table.assert_listed()


@pytest.mark.slow
@pytest.mark.parametrize("log_inserts", ["true", "false"])
@pytest.mark.parametrize("version", IN_SHORT)
def test_a_metadata_table_with_parts_that_we_do_not_keep_goes_and_stock_makes_it_anew(
    spark: SparkSession, request: pytest.FixtureRequest, version: str, log_inserts: str
) -> None:
    """Taken out alone, stock makes such parts also of files that it has just removed, and fails."""
    stock = request.getfixturevalue(version)
    table = Listed(spark, stock, version, f"no-parts-{log_inserts}", log_inserts, ALL)
    table.stock_writes(0, 60, 1)
    full = table.listed_partitions
    assert {"files", "column_stats", "bloom_filters"} <= full
    for turn in (2, 3):
        # Values outside of all ranges that stock knows.
        table.upsert(table.make(40, 90, turn, turn))
        assert table.listed_partitions == {""}
    table.stock.clean(name=table.name)
    table.assert_right()
    table.stock_writes(80, 100, 4)
    assert table.listed_partitions == full
    table.assert_rows()
    table.assert_listed()
    # What is compacted is cleaned, by a client that does nothing else.
    table.upsert(table.make(0, 30, 5, 5))
    stock.compact(name=table.name)
    table.upsert(table.make(20, 40, 6, 6))
    stock.clean_up(name=table.name, commits=1)
    table.assert_rows()
    HudiIndex(spark, table.path).compact_table()
    stock.clean_up(name=table.name, commits=1)
    table.assert_rows()
    table.save(table.make(60, 120, 7, 7))
    fail_last_write(table)
    table.assert_right()
    time.sleep(0.2)  # the dead writer's heartbeat is past
    table.stock_writes(90, 130, 8)
    table.upsert(table.make(0, 2, 9, 9))
    table.assert_right()


# A server of its own lists for 1.2.0: without one it fails at a secondary index, whoever wrote before.
DEFINED = {
    **FILES,
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.metadata.global.record.level.index.enable": "true",
    "hoodie.embed.timeline.server": "true",
}


@pytest.mark.slow
@pytest.mark.parametrize("release", each(of=[v for v in VERSIONS if v != OLDEST]))
def test_definitions_of_indexes_stay_and_stock_goes_on(
    spark: SparkSession, request: pytest.FixtureRequest, release: str
) -> None:
    """Secondary and expression indexes go with the metadata table, and stock makes them anew."""
    stock = request.getfixturevalue(release)
    table = Listed(spark, stock, release, f"defined-{release}", "false", DEFINED)
    table.stock_writes(0, 60, 1)
    stock.create_index(name=table.name, index="by_rider", columns="(rider)")
    expression = "using column_stats(ts) options(expr='from_unixtime', format='yyyy-MM-dd')"
    stock.create_index(name=table.name, index="by_day", columns=expression)
    full = table.listed_partitions
    assert {"files", "record_index", "secondary_index_by_rider", "expr_index_by_day"} <= full
    definitions = table.path / ".hoodie" / ".index_defs" / "index.json"
    defined = definitions.read_text()
    for turn in (2, 3):
        for first in (40, 20):
            table.upsert(table.make(first, 90, turn, turn))
            assert table.listed_partitions == {""}
            assert definitions.read_text() == defined
        for first in (80, 30):
            table.stock_writes(first, 100, turn + 1)
        assert {
            "files",
            "record_index",
            "secondary_index_by_rider",
            "expr_index_by_day",
        } <= table.listed_partitions
        table.assert_rows()


# How many steps are rolled back, and whether stock is the next writer.
ENDS = [(steps, stock_is_next) for steps in range(1, 6) for stock_is_next in (True, False)]
FIFTHS = [pytest.param(v, ENDS[n::5], id=f"{v}-{n}") for v in VERSIONS for n in range(5)]


@pytest.mark.slow
@pytest.mark.parametrize(("version", "ends"), FIFTHS)
def test_writes_of_ours_that_end_at_any_step(
    spark: SparkSession, request: pytest.FixtureRequest, version: str, ends: list[tuple[int, bool]]
) -> None:
    table = Listed(spark, request.getfixturevalue(version), version, "ended")
    table.stock_writes(0, 60, 1)
    for steps, stock_is_next in ends:
        table.save(table.make(20, 90, 50 + steps, 50 + steps))
        undone = undo_steps(table)[:steps]
        fail_last_write(table)
        for undo in undone:
            undo()
        table.assert_rows()
        time.sleep(0.2)  # the dead writer's heartbeat is past
        if stock_is_next:
            table.stock_writes(50, 70, 2 * steps)
            # Hudi 0.15 ends its scan at the rollback's block, which is younger than that write.
            table.upsert(table.make(0, 2, 2 * steps, 2 * steps))
        else:
            table.upsert(table.make(60, 80, 2 * steps + 1, 2 * steps + 1))
        table.assert_rows()
        # 0.15.0 leaves logs of failed writes where they are; its metadata table need not list them.
        table.assert_listed(whole=version != OLDEST)


@pytest.mark.parametrize("kind", ["COW", pytest.param("MOR", marks=pytest.mark.slow)])
@pytest.mark.parametrize("version", IN_SHORT)
def test_an_index_made_from_a_metadata_table_has_no_file_that_a_restore_removed(
    spark: SparkSession, request: pytest.FixtureRequest, version: str, kind: str, tmp_path: Path
) -> None:
    """Stock from 1.1 on leaves such files in the metadata tables of version 6."""
    stock = request.getfixturevalue(version)
    name = f"restored-{version[-2:]}-{kind}".lower()
    path = stock.new(name=name, kind=kind, options=TRUSTING)
    as_it_is = {"hoodie.write.table.version": "6", "hoodie.write.auto.upgrade": "false"}
    for seed, (first, end) in enumerate([(0, 100), (50, 120)]):
        stock.write(name=name, first=first, end=end, seed=seed, **as_it_is)
    saved = stock.savepoint(name=name)
    for seed, (first, end) in enumerate([(0, 40), (110, 140)]):
        stock.write(name=name, first=first, end=end, seed=seed + 2, **as_it_is)
    stock.restore(name=name, to=saved)
    there = stock.listing(name=name, metadata_table=False)["per_partition"]
    if kind == "COW":
        known = stock.listing(name=name, metadata_table=True)["per_partition"]
        is_kept = any(known[p]["files"] != there[p]["files"] for p in there)
        assert is_kept == (version != OLDEST)
    index = HudiIndex(spark, path, index_path=tmp_path / "index", source="metadata")
    index.create()
    found: dict[str, list[list[Any]]] = {}
    for row in index.files().collect():
        found.setdefault(row.partition_path, []).append([row.file_name, row.size])
    assert {p: sorted(files) for p, files in found.items()} == {p: there[p]["files"] for p in there}
    assert index.verify().ok
