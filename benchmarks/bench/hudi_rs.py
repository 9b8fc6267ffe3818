"""hudi-rs 0.5.0, the reader in Rust, on stock Hudi's table; rows are Arrow batches."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from hudi import HudiQueryType, HudiReadOptions, HudiTableBuilder

from .data import Data
from .engine import Engine, Missing
from .hudi import completions


class HudiRs(Engine):
    """It prunes by its filters; what they leave is filtered by Arrow."""

    def __init__(self, data: Data) -> None:
        super().__init__(data)
        self.path = data.folder / "stockhudi"

    def rows(self, options: Any) -> pa.Table:
        table = HudiTableBuilder.from_base_uri(f"file://{self.path}").build()
        return pa.Table.from_batches(table.read(options))

    def plan(self, day: str) -> None:
        raise Missing("has no queries to plan but `files`")

    def files(self, day: str) -> int:
        table = HudiTableBuilder.from_base_uri(f"file://{self.data.m}").build()
        return len(table.get_file_slices(HudiReadOptions(filters=[("day", "=", day)])))

    def selective(self, first: int, end: int) -> list[int]:
        filters = [("amount", ">=", str(first)), ("amount", "<=", str(end))]
        found = self.rows(HudiReadOptions(filters=filters, projection=["amount", "rank"]))
        amount = found["amount"]
        kept = found.filter(pc.and_(pc.greater_equal(amount, first), pc.less_equal(amount, end)))
        return [kept.num_rows, pc.sum(kept["rank"]).as_py()]

    def point(self, key: str) -> list[int]:
        found = self.rows(HudiReadOptions(filters=[("key", "=", key)], projection=["key", "amount", "rank"]))
        kept = found.filter(pc.equal(found["key"], key))
        return [v for row in kept.select(["amount", "rank"]).to_pylist() for v in row.values()]

    def keys(self, keys: list[str]) -> list[int]:
        found = self.rows(HudiReadOptions(projection=["key", "amount"]))
        kept = found.filter(pc.is_in(found["key"], pa.array(keys)))
        return [kept.num_rows, pc.sum(kept["amount"]).as_py()]

    def read(self) -> list[int | str]:
        found = self.rows(HudiReadOptions(projection=["amount", "rank", "note"]))
        notes = pc.min_max(found["note"]).as_py()
        return [found.num_rows, pc.sum(found["amount"]).as_py(), pc.sum(found["rank"]).as_py(), notes["min"], notes["max"]]

    def increment(self) -> list[int]:
        before, last = completions(self.path)[-2:]
        options = HudiReadOptions(projection=["amount"]).with_query_type(HudiQueryType.Incremental)
        found = self.rows(options.with_start_timestamp(before).with_end_timestamp(last))
        return [found.num_rows, pc.sum(found["amount"]).as_py()]
