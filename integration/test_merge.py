"""Rows as stock Hudi merges them: late rows, late deletes, rows behind deletes, columns left out."""

from dataclasses import dataclass, field
from typing import Any

import hudifix
import pytest
from compare import expect_answer
from pyspark.sql import SparkSession

MODEL = "org.apache.hudi.common.model."
CLASS = "hoodie.datasource.write.payload.class"
ORDERING = "hoodie.datasource.write.precombine.field"
MODE = "hoodie.write.record.merge.mode"
UNAVAILABLE = "'__debezium_unavailable_value'"
POSTGRES_COLUMNS = ("cast({when} as long) as _event_lsn",)
MYSQL_COLUMNS = (
    "concat('mysql-bin.', lpad(cast({seed} as string), 6, '0')) as _event_bin_file",
    "cast({when} as long) as _event_pos",
    "concat({seed} + 5, '.', id) as _event_seq",  # '9.' and '10.': texts are in another order than numbers
)
TEXT = {"columns": ("concat('t', lpad(cast({when} as string), 8, '0')) as at",)}
CHANGE = "if({}, 'd', 'u') as _change_operation_type"


@dataclass
class Case:
    """Who writes, with which options, and what its rows have more than others."""

    stock: str
    payload: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    rows: dict[str, Any] = field(default_factory=dict)
    deletes: bool = True
    behind: bool = True
    compacts: bool = True

    @property
    def table(self) -> dict[str, str]:
        return {**({CLASS: MODEL + self.payload} if self.payload else {}), **self.options}


def _dms(stock: str) -> Case:
    return Case(stock, "AWSDmsAvroPayload", rows={"marker": "if({}, 'D', 'U') as Op"})


def _postgres(stock: str) -> Case:
    rows = {"marker": CHANGE, "columns": POSTGRES_COLUMNS, "filler": UNAVAILABLE}
    # Hudi 1.0.2 compares the Integer 0 of its delete operation with this payload's Longs, and fails;
    # compacting does so with any delete.
    compares, payload = stock != "stock_1_0", "debezium.PostgresDebeziumAvroPayload"
    return Case(stock, payload, {ORDERING: "_event_lsn"}, rows, deletes=compares, compacts=compares)


def _mysql(stock: str, ordering: str) -> Case:
    rows = {"marker": CHANGE, "columns": MYSQL_COLUMNS}
    # As with Postgres, and no rows behind deletes.
    compares, payload = stock != "stock_1_0", "debezium.MySqlDebeziumAvroPayload"
    return Case(stock, payload, {ORDERING: ordering}, rows, compares, compares, compares)


def _by_text(stock: str, payload: str | None = None, **options: str) -> Case:
    """Hudi 1.0.2 fails where such rows come behind deletes, and where it compacts both."""
    compares = stock != "stock_1_0"
    return Case(stock, payload, {ORDERING: "at", **options}, TEXT, compares, compares, compares)


def _marked(stock: str, options: dict[str, str]) -> Case:
    custom = {"hoodie.payload.delete.field": "op", "hoodie.payload.delete.marker": "gone"}
    return Case(stock, options={**options, **custom}, rows={"marker": "if({}, 'gone', 'here') as op"})


def _cases() -> dict[str, Case]:
    cases = {
        "v8-event-time": Case("stock_1_0", options={MODE: "EVENT_TIME_ORDERING"}),
        "v8-commit-time": Case("stock_1_0", options={MODE: "COMMIT_TIME_ORDERING"}),
        "v6-event-time": Case("stock_0_15", "DefaultHoodieRecordPayload"),
        "v6-overwrite-with-latest": Case("stock_0_15", "OverwriteWithLatestAvroPayload"),
        "v6-mysql": _mysql("stock_0_15", "_event_seq"),
        "v8-mysql": _mysql("stock_1_0", "_event_seq"),
        "v8-by-text": _by_text("stock_1_0", **{MODE: "EVENT_TIME_ORDERING"}),
        "v8-partial-update-by-text": _by_text("stock_1_0", "PartialUpdateAvroPayload"),
        "v6-by-text": _by_text("stock_0_15", "DefaultHoodieRecordPayload"),
        "v6-first-value": Case("stock_0_15", "FirstValueAvroPayload"),
        "v8-first-value": Case("stock_1_0", "FirstValueAvroPayload"),
    }
    for version, stock in (("v9", "stock_1_2"), ("v9-1.1", "stock_1_1")):
        cases |= {
            f"{version}-event-time": Case(stock),
            f"{version}-commit-time": Case(stock, "OverwriteWithLatestAvroPayload"),
            f"{version}-event-time-marker": _marked(stock, {MODE: "EVENT_TIME_ORDERING"}),
            f"{version}-commit-time-marker": _marked(stock, {MODE: "COMMIT_TIME_ORDERING"}),
            f"{version}-mysql": _mysql(stock, "_event_bin_file,_event_pos"),
            f"{version}-by-text": _by_text(stock),
        }
    for version, stock in (
        ("v6", "stock_0_15"),
        ("v8", "stock_1_0"),
        ("v9-1.1", "stock_1_1"),
        ("v9", "stock_1_2"),
    ):
        cases[f"{version}-partial-update"] = Case(stock, "PartialUpdateAvroPayload")
        cases[f"{version}-overwrite-non-defaults"] = Case(stock, "OverwriteNonDefaultsWithLatestAvroPayload")
        cases[f"{version}-dms"] = _dms(stock)
        cases[f"{version}-postgres"] = _postgres(stock)
    return cases


CASES = _cases()


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_rows_are_stocks_after_late_rows_deletes_and_rows_behind_them(
    spark: SparkSession, request: pytest.FixtureRequest, name: str
) -> None:
    case = CASES[name]
    stock = request.getfixturevalue(case.stock)
    table = f"merge-{name}"
    path = str(stock.new(name=table, kind="MOR", options=case.table))
    # For the same reason version 8 has ordering values of int.
    always = {"deleted": "false", "narrow": name.startswith("v8"), **case.rows}

    def write(first: int, end: int, seed: int, **more: Any) -> None:
        stock.write(name=table, first=first, end=end, seed=seed, **{**always, **more})

    def compare() -> None:
        texts, got = hudifix.answer(read(spark, path))
        if got != stock.rows(name=table):
            stocks = stock.texts(name=table)
            ours, theirs = sorted(set(texts) - set(stocks)), sorted(set(stocks) - set(texts))
            pytest.fail(f"{len(texts)} rows of {len(stocks)}, ours {ours[:3]}, stock's {theirs[:3]}")

    write(0, 60, 4, operation="insert")
    write(10, 50, 6, nulls={"rider": "id % 3 = 0", "qty": "id % 2 = 0"})
    write(0, 40, 5, nulls={"note": "true", "fare": "id % 5 = 0"})  # late for some, in time for others
    compare()
    write(20, 30, 3, deleted="true")  # late deletes
    write(30, 45, 7, deleted="id % 2 = 0", nulls={"rider": "true"})
    compare()
    if case.behind:
        write(28, 36, 5, nulls={"qty": "id % 4 < 2"})  # rows behind deletes, late ones too
    if case.deletes:
        write(50, 56, 8, operation="delete")
    write(52, 58, 2)
    compare()
    if not case.compacts:
        return changes(spark, stock, table, path)
    stock.compact(name=table)
    compare()
    write(0, 70, 9, only="id % 7 = 0", nulls={"fare": "true", "rider": "id % 2 = 0"})
    write(0, 70, 8, only="id % 7 < 3", nulls={"qty": "true"})  # late ones again, of rows and of new ones
    compare()
    return changes(spark, stock, table, path)


def read(spark: SparkSession, path: str, **options: str) -> Any:
    return spark.read.format("hudiidx").options(**options).load(path)


def changes(spark: SparkSession, stock: Any, table: str, path: str) -> None:
    """Incremental queries after each of the last instants."""
    for change in stock.changes(name=table)[-4:]:
        if "error" not in change:
            begin = {"hoodie.datasource.read.begin.instanttime": change["begin"]}
            frame = read(spark, path, **{"hoodie.datasource.query.type": "incremental"}, **begin)
            got = hudifix.answer(frame)[1]
            assert got == {k: change[k] for k in got}, change["begin"]


@pytest.mark.slow
@pytest.mark.parametrize("payload", ["DefaultHoodieRecordPayload", "OverwriteWithLatestAvroPayload"])
def test_by_the_rules_of_a_later_release_rows_are_what_that_release_reads(
    spark: SparkSession, stock_0_15: Any, stock_1_2: Any, payload: str
) -> None:
    name = f"later-{payload}"
    path = str(stock_0_15.new(name=name, kind="MOR", options={CLASS: MODEL + payload}))
    stock_1_2.adopt(name=name, path=path, kind="MOR")
    differ = False

    def write(first: int, end: int, seed: int, **more: Any) -> None:
        nonlocal differ
        stock_0_15.write(name=name, first=first, end=end, seed=seed, **{"deleted": "false", **more})
        later = stock_1_2.rows(name=name)
        expect_answer(read(spark, path, **{"hudiidx.read.merge.release": "1.1"}), later)
        earlier = stock_0_15.rows(name=name)
        expect_answer(read(spark, path), earlier)
        differ |= earlier != later

    write(0, 60, 4)
    write(10, 50, 6)
    write(0, 40, 5)
    write(20, 30, 3, deleted="true")
    write(30, 45, 7, deleted="id % 2 = 0")
    write(28, 36, 5)
    assert differ
