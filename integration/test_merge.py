"""Rows as stock Hudi merges them: late rows, late deletes, rows behind deletes, columns left out."""

from pathlib import Path

import pytest
from compare import expect_answer
from pyspark.sql import SparkSession

PAYLOAD = "org.apache.hudi.common.model."
CLASS = "hoodie.datasource.write.payload.class"
# Without version 8: Hudi 1.0.2 cannot merge a record behind an entry of its own delete operation.
CASES = {
    "v9-event-time": ("stock_1_1", None),
    "v9-commit-time": ("stock_1_1", "OverwriteWithLatestAvroPayload"),
    "v9-partial-update": ("stock_1_1", "PartialUpdateAvroPayload"),
    "v9-overwrite-non-defaults": ("stock_1_1", "OverwriteNonDefaultsWithLatestAvroPayload"),
    "v6-event-time": ("stock_0_15", "DefaultHoodieRecordPayload"),
    "v6-overwrite-with-latest": ("stock_0_15", "OverwriteWithLatestAvroPayload"),
}
# `make test` runs these, `make test-all` every one.
SHORT = ("v9-event-time", "v9-partial-update", "v6-event-time")
NAMES = [pytest.param(n, marks=() if n in SHORT else pytest.mark.slow) for n in CASES]


@pytest.mark.parametrize("case", NAMES)
def test_rows_are_stocks_after_every_write(
    spark: SparkSession, request: pytest.FixtureRequest, case: str
) -> None:
    version, payload = CASES[case]
    stock = request.getfixturevalue(version)
    options = {CLASS: PAYLOAD + payload} if payload else {}
    name = f"merge-{case}"
    path = Path(stock.new(name=name, kind="MOR", options=options))

    def write(first: int, end: int, seed: int, **more: object) -> None:
        stock.write(name=name, first=first, end=end, seed=seed, **{"deleted": "false", **more})
        answer = stock.rows(name=name)
        expect_answer(spark.read.format("hudiidx").load(str(path)), answer)

    write(0, 60, 4, operation="insert")
    write(10, 50, 6, nulls={"rider": "id % 3 = 0", "qty": "id % 2 = 0"})
    write(0, 40, 5, nulls={"note": "true", "fare": "id % 5 = 0"})  # late for some, in time for others
    write(20, 30, 3, deleted="true")  # late deletes
    write(30, 45, 7, deleted="id % 2 = 0", nulls={"rider": "true"})
    write(28, 36, 5, nulls={"qty": "id % 4 < 2"})  # rows behind deletes, late ones too
    write(50, 56, 8, operation="delete")
    write(52, 58, 2)
    stock.compact(name=name)
    write(0, 60, 9, only="id % 7 = 0", nulls={"fare": "true", "rider": "id % 2 = 0"})
