"""The rows of the comparison, the batches that are upserted and the constants of its queries. All are functions of numbers."""

from __future__ import annotations

import hashlib
import random
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PARTITIONS = 4
KEY = "regexp_replace(md5(cast(id as string)), '^(.{8})(.{4})(.{4})(.{4})(.{12})$', '$1-$2-$3-$4-$5')"


def key_of(row: int) -> str:
    """The record key of a row: what `KEY` gives."""
    return str(uuid.UUID(hashlib.md5(str(row).encode()).hexdigest()))


@dataclass(frozen=True)
class Data:
    """`rows` rows of some 200 bytes with UUID keys, in `files` files of one partition each, sorted by `amount` from file to file.

    `folder` has `parquet` and `hudi`, the same rows as plain Parquet and as stock Hudi's merge-on-read table without a
    metadata table, and `M`, RFC-15's table of 384,757 files.
    """

    folder: Path
    rows: int
    batch: int
    files: int = 100
    place: str = ""

    def url(self, name: str) -> str:
        """Where engines find what lies in `folder` under a name: there, or in the bucket `place`, whose objects are the folder's files."""
        return f"{self.place or self.folder}/{name}"

    @property
    def m(self) -> Path:
        return self.folder / "M"

    def days(self) -> list[str]:
        """Partitions of `M`, in an order of their own."""
        days = sorted(p.name for p in self.m.iterdir() if not p.name.startswith("."))
        random.Random(1).shuffle(days)
        return days

    def sql(self, version: int) -> list[str]:
        """Columns over the row number `id`."""
        return [
            f"{KEY} as key",
            f"concat('p', id * {PARTITIONS} div {self.rows} % {PARTITIONS}) as part",
            f"id + {version} as amount",
            f"{version}L as ts",
            f"sha2(concat(id, '-{version}'), 256) as note",
            "cast(id % 1000 as int) as rank",
            "cast(id as double) / 7 as ratio",
        ]

    def all_rows(self, spark: Any) -> Any:
        return spark.range(0, self.rows, 1, self.files).selectExpr(*self.sql(0))

    def batch_rows(self, spark: Any, salt: int, count: int | None = None) -> Any:
        """The first `count` rows of a batch (all), one in five of them new; those of different salts are different rows."""
        new = f"id + {self.rows + salt * self.batch}"
        old = f"id * {self.rows // self.batch} + {salt}"
        ids = spark.range(0, count or self.batch, 1, 4).selectExpr(f"case when id % 5 = 4 then {new} else {old} end as id")
        return ids.selectExpr(*self.sql(salt + 1))

    def some_row(self, turn: int) -> int:
        return (turn * 7919 + 3) * 104729 % self.rows

    def amounts(self, turn: int) -> tuple[int, int]:
        """A thousandth of the rows, which lie in one file or two."""
        first = self.some_row(turn)
        return first, first + self.rows // 1000

    def keys(self, turn: int, count: int) -> list[str]:
        return [key_of((self.some_row(turn) + i * 4999) % self.rows) for i in range(count)]
