"""The laws as a user meets them, over damage and lag drawn at random."""

import tempfile
from pathlib import Path

import stored
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from hudiidx import DamagedIndex, HudiIndex, IndexNotFound, StaleIndex
from hudiidx.cli import render
from hudiidx.options import resolve

TABLES = ("v6-cow-part", "v6-mor-part", "v8-mor-part", "v9-cow-replace", "v9-mor-part")
CALLS = (*stored.BASE_FILE_CALLS, *stored.SLICE_CALLS)
JVM = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def expected(fixture: stored.Fixture, call: str, partition: str) -> list[object]:
    get = fixture.base_files if call in stored.BASE_FILE_CALLS else fixture.slices
    return list(get(partition, call))


@JVM
@given(
    name=st.sampled_from(TABLES),
    which=st.integers(0, 1000),
    at=st.floats(0, 1, exclude_max=True),
    mask=st.integers(1, 255),
    call=st.sampled_from(CALLS),
)
def test_one_flipped_byte_of_the_index_changes_no_answer(
    spark: SparkSession, name: str, which: int, at: float, mask: int, call: str
) -> None:
    """Law 5, derived: lenient answers stay right; strict ones stay right or are refused."""
    fixture = stored.load(name)
    with tempfile.TemporaryDirectory() as folder:
        table = fixture.unpack(Path(folder))
        HudiIndex(spark, table).create()
        files = sorted(
            f for f in (table / ".hoodie/hudiidx").rglob("*") if f.is_file() and f.suffix != ".crc"
        )
        victim = files[which % len(files)]
        content = bytearray(victim.read_bytes())
        content[int(at * len(content))] ^= mask
        victim.with_name(f".{victim.name}.crc").unlink(missing_ok=True)
        victim.write_bytes(content)
        for p in fixture.partitions:
            assert getattr(HudiIndex(spark, table), call)(p) == expected(fixture, call, p)
        try:
            for p in fixture.partitions:
                assert getattr(HudiIndex(spark, table, strict=True), call)(p) == expected(fixture, call, p)
        except (DamagedIndex, StaleIndex, IndexNotFound):
            pass


@JVM
@given(name=st.sampled_from(TABLES), lags=st.lists(st.integers(0, 2), min_size=1, max_size=3))
def test_any_lag_and_any_number_of_updates_give_the_answers_of_a_rebuild(
    spark: SparkSession, name: str, lags: list[int]
) -> None:
    """Law 4, never stale: created while some writes had not completed, asked and updated in any order."""
    fixture = stored.load(name)
    with tempfile.TemporaryDirectory() as folder:
        table = fixture.unpack(Path(folder))
        lags = sorted((min(n, fixture.tail()) for n in lags), reverse=True)
        for i, lag in enumerate(lags):
            with stored.rewound(table, fixture, lag):
                index = HudiIndex(spark, table, source="listing")
                index.update() if i else index.create()
        overlaid = HudiIndex(spark, table, strict=True)
        for p in fixture.partitions:
            for call in CALLS:
                assert getattr(overlaid, call)(p) == expected(fixture, call, p), (call, p)
        overlaid.update()
        for p in fixture.partitions:
            for call in CALLS:
                assert getattr(overlaid, call)(p) == expected(fixture, call, p), (call, p)


@given(st.integers(0, 1 << 60))
def test_a_size_takes_at_most_nine_characters(n: int) -> None:
    assert len(render.size(n)) <= 9


@given(st.dictionaries(st.from_regex(r"(hudiidx\.|spark\.)[a-z.]{1,9}", fullmatch=True), st.text(max_size=5)))
def test_options_pass_on_exactly_what_is_ours(conf: dict[str, str]) -> None:
    assert resolve(conf, {}) == {k: v for k, v in conf.items() if k.startswith("hudiidx.")}
