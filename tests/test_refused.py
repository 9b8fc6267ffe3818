"""A table that hudiidx does not read, as after an upgrade to version 10, is refused in every call of Python's
and in every command with one message, and its index stays as it is."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import stored
from pyspark.sql import DataFrame, SparkSession
from walked import Told, of_the_command_line, runner

import hudiidx
from hudiidx import HudiIndex, UnsupportedTable, Watcher, update_after

REFUSED = ", which hudiidx does not read, since "
# With words of the message.
PROPERTIES = {
    "hoodie.table.version=10": "version is 10",
    "hoodie.table.format=iceberg": "iceberg",
    "hoodie.table.storage.layout=lsm_tree": "lsm_tree",
    "hoodie.table.base.file.format=LANCE": "LANCE",
}
VIEWS = (
    "all_base_files",
    "latest_base_files",
    "all_file_groups",
    "all_file_slices",
    "latest_file_slices",
    "latest_uncompacted_file_slices",
    "latest_merged_file_slices",
    "files",
    "log_blocks",
)
QUERY = "rider is not null"

# Every public call of `HudiIndex`.
CALLS: dict[str, list[Callable[[HudiIndex], Any]]] = {
    **{
        view: [
            lambda i, v=view: list(iterated(getattr(i, v)("sf"))),
            lambda i, v=view: getattr(i, v)().collect(),
        ]
        for view in VIEWS
    },
    "partitions": [lambda i: i.partitions()],
    "prune": [lambda i: i.prune(QUERY).collect()],
    "arrow_dataset": [lambda i: i.arrow_dataset(QUERY)],
    "export_symlink_manifest": [
        lambda i: i.export_symlink_manifest(),
        lambda i: i.export_symlink_manifest(keep=True),
    ],
    "create": [lambda i: i.create(), lambda i: i.create(record="global", columns="*", logs=True)],
    "add_index": [
        lambda i: i.add_index("record"),
        lambda i: i.add_index("logs"),
        lambda i: i.add_index("fare"),
        lambda i: i.add_index("fare", wait=False),
    ],
    "drop_index": [
        lambda i: i.drop_index("record"),
        lambda i: i.drop_index("logs"),
        lambda i: i.drop_index("fare"),
    ],
    "lookup": [
        lambda i: i.lookup(["k"]),
        lambda i: i.lookup([1]),
        lambda i: i.lookup(["k"], rows=True),
    ],
    "tag_location": [lambda i: i.tag_location(i.spark.range(1), key="id").collect()],
    "update": [lambda i: i.update()],
    "compact_table": [
        lambda i: i.compact_table(),
        lambda i: i.compact_table(op="schedule"),
        lambda i: i.compact_table(op="execute"),
    ],
    "info": [lambda i: i.info()],
    "verify": [lambda i: i.verify(), lambda i: i.verify(record=True, columns=True)],
    "expire_index_versions": [lambda i: i.expire_index_versions(retain_last=1, older_than_minutes=0)],
    "recommend": [lambda i: i.recommend(), lambda i: i.recommend(QUERY)],
    "report": [lambda i: i.report()],
    "explain": [lambda i: i.explain(rows(i))],
    "why_not": [lambda i: i.why_not(rows(i))],
}
# The first two are as they were given; the index of any table is removed, and any handle closed.
OTHERS = {"path", "spark", "drop", "close"}


def rows(index: HudiIndex) -> DataFrame:
    return index.spark.read.format("hudiidx").load(index.path)


def iterated(found: Any) -> Any:
    return found.collect() if isinstance(found, DataFrame) else found


def test_every_call_is_here() -> None:
    assert set(CALLS) | OTHERS == {name for name in dir(HudiIndex) if not name.startswith("_")}
    assert not set(CALLS) & OTHERS
    functions = {n for n in hudiidx.__all__ if callable(getattr(hudiidx, n)) and n.islower()}
    assert functions == {"configure_spark", "update_after"}


@pytest.fixture(scope="module")
def ground(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    table = stored.load("v9-mor-part").unpack(tmp_path_factory.mktemp("refused"))
    index = HudiIndex(spark, table)
    index.create(record="global", columns="*", logs=True)
    index.add_index("rider", kind="bloom")
    index.export_symlink_manifest(read_optimized=True, keep=True)
    (table.parent / "keys.csv").write_text("id\nk\n")
    return table


def files(table: Path) -> dict[str, str]:
    return {
        str(f.relative_to(table)): hashlib.md5(f.read_bytes()).hexdigest()
        for f in sorted(table.rglob("*"))
        if f.is_file() and ".heartbeat" not in f.parts
    }


SHORT = ("hoodie.table.version=10", "hoodie.table.base.file.format=LANCE")


@pytest.fixture(
    params=[pytest.param(p, marks=() if p in SHORT else pytest.mark.slow, id=p) for p in PROPERTIES]
)
def refused(ground: Path, request: pytest.FixtureRequest) -> Any:
    """The table with one of the properties, and the words of the message."""
    properties = ground / ".hoodie" / "hoodie.properties"
    before = properties.read_bytes()
    properties.write_bytes(before + f"\n{request.param}\n".encode())
    yield ground, PROPERTIES[request.param]
    properties.write_bytes(before)


def one_message(told: dict[str, str], words: str) -> None:
    """From the file's name on, of all that was told by what told it."""
    assert {what: text for what, text in told.items() if words not in text or REFUSED not in text} == {}
    assert len({text[text.index("hoodie.properties: ") :] for text in told.values()}) == 1, told


def test_every_call_refuses_the_table_and_its_index_stays(
    spark: SparkSession, refused: tuple[Path, str]
) -> None:
    table, words = refused
    before = files(table)
    index = HudiIndex(spark, table)
    told = {}
    for name, calls in CALLS.items():
        for n, call in enumerate(calls):
            with pytest.raises(UnsupportedTable) as raised:
                call(index)
                pytest.fail(f"{name} {n}")
            told[f"{name} {n}"] = str(raised.value)
    for poll in Watcher(spark, [table]).run_once() + Watcher(spark, [table], create=True).run_once():
        assert isinstance(poll.error, UnsupportedTable)
        told[f"watch {len(told)}"] = str(poll.error)
    update_after(lambda df, n: None, table)(spark.range(1), 1)  # whose warning fails no stream
    one_message(told, words)
    assert files(table) == before


# Of each command what stands behind the table.
ARGUMENTS: dict[str, list[list[str]]] = {
    "create": [[], ["--record", "global", "--columns", "fare", "--logs"]],
    "add-index": [["record"], ["logs"], ["fare"], ["fare", "--no-wait"]],
    "drop-index": [["record"], ["logs"], ["fare"], ["rider", "--kind", "bloom"]],
    "update": [[]],
    "expire": [["--retain-last", "1", "--older-than-minutes", "0"]],
    "watch": [["--once"]],
    "compact-table": [[], ["--op", "schedule"]],
    "info": [[]],
    "partitions": [[], ["--strict"]],
    "files": [[], ["--partition", "sf"]],
    "slices": [[], ["--partition", "sf"]],
    "lookup": [["k"], ["k", "--rows"]],
    "log show": [[]],
    "log find": [["k"]],
    "prune": [[QUERY], ["rider = 'x'"]],
    "verify": [[], ["--record", "--columns"]],
    "perf": [[]],
    "report": [["-o", "OUT/report.html"]],
    "doctor": [[]],
    "tag": [["OUT/keys.csv", "--key", "id", "-o", "OUT/tagged.csv"]],
    "export symlink-manifest": [[], ["-o", "OUT/manifest"], ["--read-optimized", "--no-keep"]],
}
CODES = {"doctor": 5, "watch": 4}  # of a finding, and of a table of several that failed
NO_TABLES = {"jar", "drop"}  # the first is of no table, the second is done whatever the table is


def test_every_command_is_here() -> None:
    assert set(ARGUMENTS) | NO_TABLES == set(of_the_command_line())


@pytest.fixture
def run(
    spark: SparkSession, ground: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., Told]:
    monkeypatch.chdir(ground.parent)
    monkeypatch.setenv("COLUMNS", "1000")
    return runner(spark, monkeypatch, capfd)


def test_every_command_refuses_the_table_and_its_index_stays(
    run: Callable[..., Told], refused: tuple[Path, str]
) -> None:
    table, words = refused
    before, beside = files(table), sorted(table.parent.iterdir())
    log = next(f for f in table.rglob("*.log.*") if ".crc" not in f.name and ".hoodie" not in f.parts)
    told = {}
    for name, cases in ARGUMENTS.items():
        for case in cases:
            more = [a.replace("OUT", str(table.parent)) for a in case]
            at = str(log if name.startswith("log ") else table)
            answer = run(*name.split(), at, *more)
            assert answer.code == CODES.get(name, 3), (name, case, answer)
            told[" ".join([name, *case])] = one_line(answer)
    one_message(told, words)
    assert files(table) == before and sorted(table.parent.iterdir()) == beside


def one_line(told: Told) -> str:
    """What a command told of the table, without what `doctor` and `watch` put around it."""
    return next((line for line in (told.err + told.out).splitlines() if REFUSED in line), "").strip()


def test_a_drop_takes_the_index_away_all_the_same(
    spark: SparkSession, cow: Path, run: Callable[..., Told]
) -> None:
    properties = cow / ".hoodie" / "hoodie.properties"
    before = properties.read_text()
    for drop in (lambda: HudiIndex(spark, cow).drop(), lambda: run("drop", str(cow), "--yes").code == 0):
        properties.write_text(before)
        HudiIndex(spark, cow).create()
        properties.write_text(f"{before}\nhoodie.table.version=10\n")
        assert (cow / ".hoodie" / "hudiidx").is_dir()
        assert drop()
        assert not (cow / ".hoodie" / "hudiidx").exists()
