"""Options of stock Hudi's reader: none is taken without a word and not followed."""

from typing import Any

import pytest
from pyspark.sql import SparkSession
from stock_hudi import each


@pytest.mark.parametrize(
    "stock",
    each(),
)
def test_every_option_of_stocks_reader_has_a_decision(
    spark: SparkSession, stock: str, request: pytest.FixtureRequest
) -> None:
    names: Any = request.getfixturevalue(stock).reader_options()
    assert len(names) > 15 and "hoodie.datasource.merge.type" in names
    decisions = spark._jvm.hudiidx.spark.options.StockReadOptions  # type: ignore[union-attr]
    assert [name for name in names if not decisions.isDecided(name)] == []
