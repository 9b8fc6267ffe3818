"""Record keys are found where stock Hudi says: fresh, stale and updated indexes, and what is no key."""

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
import stored
from compare import figure
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from located import FIXTURES
from pyspark.sql import SparkSession

from hudiidx import HudiIndex, IndexNotFound, InvalidOption, RecordLocations

MakeTable = Callable[[str], Path]


def places(found: RecordLocations) -> list[tuple[str, str, str]]:
    return sorted((x.key, x.partition_path, x.file_id) for x in found)


def base_instants(index: HudiIndex, partitions: set[str]) -> dict[tuple[str, str], str]:
    slices = [s for p in partitions for s in index.latest_merged_file_slices(p)]
    return {(s.partition_path, s.file_id): s.base_instant_time for s in slices}


def assert_found(index: HudiIndex, fixture: stored.Fixture) -> None:
    """Every key where stock has it, each with its slice's base instant, and no key that is not there."""
    wanted = fixture.key_locations()
    keys = sorted({key for key, _, _ in wanted})
    found = index.lookup([*keys, "no such key", ""])
    assert places(found) == wanted
    figure("keys located as stock Hudi has them", len(keys))
    assert found.missing == ("no such key", "")
    since = base_instants(index, {x.partition_path for x in found})
    assert all(x.instant_time == since[x.partition_path, x.file_id] for x in found)


@pytest.mark.parametrize("name", FIXTURES)
def test_every_key_is_found_where_stock_has_it_while_the_index_lags_and_after_an_update(
    spark: SparkSession, make_table: MakeTable, name: str
) -> None:
    fixture, table = stored.load(name), make_table(name)
    index = HudiIndex(spark, table, strict=True)
    with stored.rewound(table, fixture, min(fixture.tail(), 2)):
        HudiIndex(spark, table, source="listing").create(record="global", file_groups=2)
        index.lookup(["k"])
    assert_found(index, fixture)
    index.update()
    assert_found(index, fixture)


@pytest.mark.parametrize("name", ["v6-virtual-cow", "v9-virtual-mor"])
def test_keys_that_are_not_stored_are_made_of_their_fields(
    spark: SparkSession, make_table: MakeTable, name: str
) -> None:
    rows = [json.loads(row) for row in stored.load(name).answers["snapshot"]["rows"]]
    index = HudiIndex(spark, make_table(name), strict=True)
    index.create(record="global")
    found = index.lookup(row["id"] for row in rows)
    assert [(x.key, x.partition_path) for x in found] == [(row["id"], row["city"]) for row in rows]
    assert index.lookup([(rows[0]["id"],), {"id": rows[0]["id"]}]) == [found[0]] * 2


def test_without_a_record_index_keys_are_read_from_files_and_strict_refuses(
    spark: SparkSession, cow: Path
) -> None:
    fixture = stored.load(cow.name)
    assert_found(HudiIndex(spark, cow), fixture)
    strict = HudiIndex(spark, cow, strict=True)
    with pytest.raises(IndexNotFound, match="hudiidx create"):
        strict.lookup(["k"])
    strict.create()
    with pytest.raises(IndexNotFound, match="hudiidx add-index"):
        strict.lookup(["k"])
    assert_found(HudiIndex(spark, cow), fixture)


def test_a_record_index_comes_and_goes_and_info_tells(spark: SparkSession, indexed: HudiIndex) -> None:
    assert indexed.info().record is None
    files = indexed.info().bytes_by_kind
    done = indexed.add_index("record", mode="partitioned", window_days=9, file_groups=3)
    assert done["published"]
    told = indexed.info().record
    assert told is not None
    assert (told.mode, told.window_days, told.file_groups, told.base_files) == ("partitioned", 9, 3, 3)
    assert told.mappings == len(stored.load("v9-cow-part").key_locations())
    assert told.size == sum(v for k, v in indexed.info().bytes_by_kind.items() if k.startswith("record_"))
    indexed.create()
    kept = indexed.info().record
    assert kept is not None
    assert (kept.mode, kept.window_days) == ("partitioned", 9)
    indexed.add_index("record", mode="global")
    assert indexed.info().record != kept
    assert indexed.drop_index("record")["published"]
    assert not indexed.drop_index("record")["published"]
    assert indexed.info().bytes_by_kind.keys() == files.keys()


def test_answers_stand_in_the_order_of_the_keys_and_of_one_partition_if_asked(moved: HudiIndex) -> None:
    known = [key for key, _, _ in stored.load("v9-moved-mor").key_locations()][:20]
    asked = [*reversed(known), "x", known[3], "x"]
    found = moved.lookup(asked)
    assert isinstance(found, list)
    assert [x.key for x in found] == [k for k in asked if k != "x"]
    assert found.missing == ("x",)
    assert found.window_days is None
    assert found == moved.lookup(k for k in asked)
    here = found[0].partition_path
    inside = moved.lookup(asked, partition=here)
    assert list(inside) == [x for x in found if x.partition_path == here]
    assert {*inside.missing} == {*asked} - {x.key for x in inside}
    assert moved.lookup([]) == []
    assert list(moved.lookup(asked * 100)) == list(found) * 100
    assert moved.lookup(asked, partition="nowhere") == []


def test_as_of_an_instant_keys_are_where_the_rows_were(spark: SparkSession, moved: HudiIndex) -> None:
    travels = [t for t in stored.load("v9-moved-mor").answers["time_travel"] if "count" in t]
    keys = sorted({key for key, _, _ in stored.load("v9-moved-mor").key_locations()})
    without = HudiIndex(spark, moved.path, **{"hudiidx.index.enabled": "false"})
    for t in travels:
        found = moved.lookup(keys, as_of=t["as_of"])
        assert list(found) == list(without.lookup(keys, as_of=t["as_of"]))
        assert all(x.instant_time <= t["as_of"] for x in found)
    assert moved.lookup(keys, as_of=travels[-1]["as_of"]) == moved.lookup(keys)
    with pytest.raises(InvalidOption, match="not an instant"):
        moved.lookup(keys, as_of="yesterday")


def test_an_instant_whose_files_were_cleaned_is_refused(indexed: HudiIndex) -> None:
    indexed.add_index("record")
    with pytest.raises(InvalidOption, match="earliest instant"):
        indexed.lookup(["k"], as_of="20200101000000000")


def test_keys_of_several_fields_may_be_tuples_or_dicts(complex_keys: HudiIndex) -> None:
    key, partition, file_id = stored.load("v9-cow-complex").key_locations()[0]
    values = dict(part.split(":", 1) for part in key.split(",", 1))
    assert list(values) == ["id", "sub"]
    (found,) = complex_keys.lookup([key])
    assert (found.key, found.partition_path, found.file_id) == (key, partition, file_id)
    swapped = {name: values[name] for name in reversed(values)}
    assert complex_keys.lookup([tuple(values.values()), values, swapped]) == [found] * 3
    for wrong in ((1,), {"id": 1}, {"id": 1, "sub": 2, "x": 3}):
        with pytest.raises(ValueError, match="key fields are id, sub"):
            complex_keys.lookup([wrong])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="id:…,sub:…"):
        complex_keys.lookup([7])


def test_key_fields_are_those_of_the_table_that_is_there(spark: SparkSession, make_table: MakeTable) -> None:
    """A handle outlives a table whose keys had other fields."""
    place = make_table("v9-cow-complex")
    index = HudiIndex(spark, place)
    key, _, file_id = stored.load("v9-cow-complex").key_locations()[0]
    values = dict(part.split(":", 1) for part in key.split(",", 1))
    assert [(at.key, at.file_id) for at in index.lookup([values])] == [(key, file_id)]
    place.rename(place.with_name("before"))
    make_table("v9-cow-part").rename(place)
    key, _, file_id = stored.load("v9-cow-part").key_locations()[0]
    assert [(at.key, at.file_id) for at in index.lookup([{"id": key}])] == [(key, file_id)]
    with pytest.raises(ValueError, match="key fields are id"):
        index.lookup([values])


def test_what_is_no_key_is_refused(moved: HudiIndex) -> None:
    for wrong in ("k", b"k", {"id": 1}, 7, None):
        with pytest.raises(TypeError, match="keys must be a list"):
            moved.lookup(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="pass the record key as text"):
        moved.lookup([1.5])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="partition must be"):
        moved.lookup(["k"], partition=7)  # type: ignore[arg-type]
    assert moved.lookup([7, True, date(2026, 1, 2)]).missing == ("7", "true", "2026-01-02")


def test_options_of_the_record_index_are_checked(spark: SparkSession, cow: Path) -> None:
    index = HudiIndex(spark, cow)
    with pytest.raises(IndexNotFound, match="hudiidx create"):
        index.add_index("record")
    with pytest.raises(InvalidOption, match="global"):
        index.create(window_days=3)
    with pytest.raises(InvalidOption, match="global, partitioned"):
        index.create(record="local")
    with pytest.raises(InvalidOption, match="whole number"):
        index.create(record="global", window_days=0)
    with pytest.raises(InvalidOption, match="file_groups: needs a int"):
        index.create(record="global", file_groups="many")  # type: ignore[arg-type]


def test_a_miss_in_a_window_is_told(spark: SparkSession, make_table: MakeTable) -> None:
    index = HudiIndex(spark, make_table("v9-mor-part"), strict=True)
    index.create(record="global", window_days=1)
    found = index.lookup(["absent"])
    assert (found, found.missing, found.window_days) == ([], ("absent",), 1)


@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    strange=st.lists(
        st.one_of(
            st.text(max_size=40),
            st.text(st.characters(), max_size=20),
            st.integers(-(2**70), 2**70).map(str),
            st.uuids().map(lambda u: str(u).upper()),
            st.binary(max_size=30).map(lambda b: b.decode("latin-1")),
            st.just("k" * 100_000),
        ),
        max_size=30,
    ),
    known=st.lists(st.integers(0, 10**6), max_size=10),
    data=st.data(),
)
def test_any_text_is_a_key_and_never_takes_anothers_place(
    moved: HudiIndex, strange: list[str], known: list[int], data: st.DataObject
) -> None:
    wanted = stored.load("v9-moved-mor").key_locations()
    keys = [wanted[n % len(wanted)][0] for n in known]
    asked = data.draw(st.permutations([*strange, *keys]))
    found = moved.lookup(asked)
    assert [x.key for x in found] == [k for k in asked if k in keys]
    assert set(found.missing) == set(strange) - set(keys)
    assert {(x.key, x.partition_path, x.file_id) for x in found} <= set(wanted)


def test_a_lookup_tells_what_it_did_and_an_index_that_is_behind_costs_one_reading(
    spark: SparkSession, make_table: MakeTable
) -> None:
    fixture, table = stored.load("v9-mor-part"), make_table("v9-mor-part")
    keys = [key for key, _, _ in fixture.key_locations()][:50]
    index = HudiIndex(spark, table, strict=True)
    with stored.rewound(table, fixture, min(fixture.tail(), 2)):
        HudiIndex(spark, table, source="listing").create(record="global", file_groups=2)
    first, second = (index.lookup([*keys, "absent"]) for _ in range(2))
    assert list(first) == list(second)
    for found in (first, second):
        work = found.work
        assert work is not None
        assert (work.keys, work.hits, work.misses) == (len(keys) + 1, len(keys), 1)
        assert (work.groups_opened, work.index_version, work.fallback) == (2, 1, None)
        assert work.pages_decoded >= 2
    assert first.work and second.work
    assert first.work.bytes_read > 0
    assert first.work.files_opened == 2
    assert (second.work.bytes_read, second.work.files_opened) == (0, 0)
    assert first.work.slices_read == second.work.slices_kept > 0
    assert first.work.slices_kept == second.work.slices_read == 0
    index.update()
    fresh = index.lookup(keys).work
    assert fresh is not None
    assert (fresh.slices_read, fresh.slices_kept, fresh.hits) == (0, 0, len(keys))
    without = HudiIndex(spark, table, **{"hudiidx.index.enabled": "false"}).lookup(keys)
    assert list(without) == list(index.lookup(keys))
    assert without.work is not None
    assert (without.work.index_version, without.work.fallback) == (None, "DISABLED")


def test_a_damaged_record_index_costs_time_and_no_location(spark: SparkSession, cow: Path) -> None:
    fixture = stored.load(cow.name)
    HudiIndex(spark, cow).create(record="global", file_groups=1)
    (base,) = (cow / ".hoodie/hudiidx").glob("*.record_base")
    content = bytearray(base.read_bytes())
    content[len(content) // 3] ^= 1
    base.write_bytes(content)
    index = HudiIndex(spark, cow)
    assert_found(index, fixture)
    assert index.info().fallbacks == {"DAMAGED_RECORD_INDEX": 1}
    index.add_index("record")
    assert_found(HudiIndex(spark, cow, strict=True), fixture)


def test_a_closed_handle_holds_no_file_of_the_index_and_a_later_call_opens_them_again(
    spark: SparkSession, indexed: HudiIndex
) -> None:
    pid = spark._jvm.java.lang.ProcessHandle.current().pid()

    def held() -> int:
        links = [p.resolve() for p in Path(f"/proc/{pid}/fd").iterdir()]
        return sum(f"{indexed.path}/.hoodie/hudiidx/" in str(p) for p in links)

    key = spark.read.format("hudiidx").load(indexed.path).selectExpr("min(_hoodie_record_key)").head()[0]
    indexed.add_index("record")
    by_others = held()  # what the session keeps of the table
    with HudiIndex(spark, indexed.path) as idx:
        found = idx.lookup([key])
        assert len(found) == 1 and held() > by_others
    assert held() == by_others
    assert idx.lookup([key]) == found
    idx.close()
