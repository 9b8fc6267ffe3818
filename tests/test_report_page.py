"""The report's page as a real browser shows it: wide and narrow, light and dark."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import stored
from page_facts import large_facts
from pyspark.sql import SparkSession

from hudiidx import HudiIndex, Report

LOOK = Path(__file__).with_name("page") / "look.js"
VIEWS = [(1200, False), (400, False), (400, True)]
Seen = dict[tuple[str, int, bool], dict[str, Any]]


@pytest.fixture(scope="module")
def pages(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Of tables with logs and without, of one without index and writes, and of one as large as it gets."""
    into = tmp_path_factory.mktemp("pages")
    found = {"large": Report(large_facts()).save(into / "large.html")}
    for name in ("v9-mor-part", "v9-cow-part", "v9-props-only"):
        table = stored.load(name).unpack(into)
        index = HudiIndex(spark, table)
        if name != "v9-props-only":
            index.create(record="global", columns="*", bloom=["rider"])
        found[name] = index.report().save(into / f"{name}.html")
    return found


@pytest.fixture(scope="module")
def seen(pages: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Seen:
    keys = [(name, width, dark) for name in pages for width, dark in VIEWS]
    jobs = [{"file": str(pages[name]), "width": width, "dark": dark} for name, width, dark in keys]
    told = tmp_path_factory.mktemp("look") / "jobs.json"
    told.write_text(json.dumps(jobs))
    done = subprocess.run(["node", str(LOOK), str(told)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(zip(keys, json.loads(done.stdout), strict=True))


def test_nothing_is_asked_of_the_network_and_nothing_fails(pages: dict[str, Path], seen: Seen) -> None:
    for (name, _, _), view in seen.items():
        assert view["errors"] == []
        asked = [r for r in view["requests"] if not r.startswith("data:")]
        assert asked == [pages[name].as_uri()]


def test_every_chart_is_drawn_and_has_its_text(seen: Seen) -> None:
    expected = {
        "large": 5,  # files per partition, base sizes, logs per slice, log sizes, writes
        "v9-mor-part": 5,
        "v9-cow-part": 3,
        "v9-props-only": 0,
    }
    for (name, _, _), view in seen.items():
        assert len(view["charts"]) == expected[name]
        for chart in view["charts"]:
            assert chart["colors"] >= 3, chart  # bars, their text, the lines behind
            assert chart["role"] == "img" and chart["label"].startswith("Bar chart, ")
            assert chart["rows"] >= 1
            assert 0 < chart["width"] <= chart["room"] + 1


def test_every_picture_of_a_column_is_drawn_and_has_its_text(seen: Seen) -> None:
    for (name, _, _), view in seen.items():
        pictures = view["pictures"]
        assert bool(pictures) == (name != "v9-props-only")
        for picture in pictures:
            assert picture["role"] == "img" and picture["area"] > 0 and picture["height"] > 100
            assert re.search(r"a query for one value skips .* %", picture["title"])


def test_nothing_is_wider_than_the_window(seen: Seen) -> None:
    for key, view in seen.items():
        assert view["scrollWidth"] <= view["clientWidth"], key
        assert view["wide"] == [], key
        assert view["small"] == [], key


def test_dark_is_dark_and_light_is_light(seen: Seen) -> None:
    def light(rgb: str) -> float:
        return sum(map(int, re.findall(r"\d+", rgb)[:3])) / 3

    for (_, _, dark), view in seen.items():
        ground, ink = light(view["background"]), light(view["ink"])
        assert (ground < 60 and ink > 200) if dark else (ground > 230 and ink < 60)


def test_the_page_tells_what_the_facts_are(seen: Seen) -> None:
    view = seen["v9-mor-part", 1200, False]
    assert view["headings"] == [
        "What would help",
        "How values lie in the files",
        "Queries",
        "Files",
        "Compaction debt",
        "Timeline",
        "Index",
    ]
    assert "hudiidx compact-table" in view["text"]
    assert "Record index, global" in view["text"]
    assert "hudiidx create" in seen["v9-props-only", 400, False]["text"]
