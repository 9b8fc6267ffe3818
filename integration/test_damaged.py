"""Tables with damaged files, read as stock Hudi reads them."""

from pathlib import Path
from typing import Any

from compare import expect_answer
from pyspark.sql import SparkSession

from hudiidx import HudiIndex


def test_an_empty_base_file_is_skipped_as_stock_does(spark: SparkSession, stock_0_15: Any) -> None:
    options = {"hoodie.metadata.enable": "false"}
    path = Path(stock_0_15.new(name="emptied", kind="COW", options=options))
    stock_0_15.write(name="emptied", first=0, end=60, seed=1, operation="insert")
    HudiIndex(spark, path).create()
    whole = stock_0_15.rows(name="emptied")
    base = next((path / "sf").glob("*.parquet"))
    base.write_bytes(b"")
    base.with_name(f".{base.name}.crc").unlink(missing_ok=True)
    stocks = stock_0_15.rows(name="emptied")
    assert stocks["count"] < whole["count"]
    for how in ({"hudiidx.index.strict": "true"}, {"hudiidx.index.enabled": "false"}):
        reader = spark.read.format("hudiidx").options(**how, **{"hudiidx.read.damaged": "as_stock"})
        expect_answer(reader.load(str(path)), stocks)
