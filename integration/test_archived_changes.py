"""Change data of a range whose commits the archive has, live: what stock Hudi gives, and what ours does."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from stock_hudi import NEWEST, OLDEST, RELEASES
from test_changes import BEGIN, TABLE, _ours, _rows

from hudiidx import InvalidOption

# Two commits stay; the rest is archived as soon as it may be.
ARCHIVING = {
    "hoodie.keep.min.commits": "2",
    "hoodie.keep.max.commits": "3",
    "hoodie.cleaner.commits.retained": "1",
    "hoodie.commits.archival.batch": "1",
    "hoodie.archive.automatic": "true",
    # Without these stock keeps what they did not yet take in.
    "hoodie.metadata.compact.max.delta.commits": "1",
    "hoodie.compact.inline.max.delta.commits": "1",
}


@pytest.mark.parametrize(
    ("release", "kind"),
    [
        pytest.param(name, kind, marks=() if (name, kind) == (NEWEST, "COW") else pytest.mark.slow)
        for name, kind in zip(RELEASES, ("MOR", "COW", "MOR", "COW"), strict=True)
    ],
)
def test_ranges_with_archived_commits_are_refused_by_name_and_later_ones_are_those_of_stock(
    spark: SparkSession, release: str, kind: str, request: pytest.FixtureRequest
) -> None:
    stock: Any = request.getfixturevalue(release)
    name = f"archived-changes-{kind}".lower()
    path = Path(stock.new(name=name, kind=kind, options=TABLE))
    written: list[str] = []
    while len(set(written) - set(stock.completed(name=name) if written else [])) < 2 and len(written) < 12:
        n = len(written)
        rows = {"first": n * 2, "end": n * 2 + 12, "seed": n + 2, "operation": "upsert" if n else "insert"}
        stock.write(name=name, **rows, **ARCHIVING)
        written.append(stock.completed(name=name)[-1])
    active = [at for at in stock.completed(name=name) if at in written]
    archived = [at for at in written if at not in active]
    assert len(archived) > 1 and len(active) > 1

    for begin in ("000", archived[0]):
        theirs = stock.change_data(name=name, options={BEGIN: begin})
        if release == OLDEST:
            assert {r[1] for r in theirs["rows"]} == set(active)
        else:
            assert "error" in theirs
        with pytest.raises(InvalidOption, match="is archived"):
            _ours(spark, path, begin)
    for begin in (archived[-1], active[0]):
        theirs = stock.change_data(name=name, options={BEGIN: begin})
        ours = _ours(spark, path, begin)
        assert {r[1] for r in ours} == {at for at in active if at > begin}
        if "rows" in theirs:
            exact = RELEASES[release].table_version == 9
            assert _rows(ours, exact) == _rows(theirs["rows"], exact)
