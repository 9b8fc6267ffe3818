"""Compares an index's answers with stock Hudi's."""

from pathlib import Path
from typing import Any

import hudifix
import pytest
import stored
from figures import figure
from pyspark.sql import DataFrame, SparkSession

from hudiidx import HudiIndex, UnsupportedTable

# Times in arrays that read-optimized queries of stock 1.1.1 leave under the wrong unit's label. Outside of
# arrays, and in all other queries, it repairs them, as hudiidx does everywhere.
UNREPAIRED = {"v9-relabelled-mor": "many"}


def assert_listings(index: HudiIndex, fixture: stored.Fixture) -> None:
    """Partitions, files and all seven views, call by call on every partition."""
    assert index.partitions() == fixture.partitions
    files: dict[str, dict[str, int]] = {p: {} for p in fixture.partitions}
    for row in index.files().collect():
        files[row.partition_path][row.file_name] = row.size
    for p in fixture.partitions:
        assert files[p] == fixture.sizes(p), p
        for call in stored.BASE_FILE_CALLS:
            assert by_id(getattr(index, call)(p)) == fixture.base_files(p, call), (call, p)
        for call in stored.SLICE_CALLS:
            assert by_id(getattr(index, call)(p)) == fixture.slices(p, call), (call, p)
        assert by_id(index.all_file_groups(p)) == fixture.file_groups(p), p


def by_id(found: list[Any]) -> list[Any]:
    return sorted(
        found,
        key=lambda x: (x.file_id, getattr(x, "base_instant_time", "") or getattr(x, "instant_time", "")),
    )


def assert_rows(
    spark: SparkSession, table: Path, fixture: stored.Fixture, travels: int | None = 2, **options: str
) -> None:
    """All rows by count and checksum, and as of the last instants that stock still answers for, or of all."""

    def rows(**more: str) -> DataFrame:
        return spark.read.format("hudiidx").options(**options, **more).load(str(table))

    if not fixture.copy_on_write:
        found = rows(**{"hoodie.datasource.query.type": "read_optimized"})
        unrepaired = UNREPAIRED.get(fixture.name)
        expect_answer(
            as_labelled(found, table, unrepaired) if unrepaired else found, fixture.answers["read_optimized"]
        )
    if fixture.merged_by_hudi:
        with pytest.raises(UnsupportedTable, match="payload class"):
            rows()
        return
    expect_answer(rows(), fixture.answers["snapshot"])
    answered = [t for t in fixture.answers.get("time_travel", []) if "error" not in t]
    for travel in answered[-travels:] if travels else answered:
        expect_answer(rows(**{"as.of.instant": travel["as_of"]}), travel)


def assert_incremental(spark: SparkSession, table: Path, fixture: stored.Fixture, **options: str) -> None:
    """The rows of each range that stock answered for."""
    for query in fixture.answers.get("incremental", []):
        if "error" in query:
            continue
        begin = {"hoodie.datasource.read.begin.instanttime": query["begin"]} if query["begin"] else {}
        end = {"hoodie.datasource.read.end.instanttime": query["end"]} if query["end"] else {}
        asked = {**options, "hoodie.datasource.query.type": "incremental", **begin, **end}
        expect_answer(spark.read.format("hudiidx").options(**asked).load(str(table)), query)


def assert_filters(spark: SparkSession, table: Path, fixture: stored.Fixture, **options: str) -> None:
    """How many rows each filter has that stock was asked."""
    for query in fixture.answers["filters"]:
        rows = spark.read.format("hudiidx").options(**options).load(str(table)).where(query["where"])
        assert rows.count() == query["count"], query["where"]


def as_labelled(rows: DataFrame, table: Path, column: str) -> DataFrame:
    """The rows with a column as base files label it. For tables of one commit that wrote base files."""
    files = [str(f) for f in table.rglob("*.parquet") if ".hoodie" not in f.parts]
    raw = rows.sparkSession.read.schema(rows.schema).parquet(*files)
    labelled = raw.select("_hoodie_record_key", raw[column].alias("labelled"))
    found = rows.join(labelled, "_hoodie_record_key")
    return found.select(*[found["labelled"].alias(c) if c == column else found[c] for c in rows.columns])


def expect_answer(frame: DataFrame, expected: dict[str, Any]) -> None:
    """Count and checksums, as the fixtures' README defines them."""
    figure("answers compared with stock Hudi's")
    got = hudifix.answer(frame)[1]
    wanted = {k: expected[k] for k in ("count", "checksum", "checksum_data") if k in expected}
    assert {k: got[k] for k in wanted} == wanted
