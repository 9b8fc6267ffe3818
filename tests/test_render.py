"""Answers as text: complete, and never wider than 80 columns."""

from io import StringIO

import pytest

from hudiidx import _json
from hudiidx.cli import render
from hudiidx.cli.terminal import Terminal

FILE_ID = "7779ef47-e5ad-408a-8ced-1450c8af6b08-0"
INSTANT = "20261120235039613"
FILE = {
    "partition_path": "sf",
    "file_id": FILE_ID,
    "file_name": f"{FILE_ID}_0-191-522_{INSTANT}.parquet",
    "kind": "base",
    "instant_time": INSTANT,
    "size": 9375,
}
SLICE = {
    "partition_path": "sf",
    "file_id": FILE_ID,
    "base_instant_time": INSTANT,
    "base_file": FILE,
    "log_files": [
        {"file_name": ".x", "size": 1024, "version": 1},
        {"file_name": ".y", "size": 1024, "version": 2},
    ],
}


@pytest.fixture
def out() -> Terminal:
    return Terminal(file=StringIO(), width=80)


def text(console: Terminal) -> str:
    shown = console.file.getvalue()
    assert max(map(len, shown.splitlines())) <= 80
    return shown


@pytest.mark.parametrize(
    ("n", "shown"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KB"), (9375, "9.2 KB"), (3 << 30, "3.0 GB"), (None, "-")],
)
def test_a_size_is_shown_for_people(n: int | None, shown: str) -> None:
    assert render.size(n) == shown


def test_files_are_grouped_by_partition(out: Terminal) -> None:
    render.files(out, [FILE, FILE, {**FILE, "partition_path": ""}], 3)
    shown = text(out)
    assert "sf: 2 files, 18.3 KB" in shown
    assert "(no partition): 1 file" in shown
    assert f"{FILE_ID}   base" in shown
    assert "3 files" in shown


def test_a_listing_cut_short_says_how_to_see_the_rest(out: Terminal) -> None:
    render.files(out, [FILE] * 4, 3)
    assert "the first 3 files; --limit N shows more, --json all" in text(out)


def test_a_slice_shows_base_and_logs(out: Terminal) -> None:
    render.slices(out, [SLICE, {**SLICE, "base_file": None, "log_files": []}], 2)
    shown = text(out)
    assert f"{FILE_ID}   {INSTANT}" in shown
    assert "2: 2.0 KB" in shown


def test_a_partition_path_is_shown_as_it_is(out: Terminal) -> None:
    render.partitions(out, ["[red]a", "b=1/c=%2F", ""], 3)
    assert text(out).splitlines() == ["[red]a", "b=1/c=%2F", '""']


def test_info_shows_bytes_by_kind_and_leaves_out_what_is_unknown(out: Terminal) -> None:
    render.info(
        out,
        {
            "state": "READY",
            "reason": None,
            "bytes_by_kind": {"master": 2048},
            "files": 1234567,
            "index_version": 1234,
        },
    )
    shown = text(out)
    assert "master 2.0 KB" in shown
    assert "1,234,567" in shown
    assert "1234 " in shown
    assert "reason" not in shown


def test_a_difference_is_shown_with_its_cause(out: Terminal) -> None:
    difference = {"kind": "missing file", "partition": "sf", "file": "a.parquet", "detail": "d", "cause": "c"}
    render.differences(out, [difference])
    shown = text(out)
    assert "missing file  sf/a.parquet" in shown
    assert "likely cause: c" in shown


def test_perf_shows_lists_of_rows_as_tables(out: Terminal) -> None:
    render.perf(
        out, {"table": "/t", "calls": [{"call": "partitions", "index_ms": 0.123, "listing_ms": 45.0}]}
    )
    shown = text(out)
    assert "table: /t" in shown
    assert "index ms" in shown
    assert "0.123" in shown


def test_a_report_of_verify_shows_files_keys_and_hudis_own_record_index(out: Terminal) -> None:
    sample = {"kind": "MAPPING_MISSING", "key": "k1", "partition": "sf", "file_id": FILE_ID}
    told = [{**sample, "detail": "a live record has the key, the index does not", "cause": "a lost delta"}]
    document = {
        "ok": False,
        "differences": [],
        "counts": {"files": 9, "partitions": 4},
        "record": {
            "ok": False,
            "counts": {"MAPPING_MISSING": 7, "MAPPING_EXTRA": 0},
            "samples": told,
            "keys": 520,
            "mappings": 513,
            "file_groups": 4,
            "overlaid_file_groups": 0,
            "seconds": 0.5,
        },
        "stock_record_index": {
            "skipped": "",
            "equal": 513,
            "only_in_hudi": {"KEY_NOT_THERE": 7, "GROUP_GONE": 0},
            "only_in_index": {},
            "samples": [{**told[0], "kind": "KEY_NOT_THERE"}],
        },
    }
    report = _json.verify_report(document)
    assert report.record is not None and report.record.samples[0].key == "k1"
    assert report.stock_record_index is not None and report.stock_record_index.skipped is None
    render.verified(out, report)
    shown = out.file.getvalue()
    for part in (
        "MAPPING_MISSING  k1",
        "a lost delta",
        "keys 520",
        "MAPPING_MISSING 7",
        "equal 513",
        "GROUP",
    ):
        assert (part in shown) == (part != "GROUP")
    plain = _json.verify_report({"ok": True, "differences": [], "counts": {"files": 9}})
    assert plain.record is None and plain.stock_record_index is None
