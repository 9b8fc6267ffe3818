"""What stock Hudi's reader and its session know by name, and hudiidx follows, ignores or refuses: options
that classes of all kinds ask for, and table functions."""

import re
from typing import Any

import pytest
from pyspark.sql import SparkSession
from stock_hudi import NEWEST, OLDEST, RELEASES, each
from stored import ROOT
from test_reader_options import Both, written

PAGE = (ROOT / "docs" / "options.md").read_text(encoding="utf-8")
DECIDED = re.findall(r"^\| `([^`]+)` \| (followed|harmless|refused) \|", PAGE, re.MULTILINE)


@pytest.mark.parametrize("release", each())
def test_every_option_that_stocks_reader_asks_for_has_a_decision(spark: SparkSession, release: str) -> None:
    of = RELEASES[release]
    names = of.printed_by("ReaderOptionKeys.java", str(of.jar))
    assert len(names) > 30
    assert {"hoodie.datasource.merge.type", "hoodie.memory.dfs.buffer.max.size"} < set(names)
    decisions = spark._jvm.hudiidx.spark.options.StockReadOptions  # type: ignore[union-attr]
    assert [name for name in names if not decisions.isDecided(name)] == []


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


# Of options that rows do not depend on, values that are not those without them.
HARMLESS = {
    "_hoodie.hfile.use.native.reader": "false",
    "_hoodie.merger.payload.class": "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload",
    "hoodie.blob.batching.lookahead.size": "1",
    "hoodie.blob.batching.max.gap.bytes": "1",
    "hoodie.bucket.index.hash.field": "id",
    "hoodie.bucket.index.num.buckets": "3",
    "hoodie.bucket.index.query.pruning": "true",
    "hoodie.cdc.file.group.iterator.memory.spill.bytes": "1",
    "hoodie.common.diskmap.compression.enabled": "false",
    "hoodie.common.spillable.diskmap.type": "ROCKS_DB",
    "hoodie.compaction.lazy.block.read": "false",
    "hoodie.compaction.reverse.log.read": "true",
    "hoodie.datasource.write.partitionpath.field": "rider",
    "hoodie.datasource.write.precombine.field": "fare",
    "hoodie.datasource.write.recordkey.field": "rider",
    "hoodie.file.group.reader.enabled": "false",
    "hoodie.hfile.block.cache.enabled": "false",
    "hoodie.index.type": "BUCKET",
    "hoodie.keygen.timebased.output.dateformat": "yyyy",
    "hoodie.keygen.timebased.timestamp.type": "EPOCHMILLISECONDS",
    "hoodie.lance.read.allocator.size.bytes": "1",
    "hoodie.memory.dfs.buffer.max.size": "4096",
    "hoodie.memory.merge.max.size": "1",
    "hoodie.merge.use.record.positions": "false",
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.max.reader.buffer.size": "1024",
    "hoodie.optimized.log.blocks.scan.enable": "true",
    "hoodie.payload.ordering.field": "fare",
    "hoodie.read.blob.inline.mode": "CONTENT",
    "hoodie.table.name": "x",
    "hoodie.table.ordering.fields": "fare",
    "hoodie.table.partition_extractor_class": "no.such.Extractor",
    "hoodie.table.precombine.field": "fare",
    "hoodie.table.recordkey.fields": "rider",
    "hoodie.valid.commits.list": "20200101000000000",
    "hoodie.vector.columns": "rider",
    "hoodie.write.partial.update.unavailable.value": "rider-23",
}


@pytest.mark.parametrize("release", each((OLDEST, NEWEST)))
def test_an_option_that_is_harmless_changes_no_row_of_stocks(
    spark: SparkSession, release: str, request: pytest.FixtureRequest
) -> None:
    assert {what for name, what in DECIDED if name in HARMLESS} == {"harmless"}
    assert set(HARMLESS) <= {name for name, _ in DECIDED}
    made: dict[tuple[str, str], Both] = {}
    table = written(spark, request.getfixturevalue(release), "MOR", made)
    rows = table.theirs({})
    assert table.theirs(HARMLESS) == rows == table.ours(HARMLESS)
