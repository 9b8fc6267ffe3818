"""What stock Hudi's sessions know by name, and hudiidx refuses by name."""

from typing import Any

import pytest
from pyspark.sql import SparkSession
from stock_hudi import each


@pytest.mark.parametrize("stock", each())
def test_every_table_function_of_stocks_is_refused_with_what_to_use(
    spark: SparkSession, stock: str, request: pytest.FixtureRequest
) -> None:
    names: Any = request.getfixturevalue(stock).table_functions()
    assert "hudi_table_changes" in names
    instead = spark._jvm.hudiidx.spark.procedure.StockFunctions.Instead()  # type: ignore[union-attr]
    assert [name for name in names if not instead.contains(name)] == []
    for name in names:
        with pytest.raises(Exception, match=rf"{name}: a table function of stock Hudi's session"):
            spark.sql(f"SELECT * FROM {name}('db.trips', 'x')")
