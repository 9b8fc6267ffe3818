"""hudiidx with indexes of files, all columns and record keys, as `HudiIndex` and `format("hudiidx")` give them."""

from __future__ import annotations

from typing import Any

from hudiidx import HudiIndex
from hudiidx.session import jar_path

from .engine import bytes_under
from .hudi import HudiWriter


class Hudiidx(HudiWriter):
    """Strict: whatever the index could not answer would be an error."""

    format = "hudiidx"
    reading = {"hudiidx.index.strict": "true"}

    def class_path(self) -> list[str]:
        return [str(jar_path())]

    def bootstrap(self) -> None:
        self._index().create(record="global", columns="*")

    def bytes(self) -> int:
        return bytes_under(self.path / ".hoodie" / "hudiidx")

    def tag(self, salt: int) -> int:
        keys = self.data.batch_rows(self.spark, salt).select("key")
        located = self._index().tag_location(keys, key="key")
        return int(self.sums(located, "count(file_id)", "sum(hash(file_id))")[0])

    def listing(self) -> None:
        self._index().create()

    def locate(self, key: str) -> int:
        return len(self._index().lookup([key]))

    def update(self) -> None:
        self._index().update()

    def compact(self) -> None:
        self._index().compact_table()

    def files(self, day: str) -> int:
        return len(HudiIndex(self.spark, self.data.url("M"), strict=True).latest_file_slices(day))

    def make_index_of_m(self) -> None:
        HudiIndex(self.spark, self.data.url("M")).create()

    def _index(self) -> Any:
        return HudiIndex(self.spark, self.url, strict=True)
