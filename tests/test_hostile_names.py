"""Every command, and every call of Python that tells something, over tables with hostile names throughout.

Tables are named, partitioned, keyed and filled by whoever writes to them; so are versions of their indexes.
What is told of them is text: no control character but the ends of its own lines, errors in one line, markup
as it stands.
"""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import stored
from hostile import HOSTILE, NAME, PARTITION, TOLD, assert_plain, hidden
from hostile_tables import COLUMN, FORGED, KEY, NEVER, SYMLINKS, WRITTEN, forge, log_in, renamed, write
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame, SparkSession
from walked import Told, no_json, not_one_line, of_the_command_line, runner

from hudiidx import HudiIdxException, HudiIndex, Report, Watcher
from hudiidx._text import shown


@pytest.fixture(scope="module")
def ground(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table of each type and a copy of the first whose index has a forged version."""
    folder = tmp_path_factory.mktemp("names") / NAME
    folder.mkdir()
    renamed(stored.load("v6-cow-part").unpack(folder)).rename(folder / "cow")
    write(spark, folder / "mor", 0)
    write(spark, folder / "mor", 1)
    HudiIndex(spark, folder / "mor").create(record="global", columns="*", logs=True)
    index = HudiIndex(spark, folder / "cow")
    index.create(record="global", columns=["fare", "upper(rider)"], bloom=["rider"])
    shutil.copytree(folder / "cow", folder / "forged")
    forge(spark, folder / "forged", FORGED)
    (folder / "keys.csv").write_text(f'id\n"{WRITTEN}"\n', newline="\n")
    return folder


@pytest.fixture
def fresh(ground: Path, tmp_path: Path) -> Iterator[Path]:
    """All of it for a test that changes it."""
    shutil.copy(ground / "keys.csv", tmp_path)
    yield shutil.copytree(ground, tmp_path / NAME)
    shutil.rmtree(tmp_path)


# Of each command what it is called with behind the table. `{}`: the hostile text.
ARGUMENTS: dict[str, list[list[str]]] = {
    "create": [
        ["--columns", "rider"],
        ["--columns", COLUMN],
        ["--record", "{}"],
        ["--index", "{}(a)"],
        ["--never", "{}"],
    ],
    "add-index": [["rider"], ["{}"], [COLUMN, "--kind", "{}"], ["upper('{}')"], ["rider", "--mode", "{}"]],
    "drop-index": [["rider"], ["{}"], [COLUMN, "--kind", "{}"], ["record"]],
    "update": [[]],
    "expire": [[]],
    "drop": [[], ["--yes"]],
    "watch": [["--once"], ["OUT/{}", "--once"], ["--once", "--tables-file", "{}"]],
    "compact-table": [["--op", "{}"], ["--partition", "{}"], []],
    "info": [[]],
    "partitions": [[], ["--strict"]],
    "files": [[], ["--partition", PARTITION], ["--partition", WRITTEN], ["--as-of", "{}"]],
    "slices": [[], ["--partition", "{}"], ["--as-of", "{}"]],
    "lookup": [["{}", "plain"], ["{}", "plain", "--rows"], ["--file", "{}"], ["a", "--partition", "{}"]],
    "log show": [[]],
    "log find": [["{}", "plain"]],
    "prune": [["true"], ["rider = '{}'"], ["`{}` = 1"], ["{}"]],
    "verify": [[], ["--record", "--columns"], ["--record", "--scratch", "OUT/{}"]],
    "perf": [[]],
    "report": [["-o", "OUT/{}.html"], ["-o", "OUT/{}/a/b"]],
    "doctor": [[]],
    "tag": [
        ["KEYS", "--key", "id", "-o", "OUT/tagged.csv", "--overwrite"],
        ["BESIDE/keys.csv", "--key", "id", "-o", "BESIDE/tagged.csv", "--overwrite"],
        ["KEYS", "--key", "{}", "-o", "OUT/tagged-{}"],
        ["{}", "--key", "id", "-o", "OUT/x"],
        ["OUT/{}.csv", "--key", "id", "-o", "OUT/x"],
        ["KEYS", "--key", "id", "-o", "OUT/y", "--partition-column", "{}"],
    ],
    "export symlink-manifest": [[], ["-o", "OUT/{}"], ["--read-optimized"]],
    "jar": [[], ["--writer"]],
}
# What removes or changes comes last, in this order.
LAST = ("drop-index", "compact-table", "create", "drop")
EVERYWHERE = (["--index-path", "nowhere://{}"], ["--{}"])


def test_every_command_is_walked() -> None:
    assert set(ARGUMENTS) == set(of_the_command_line())
    assert set(LAST) < set(ARGUMENTS)


@pytest.fixture
def run(
    spark: SparkSession, fresh: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., Told]:
    monkeypatch.chdir(fresh)
    monkeypatch.setenv("COLUMNS", "1000")  # texts are looked for in cells
    return runner(spark, monkeypatch, capfd)


def calls(folder: Path, which: str) -> Iterator[tuple[str, list[str]]]:
    """All calls of all commands with this table, each with its command."""
    known = of_the_command_line()
    for name in [*(n for n in ARGUMENTS if n not in LAST), *LAST]:
        takes = {option for p in known[name].params for option in p.opts}
        table = log_in(folder / "mor") if name.startswith("log ") else folder / which
        more = [rest for rest in EVERYWHERE if rest[0] in takes or rest[0] == "--{}"]
        for case in [*([*ARGUMENTS[name][0], *rest] for rest in more), *ARGUMENTS[name]]:
            given = [a.replace("KEYS", "OUT/keys.csv").replace("OUT", str(folder)) for a in case]
            given = [a.replace("BESIDE", str(folder.parent)) for a in given]
            given = [a.replace("{}", NAME if str(folder) in a else HOSTILE) for a in given]
            call = [*name.split(), *([] if name == "jar" else [str(table)]), *given]
            yield name, call
            if "--json" in takes:
                yield name, [*call, "--json"]


# What a table does not take: of its type, with ends of lines in names, or indexed by columns that it lacks.
NEVER_DONE = {
    "cow": {"compact-table", "export symlink-manifest"},
    "mor": {"export symlink-manifest"},
    "forged": {"compact-table", "create", "export symlink-manifest"},
}


@pytest.mark.parametrize("which", NEVER_DONE)
def test_every_command_shows_hostile_names_as_they_are(
    run: Callable[..., Told], fresh: Path, which: str
) -> None:
    wrong, done, failed = [], set(), set()
    for name, arguments in calls(fresh, which):
        told = run(*arguments)
        (done if told.code < 2 else failed).add(name)
        faults = [*hidden(told.out), *hidden(told.err), *not_one_line(told), *no_json(arguments, told)]
        if faults:
            wrong.append((arguments, told, faults))
    pages = list(fresh.glob("*.html"))
    for page in pages:
        assert_plain(page.read_text(encoding="utf-8"))
    assert not wrong, "\n".join(map(str, wrong))
    assert set(ARGUMENTS) - done == NEVER_DONE[which] and pages
    assert failed == set(ARGUMENTS)


def test_commands_tell_what_a_forged_version_says(run: Callable[..., Told], fresh: Path) -> None:
    """Before anything changes it: its indexes, the columns that it keeps out, the folder of its manifests."""
    table = str(fresh / "forged")
    told = run("info", table)
    assert told.code == 0 and shown(COLUMN) in told.out and shown(SYMLINKS) in told.out
    found = json.loads(run("info", table, "--json").out)
    assert found["state"] == "READY" and found["symlink_manifest"] == SYMLINKS
    assert any(COLUMN in c["columns"] and c["kind"] == "bloom" for c in found["columns"])
    assert shown(NEVER) in run("doctor", table).out
    refused = run("add-index", table, f"`{NEVER}`")
    assert refused.code > 1 and refused.err.count(shown(NEVER)) == 2
    assert run("export", "symlink-manifest", table).err.count(TOLD) == 1


def test_commands_tell_of_a_version_that_is_damaged(
    run: Callable[..., Told], spark: SparkSession, fresh: Path
) -> None:
    table = fresh / "cow"
    forge(spark, table, {**FORGED, "record.mode": HOSTILE})
    page = fresh / "page.html"
    for arguments in (["info"], ["doctor"], ["report", "-o", str(page)], ["partitions"], ["update"]):
        told = run(arguments[0], str(table), *arguments[1:])
        assert told.code == (5 if arguments[0] == "doctor" else 0), told
        assert not hidden(told.out + told.err)
        assert not not_one_line(told)
        assert arguments != ["info"] or f"record.mode={TOLD}" in told.out
    assert_plain(page.read_text(encoding="utf-8"))


# Every public call of `HudiIndex`, with what it is given.
CALLS: dict[str, list[Callable[[HudiIndex], Any]]] = {
    "path": [],  # as it was given
    "spark": [],
    "partitions": [lambda i: repr(i.partitions())],
    "prune": [lambda i: i.prune(f"rider = {literal(HOSTILE)}").count(), lambda i: i.prune(HOSTILE)],
    "files": [lambda i: i.files(where=HOSTILE), lambda i: i.files(HOSTILE), lambda i: i.files(as_of=HOSTILE)],
    **{
        name: [lambda i, n=name: getattr(i, n)(HOSTILE), lambda i, n=name: getattr(i, n)(PARTITION, HOSTILE)]
        for name in (
            *(
                "all_base_files",
                "latest_base_files",
                "all_file_groups",
                "all_file_slices",
                "latest_file_slices",
            ),
            *("latest_uncompacted_file_slices", "latest_merged_file_slices"),
        )
    },
    "log_blocks": [lambda i: i.log_blocks(HOSTILE).count(), lambda i: i.log_blocks(None, HOSTILE)],
    "arrow_dataset": [lambda i: i.arrow_dataset(HOSTILE), lambda i: i.arrow_dataset("true", HOSTILE)],
    "export_symlink_manifest": [
        lambda i: i.export_symlink_manifest(),
        lambda i: i.export_symlink_manifest(f"{i.path}/../{NAME}"),
    ],
    "create": [
        lambda i: i.create(columns=COLUMN),
        lambda i: i.create(record=HOSTILE),
        lambda i: i.create(never=HOSTILE),
    ],
    "add_index": [
        lambda i: i.add_index(COLUMN),
        lambda i: i.add_index("rider", kind=HOSTILE),
        lambda i: i.add_index(HOSTILE),
    ],
    "drop_index": [lambda i: i.drop_index(COLUMN), lambda i: i.drop_index("rider", kind=HOSTILE)],
    "lookup": [
        lambda i: i.lookup([HOSTILE]),
        lambda i: i.lookup([HOSTILE], PARTITION, HOSTILE),
        lambda i: i.lookup({HOSTILE: 1}),
        lambda i: i.lookup([{HOSTILE: 1}]),
        lambda i: i.lookup(HOSTILE),
    ],
    "update": [lambda i: i.update()],
    "compact_table": [lambda i: i.compact_table(op=HOSTILE), lambda i: i.compact_table(partitions=[HOSTILE])],
    "info": [lambda i: str(i.info())],
    "close": [lambda i: i.close()],
    "verify": [
        lambda i: i.verify(record=True, columns=True),
        lambda i: i.verify(scratch=f"{i.path}/../{NAME}", record=True),
    ],
    "expire_index_versions": [lambda i: i.expire_index_versions(retain_last=1)],
    "drop": [],
    "tag_location": [
        lambda i: i.tag_location(keys(i), key="k").count(),
        lambda i: i.tag_location(keys(i), key=HOSTILE),
        lambda i: i.tag_location(keys(i), key="k", partition=HOSTILE),
    ],
    "explain": [
        lambda i: i.explain(rows(i).where(f"rider = {literal(HOSTILE)}")),
        lambda i: i.explain(HOSTILE),
    ],
    "why_not": [
        lambda i: i.why_not(rows(i).where(f"rider = {literal(HOSTILE)}")),
        lambda i: i.why_not(rows(i)),
    ],
    "recommend": [
        lambda i: i.recommend(f"rider = {literal(HOSTILE)}"),
        lambda i: i.recommend(HOSTILE),
        lambda i: i.recommend(f"SELECT {literal(HOSTILE)}"),
    ],
    "report": [lambda i: i.report().html(), lambda i: i.report()._repr_html_(), lambda i: repr(i.report())],
}


def literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def rows(index: HudiIndex) -> DataFrame:
    return index.spark.read.format("hudiidx").load(index.path)


def keys(index: HudiIndex) -> DataFrame:
    return index.spark.createDataFrame([(KEY,)], "k string")


def test_every_call_is_walked() -> None:
    assert set(CALLS) == {name for name in dir(HudiIndex) if not name.startswith("_")}


@pytest.mark.parametrize("which", ["cow", "mor", "forged"])
def test_every_call_tells_hostile_names_as_they_are(
    spark: SparkSession, fresh: Path, logged: Path, which: str
) -> None:
    index = HudiIndex(spark, fresh / which)
    told: list[object] = [index]
    for call in (c for calls in CALLS.values() for c in calls):
        try:
            told.append(call(index))
        except HudiIdxException as e:
            assert "\n" not in str(e)
            told.append(str(e))
        except (TypeError, ValueError) as e:
            told.append(str(e))
        except (AnalysisException, ParseException) as e:  # Spark's, which holds names as they are
            told.append(repr(e))
    texts = [t if isinstance(t, str) else repr(t) for t in told]
    assert len(texts) > 40
    for text in [*texts, logged.read_text(encoding="utf-8") if logged.exists() else ""]:
        assert_plain(text)
    plan = rows(index).where("n = 1")._jdf.queryExecution().executedPlan().toString()
    assert_plain(plan)


@pytest.mark.parametrize("hostile", [HOSTILE, "9" * 400, "-1", "", "\0"])
def test_every_property_of_a_version_may_be_hostile(
    spark: SparkSession, fresh: Path, logged: Path, hostile: str
) -> None:
    """Each alone, under the right checksum."""
    table = fresh / "cow"
    versions = table / ".hoodie" / "hudiidx" / "versions"
    kept = {f.name: f.read_bytes() for f in versions.glob("*.json")}
    names = list(json.loads(kept[max(kept)])["properties"])
    assert len(names) > 12
    for name in names:
        forge(spark, table, {name: hostile})
        index = HudiIndex(spark, table)
        for call in (
            index.info,
            index.partitions,
            lambda i=index: i.explain(rows(i).where("fare > 5")),
            index.report,
        ):
            try:
                found = call()
                assert_plain(found if isinstance(found, str) else repr(found))
                assert_plain(
                    found.html() if isinstance(found, Report) else str(found) if call == index.info else ""
                )
            except HudiIdxException as e:
                assert_plain(str(e))
                assert "\n" not in str(e)
        (poll,) = Watcher(spark, [table]).run_once()
        assert_plain(str(poll))
        assert "\n" not in str(poll)
        for file in versions.glob("*.json"):
            file.unlink()
        for file, content in kept.items():
            (versions / file).write_bytes(content)
    assert_plain(logged.read_text(encoding="utf-8"))
