"""Stock Hudi's writers tag through hudiidx: the same writes give the same table as with Hudi's indexes."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from stock_hudi import NEWEST, OLDEST, RELEASES, each

from hudiidx import HudiIndex

NO_METADATA = {"hoodie.metadata.enable": "false"}
RECORD_INDEX = {
    "hoodie.index.type": "RECORD_INDEX",
    "hoodie.metadata.index.column.stats.enable": "false",
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.metadata.global.record.level.index.enable": "true",
}
SIMPLE = {"hoodie.index.type": "SIMPLE", **NO_METADATA}
OURS = {"hoodie.index.class": "hudiidx.hudi.RecordIndex", **NO_METADATA}
SYNCED = {
    "hudiidx.write.create": "true",
    "hoodie.write.commit.callback.on": "true",
    "hoodie.write.commit.callback.class": "hudiidx.hudi.SyncCallback",
}
MOVES = "hoodie.record.index.update.partition.path"
SERVED = [name for name in RELEASES if name != "stock_1_0"]
ROTATED = ["nyc", "oslo", "lima", "sf"]


@dataclass
class Case:
    """A table of one kind, written by one version with a stock index and with ours."""

    stock: str
    kind: str
    moves: bool = True
    globally: bool = True
    options: dict[str, str] = field(default_factory=dict)
    same_groups: bool = True

    def __str__(self) -> str:
        scope = ("moves" if self.moves else "stays") if self.globally else "partition"
        how = ["synced"] * (SYNCED.items() <= self.options.items()) + ["log-inserts"] * (not self.same_groups)
        return "-".join([self.stock, self.kind, scope, *how])

    def reference(self) -> dict[str, str]:
        return {**RECORD_INDEX, MOVES: str(self.moves).lower()} if self.globally else SIMPLE

    def ours(self) -> dict[str, str]:
        scope = {"hudiidx.write.global": str(self.globally).lower(), MOVES: str(self.moves).lower()}
        return {**OURS, **scope, **self.options}


LOG_INSERTS = {"hudiidx.write.log.inserts": "true"}
SHORT = [Case(NEWEST, "MOR", globally=False)]
LONG = [
    *[
        Case(stock, kind, moves=moves, options=SYNCED if moves else {})
        for stock in SERVED
        for kind in ("COW", "MOR")
        for moves in (True, False)
    ],
    *[Case(stock, kind, globally=False) for stock in SERVED for kind in ("COW", "MOR")],
    *[
        Case(stock, "MOR", moves=moves, options={**SYNCED, **LOG_INSERTS}, same_groups=False)
        for stock in SERVED
        for moves in (True, False)
        if not (stock == OLDEST and moves)  # which Hudi cannot do
    ],
]
CASES = [pytest.param(c, id=str(c)) for c in SHORT] + [
    pytest.param(c, id=str(c), marks=pytest.mark.slow) for c in LONG if c not in SHORT
]


def write_all(stock: Any, name: str, kind: str, path: Path, log_inserts: bool) -> list[Any]:
    """Inserts, updates, moves, deletes of both kinds, late rows; the state in between and at the end."""
    states = []
    stock.write(name=name, first=0, end=80, seed=1, deleted="false")
    assert any(path.glob("*/*.parquet")) != log_inserts
    stock.write(name=name, first=40, end=110, seed=3, parts=ROTATED, deleted="id % 10 = 5")
    states.append(stock.groups(name=name))
    stock.write(name=name, first=30, end=60, seed=4, operation="delete", deleted="false")
    if kind == "MOR":
        stock.compact(name=name)
    stock.write(name=name, first=0, end=50, seed=2, parts=ROTATED, deleted="id % 10 = 7")
    states.append(stock.groups(name=name))
    return states


def comparable(state: Any, same_groups: bool) -> Any:
    """The state without file ids, which are random."""
    groups = [(partition, keys) for partition, _, keys in state["groups"]]
    if not same_groups:
        partitions = sorted({p for p, _ in groups})
        groups = [(p, sorted(k for q, keys in groups if q == p for k in keys)) for p in partitions]
    return state["data"], sorted(groups)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_the_same_writes_give_the_same_table(
    spark: SparkSession, request: pytest.FixtureRequest, case: Case
) -> None:
    stock = request.getfixturevalue(case.stock)
    states, paths = [], []
    for which, options in (("stock", case.reference()), ("ours", case.ours())):
        name = f"{which}-{case}".lower().replace("_", "").replace(".", "")
        paths.append(Path(stock.new(name=name, kind=case.kind, options=options)))
        log_inserts = "hudiidx.write.log.inserts" in options
        states.append(write_all(stock, name, case.kind, paths[-1], log_inserts))
    wanted, found = [[comparable(s, case.same_groups) for s in run] for run in states]
    assert found == wanted
    keys = [k for _, _, group in states[1][-1]["groups"] for k in group]
    if case.globally:
        assert len(set(keys)) == len(keys)
    if case.options:
        index = HudiIndex(spark, paths[1], strict=True)
        assert index.info().state == "READY"
        report = index.verify()
        assert report.ok, report.differences
    else:
        assert not (paths[1] / ".hoodie" / "hudiidx").exists()


def test_log_inserts_that_hudi_could_not_move_are_refused(stock_0_15: Any) -> None:
    options = {**OURS, **LOG_INSERTS, MOVES: "true"}
    stock_0_15.new(name="unmovable", kind="MOR", options=options)
    with pytest.raises(RuntimeError, match=r"InvalidOption: hudiidx\.write\.log\.inserts and"):
        stock_0_15.write(name="unmovable", first=0, end=8, seed=1)


def test_an_index_with_a_window_must_be_asked_for(spark: SparkSession, stock_1_2: Any) -> None:
    days = "hudiidx.record.window.days"
    path = stock_1_2.new(name="windowed", kind="COW", options={**OURS, "hudiidx.write.create": "true"})
    stock_1_2.write(name="windowed", first=0, end=8, seed=1, **{days: "3"})
    HudiIndex(spark, path).create(record="global", window_days=3)
    with pytest.raises(RuntimeError, match=r"InvalidOption: .*a window of 3 days"):
        stock_1_2.write(name="windowed", first=0, end=8, seed=2)
    stock_1_2.write(name="windowed", first=0, end=12, seed=3, **{days: "3"})
    keys = [k for _, _, group in stock_1_2.groups(name="windowed")["groups"] for k in group]
    assert sorted(keys) == [f"k{i:06d}" for i in range(12)]  # all were written in these days


GUARDED = {
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
    "hoodie.cleaner.policy.failed.writes": "LAZY",
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider",
}


@pytest.mark.slow
@pytest.mark.parametrize("version", each(of=SERVED))
def test_two_writers_at_once_stay_right_and_so_does_one_with_a_damaged_index(
    spark: SparkSession, request: pytest.FixtureRequest, version: str
) -> None:
    stock = request.getfixturevalue(version)
    name = f"two-writers-{version[-2:]}"
    options = {**OURS, **SYNCED, **GUARDED}
    path = Path(stock.new(name=name, kind="COW", options=options))
    stock.write(name=name, first=0, end=80, seed=1)
    # Row n is in partition n % 4: the first two batches share no file.
    apart = [{"first": 0, "end": 120, "seed": 2 + p, "only": f"id % 4 = {p}"} for p in (0, 1)]
    assert stock.write_at_once(name=name, batches=apart) == [None, None]
    assert_each_key_once(stock, name)
    # The next two update the same rows: both may win, one after the other, or one is told of the conflict.
    same = [{"first": 0, "end": 60, "seed": seed} for seed in (4, 5)]
    errors = [e for e in stock.write_at_once(name=name, batches=same) if e]
    assert len(errors) < 2
    assert all("onflict" in e for e in errors), errors
    for version_file in (path / ".hoodie" / "hudiidx" / "versions").glob("*.json"):
        version_file.write_text("damaged")
    stock.write(name=name, first=0, end=80, seed=6)  # finds every key, whatever has become of the index
    assert_each_key_once(stock, name)
    index = HudiIndex(spark, path, strict=True)
    assert index.info().state == "READY"
    report = index.verify()
    assert report.ok, report.differences


def assert_each_key_once(stock: Any, name: str) -> None:
    """Those below 80 and, in the first two partitions, those below 120."""
    keys = [k for _, _, group in stock.groups(name=name)["groups"] for k in group]
    assert sorted(keys) == [f"k{i:06d}" for i in range(120) if i < 80 or i % 4 < 2]


@pytest.mark.slow  # PlantedOptionsSuite holds what is ours, without stock Hudi's own merging
@pytest.mark.parametrize("version", each(of=SERVED))
def test_options_among_a_tables_properties_are_not_the_writers(
    request: pytest.FixtureRequest, tmp_path: Path, version: str
) -> None:
    stock, name = request.getfixturevalue(version), f"planted-{version[-2:]}"
    path = Path(stock.new(name=name, kind="COW", options=OURS))
    stock.write(name=name, first=0, end=8, seed=1)
    properties, checksum = (path / ".hoodie" / n for n in ("hoodie.properties", ".hoodie.properties.crc"))
    before = properties.read_text()
    assert "hudiidx.write.log.inserts" not in before
    # An option that the write gives with another value stock Hudi refuses itself.
    creates = f"hudiidx.index.path={tmp_path / 'elsewhere'}\nhudiidx.write.create=true"
    for planted in (creates, "hudiidx.write.global=false"):
        properties.write_text(f"{before}\n{planted}\n")
        checksum.unlink(missing_ok=True)
        with pytest.raises(RuntimeError, match=r"InvalidOption: .*hoodie\.properties: hudiidx\.") as refused:
            stock.write(name=name, first=0, end=8, seed=2)
        assert planted.split("=")[0] in str(refused.value)
        assert not any(tmp_path.iterdir())
    properties.write_text(before)
    checksum.unlink(missing_ok=True)
    stock.write(name=name, first=0, end=8, seed=3)
