"""The facts of a report, held against stock Hudi's listings, files' footers, and what is done to a table."""

import itertools
import json
import re
import subprocess
import sys
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import stored
from page_facts import HOSTILE, large_facts
from pyspark.sql import SparkSession

from hudiidx import HudiIndex, Report
from hudiidx.report.markup import moment
from hudiidx.report.page import page

MakeTable = Callable[[str], Path]
COMMAND = Path(sys.executable).with_name("hudiidx")


def run(*arguments: object, cwd: Path | None = None, code: int = 0) -> str:
    done = subprocess.run(
        [str(COMMAND), *map(str, arguments)], capture_output=True, text=True, check=False, cwd=cwd
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code == 0 else done.stderr


def counted(bins: list[dict[str, int]]) -> int:
    return sum(b["count"] for b in bins)


def expect_bins(bins: list[dict[str, int]], numbers: list[int]) -> None:
    """The numbers, each in its bin."""
    for b in bins:
        assert b["count"] == sum(b["from"] <= n <= b["last"] for n in numbers)
    assert counted(bins) == len(numbers)


@pytest.mark.parametrize("name", ["v6-mor-part", "v9-mor-part", "v9-cow-replace", "v8-mor-rollback"])
def test_files_are_those_that_stock_hudi_lists(spark: SparkSession, make_table: MakeTable, name: str) -> None:
    fixture, table = stored.load(name), make_table(name)
    index = HudiIndex(spark, table, strict=True)
    index.create()
    facts = index.report().facts
    files = facts["files"]
    slices = {p: fixture.slices(p, "latest_merged_file_slices") for p in fixture.partitions}
    flat = [s for of in slices.values() for s in of]
    bases = [s.base_file.size for s in flat if s.base_file]
    logs = [log.size for s in flat for log in s.log_files]
    assert (files["partitions"], files["slices"]) == (len(fixture.partitions), len(flat))
    assert (files["base_files"], files["base_bytes"]) == (len(bases), sum(bases))
    assert (files["log_files"], files["log_bytes"]) == (len(logs), sum(logs))
    assert files["slices_with_logs"] == sum(bool(s.log_files) for s in flat)
    everything = [n for p in fixture.partitions for n in fixture.sizes(p).values()]
    assert (files["files"], files["bytes"]) == (len(everything), sum(everything))
    expect_bins(files["base_sizes"], bases)
    expect_bins(files["log_sizes"], logs)
    expect_bins(files["logs_per_slice"], [len(s.log_files) for s in flat])
    read = {p: sum(bool(s.base_file) + len(s.log_files) for s in of) for p, of in slices.items()}
    expect_bins(files["files_per_partition"], [*read.values()])
    assert {p["partition_path"]: p["files"] for p in files["largest_partitions"]} == read
    most = max((len(s.log_files) for s in flat), default=0)
    assert [s["log_files"] for s in files["most_logged"]][:1] == ([most] if most else [])


def test_writes_are_those_of_the_commits(spark: SparkSession, make_table: MakeTable) -> None:
    fixture, table = stored.load("v9-mor-part"), make_table("v9-mor-part")
    facts = HudiIndex(spark, table).report().facts["timeline"]
    active = fixture.answers["active_timeline"]
    done = [i for i in active if i["state"] == "COMPLETED" and i["action"] in stored.WRITES]
    assert [w["instant_time"] for w in facts["writes"]] == [i["requested"] for i in done]
    assert facts["older_writes"] == 0
    waiting = [i for i in active if i["state"] != "COMPLETED"]
    assert [p["instant_time"] for p in facts["pending"]] == [i["requested"] for i in waiting]
    commits = {name.split("_")[0]: told for name, told in fixture.answers["commits"].items()}
    for w in facts["writes"]:
        stats = [s for of in commits[w["instant_time"]]["stats"].values() for s in of]
        # file id, path, previous commit, writes, inserts, updates, deletes
        assert w["files"] == len(stats)
        assert [w["inserts"], w["updates"], w["deletes"]] == [sum(s[i] for s in stats) for i in (4, 5, 6)]
        sizes = {f"{p}/{n}": size for p in fixture.partitions for n, size in fixture.sizes(p).items()}
        if all(s[1] in sizes for s in stats):
            assert w["bytes"] == sum(sizes[s[1]] for s in stats)
        assert w["seconds"] is None or w["seconds"] >= 0


def test_clustering_is_what_the_footers_say(spark: SparkSession, cow: Path) -> None:
    index = HudiIndex(spark, cow, strict=True)
    index.create(columns=["qty", "city", "id"])
    found = {c["column"]: c for c in index.report().facts["columns"]["bounds"]}
    assert set(found) == {"qty", "city", "id"}
    latest = [
        cow / s.partition_path / s.base_file.file_name
        for p in index.partitions()
        for s in index.latest_file_slices(p)
        if s.base_file
    ]
    for column, told in found.items():
        ranges = [r for f in latest if (r := footer_range(f, column))]
        ends = [e for r in ranges for e in r]
        assert told["slices"] == len(latest)
        assert told["unknown"] == 0
        assert told["deepest"] == max(sum(low <= e <= high for low, high in ranges) for e in ends)
        # Eight values of each range, evenly.
        places = [(number(low, ends), number(high, ends)) for low, high in ranges]
        values = [low + (high - low) * (n + 0.5) / 8 for low, high in places for n in range(8)]
        reading = [sum(low <= v <= high for low, high in places) for v in values]
        expected = 1 - sum(reading) / len(reading) / len(latest)
        assert told["skipped_of_one"] == pytest.approx(expected, abs=1e-4)
        assert (told["least"], told["greatest"]) == (str(min(ends)), str(max(ends)))
        assert len(told["grid"]) == min(32, len(ranges))
    # The table is partitioned by city.
    assert found["city"]["skipped_of_one"] > 0.7


def number(value: Any, ends: list[Any]) -> float:
    """Where a value lies; of a text what six bytes tell behind the beginning that all ends share."""
    if not isinstance(value, str):
        return float(value)
    alike = zip(*(e.encode() for e in ends), strict=False)
    common = sum(1 for _ in itertools.takewhile(lambda letters: len(set(letters)) == 1, alike))
    return float(int.from_bytes(value.encode()[common : common + 6].ljust(6, b"\0"), "big"))


def footer_range(file: Path, column: str) -> tuple[Any, Any] | None:
    """The least and the greatest value by the statistics of row groups."""
    meta = pq.ParquetFile(file).metadata
    at = meta.schema.names.index(column)
    stats = [meta.row_group(g).column(at).statistics for g in range(meta.num_row_groups)]
    known = [s for s in stats if s and s.has_min_max]
    return (min(s.min for s in known), max(s.max for s in known)) if known else None


def test_the_command_tells_what_python_tells_and_writes_the_page(
    spark: SparkSession, indexed: HudiIndex, tmp_path: Path
) -> None:
    told = json.loads(run("report", indexed.path, "--json"))
    here = dict(indexed.report().facts)
    for document in (told, here):
        assert document.pop("at_millis") > 1.7e12
        document["index"].pop("fallbacks")  # of each process its own
    assert told == here
    assert not list(tmp_path.glob("*.html"))
    said = run("report", indexed.path, "-o", tmp_path / "a.html", cwd=tmp_path).splitlines()
    assert said[0] == str(tmp_path / "a.html")
    assert len(said) == 1 + len(told["advice"])
    assert indexed.path in (tmp_path / "a.html").read_text(encoding="utf-8")
    run("report", indexed.path, cwd=tmp_path)
    assert (tmp_path / "report.html").is_file()
    assert "--output" in run("report", indexed.path, "-o", tmp_path, code=2)
    assert "NotAHudiTable" in run("report", tmp_path, code=3)


def test_help_has_examples() -> None:
    assert "hudiidx report /data/trips -o trips.html" in run("report", "--help")


def kinds(report: Report) -> dict[str, str]:
    return {a["kind"]: a["command"] for a in report.advice}


def test_advice_goes_by_the_state_of_table_and_index(spark: SparkSession, make_table: MakeTable) -> None:
    fixture, table = stored.load("v9-mor-part"), make_table("v9-mor-part")
    index = HudiIndex(spark, table)
    bare = index.report()
    assert bare.facts["index"]["state"] == "ABSENT" and bare.facts["fallback"] == "NO_INDEX"
    assert kinds(bare)["create"] == f"hudiidx create {table}"
    tail = fixture.tail()
    if tail:
        with stored.rewound(table, fixture, 1):
            index.create()
        assert kinds(index.report())["update"] == f"hudiidx update {table}"
    index.create()
    ready = kinds(index.report())
    assert ready["compact"] == f"hudiidx compact-table {table}"
    assert {"create", "update"}.isdisjoint(ready) and "read_history" in ready
    index.compact_table()
    after = index.report()
    assert "compact" not in kinds(after) and after.facts["files"]["log_files"] == 0


def test_advice_on_indexes_goes_by_the_scans_that_were_recorded(spark: SparkSession, cow: Path) -> None:
    index = HudiIndex(spark, cow)
    index.create(columns=["fare"], bloom=["rider"])
    trips = spark.read.format("hudiidx").option("hudiidx.read.history", "true").load(str(cow))
    for n in range(20):
        trips.where(f"qty > {n} and city = 'sf'").count()
    report = index.report()
    scans = report.facts["scans"]
    assert (scans["scans"], scans["fallbacks"], len(scans["shapes"])) == (20, 0, 1)
    shape = scans["shapes"][0]
    assert shape["scans"] == 20 and "qty > ?" in shape["filters"] and "sf" not in shape["filters"]
    assert (shape["partitions_kept"], shape["partitions_total"]) == (1, 4)
    in_sf = len([s for s in index.latest_file_slices("sf") if s.base_file])
    assert shape["files_kept"] == in_sf
    commands = [a["command"] for a in report.advice]
    assert f"hudiidx add-index {cow} qty" in commands
    assert f"hudiidx drop-index {cow} fare --kind range" in commands
    assert f"hudiidx drop-index {cow} rider --kind bloom" in commands
    assert "read_history" not in kinds(report)
    index.add_index("qty")
    index.drop_index("fare", kind="range")
    index.drop_index("rider", kind="bloom")
    assert {a["kind"] for a in index.report().advice}.isdisjoint({"add_index", "drop_index"})


def test_the_page_asks_no_network_and_holds_any_text(tmp_path: Path) -> None:
    text = page(large_facts())
    assert not re.search(r"""(?:src|href)\s*=\s*["']?(?!data:)[a-z]*:?//""", text)
    assert not re.search(r"url\(\s*[\"']?http", text) and "@import" not in text
    assert "default-src 'none'" in text
    assert HOSTILE not in text and text.count("</script>") == 3
    assert len(text.encode()) < 3_000_000
    report = Report(large_facts())
    assert report.save(tmp_path / "r.html").read_text(encoding="utf-8") == report.html()


def test_a_notebook_shows_the_page_in_a_frame_of_its_own() -> None:
    report = Report(large_facts())
    shown = report._repr_html_()
    frame = re.fullmatch(r'<iframe srcdoc="([^"]*)" title="[^"]*" style="[^"]*"></iframe>', shown)
    assert frame and unescape(frame[1]) == report.html()


def test_a_moment_outside_the_calendar_is_a_dash() -> None:
    assert moment(0) == "1970-01-01 00:00 UTC"
    for millis in (None, 2**63 - 1, -(2**63), 253402300800000, -62135596800001):
        assert moment(millis) == "–"  # noqa: RUF001
