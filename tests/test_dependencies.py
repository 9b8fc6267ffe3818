"""docs/dependencies.md: what comes with hudiidx, and under which licences."""

from pathlib import Path

import dependencies_page

ROOT = Path(__file__).parents[1]


def test_the_page_is_what_is_installed_and_built() -> None:
    page = dependencies_page.PAGE.read_text(encoding="utf-8")
    assert dependencies_page.with_tables(page) == page, "run scripts/dependencies_page.py"


def test_every_jar_and_package_has_a_licence_that_ours_goes_with() -> None:
    rows = [*dependencies_page.hive_jars(), *dependencies_page.packages(), *dependencies_page.pages()]
    assert len(rows) > 20
    allowed = {"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "PSF-2.0"}
    for name, version, licence in rows:
        assert version[0].isdigit() and {*licence.split(" AND ")} <= allowed, (name, version, licence)


def test_what_the_jar_for_hive_holds_is_in_the_notice() -> None:
    notice = (ROOT / "NOTICE").read_text().lower()
    for word in ("avro", "parquet", "jackson", "aircompressor", "scala", "jts", "uplot"):
        assert word in notice
