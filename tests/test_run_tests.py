"""The closing line of the suites: what passed is counted, what failed is counted and named."""

import os
import re
from pathlib import Path

import pytest
import run_tests
import spark_lines

REPORT = """<testsuites><testsuite name="a.Suite" tests="4" failures="1" errors="1" skipped="1">
<testcase classname="a.Suite" name="passes"/>
<testcase classname="a.Suite" name="is skipped"><skipped/></testcase>
<testcase classname="a.Suite" name="finds 2"><failure message="1 was not 2&#10;at line 7"/></testcase>
<testcase classname="a.Suite" name="reads"><error>java.io.IOException: gone
at line 8</error></testcase>
</testsuite></testsuites>"""


def test_a_report_is_counted_and_its_failures_are_named(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(REPORT)
    counts = run_tests.read_reports([report])
    assert counts.passed == 1
    assert counts.failed == ("a.Suite finds 2: 1 was not 2", "a.Suite reads: java.io.IOException: gone")


@pytest.mark.parametrize("raw", [b"\0", b"\x1b", b"\xff", b"\xed\xa0\x80"])
def test_a_message_with_what_no_xml_holds_is_counted(tmp_path: Path, raw: bytes) -> None:
    report = tmp_path / "report.xml"
    report.write_bytes(REPORT.encode().replace(b"1 was", b"a" + raw + b"b was"))
    counts = run_tests.read_reports([report])
    assert (counts.passed, len(counts.failed)) == (1, 2)
    assert re.fullmatch("a.Suite finds 2: a\ufffd+b was not 2", counts.failed[0])


def test_a_suite_that_fails_outside_its_tests_is_named(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text('<testsuite name="a.Suite" tests="0" failures="0" errors="1" skipped="0"/>')
    assert run_tests.read_reports([report]) == run_tests.Counts(0, ("a.Suite (outside its tests)",))


@pytest.mark.parametrize("bytes_left", [0, 1, 100])
def test_a_report_that_is_cut_short_is_a_failure(tmp_path: Path, bytes_left: int) -> None:
    report = tmp_path / "report.xml"
    report.write_text(REPORT[:bytes_left])
    counts = run_tests.read_reports([report])
    assert counts.passed == 0
    assert re.fullmatch(r"report\.xml: .+ \(outside its tests\)", *counts.failed)


@pytest.mark.parametrize(("passed", "ok", "failures"), [(3, True, 0), (3, False, 1), (0, False, 1)])
def test_a_run_that_ends_badly_is_a_failure(passed: int, ok: bool, failures: int) -> None:
    assert len(run_tests.checked("suite", run_tests.Counts(passed), ok).failed) == failures


def test_every_line_but_that_of_the_environment_is_one_of_spark_4() -> None:
    sources = (run_tests.ROOT / "project" / "SparkVersions.scala").read_text()
    listed = re.search(r"val Lines: Seq\[SparkLine\] = Seq\((.*)\)", sources)
    assert listed and len(listed[1].split(",")) == 1 + len(spark_lines.others())
    assert all(line.startswith("4.") for line in spark_lines.others())


def test_temporary_files_are_in_memory_where_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_tests, "MEMORY", tmp_path)
    monkeypatch.setattr(run_tests, "ROOM_BYTES", 1)
    before = dict(os.environ), dict(run_tests.BRIEFLY)
    with run_tests.scratch():
        folder = Path(os.environ["TMPDIR"])
        assert folder.parent == tmp_path and folder.is_dir()
        assert run_tests.BRIEFLY["SPARK_SUBMIT_OPTS"].endswith(f" -Djava.io.tmpdir={folder}")
    assert (dict(os.environ), run_tests.BRIEFLY) == before and not folder.exists()
    monkeypatch.setattr(run_tests, "ROOM_BYTES", 1 << 60)
    with run_tests.scratch():
        assert (dict(os.environ), run_tests.BRIEFLY) == before


def test_suites_that_the_fast_form_leaves_out_are_there() -> None:
    engine = run_tests.ROOT / "jvm" / "engine" / "src" / "test"
    found = {f.stem for f in engine.rglob("*Suite.scala")}
    assert len(found) > 90 and set(run_tests.SLOW_ENGINE) < found
