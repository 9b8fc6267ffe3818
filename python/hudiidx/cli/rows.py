"""The records of keys as documents."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hudiidx.index import HudiIndex

_KEY = "_hoodie_record_key"


def found_rows(
    index: HudiIndex, keys: Sequence[str], partition: str | None, as_of: str | None
) -> dict[str, Any]:
    """``rows``, each as Spark's `to_json` writes it, and the keys that are ``missing``."""
    from pyspark.sql import functions as f

    found = index.lookup(keys, partition, as_of, rows=True)
    as_text = f.to_json(f.struct("*"), {"ignoreNullFields": "false"})
    rows = [json.loads(row[0]) for row in found.select(as_text).collect()]
    have = {row.get(_KEY) for row in rows}
    # Rows need not bear their keys, and an index with a window does not know all keys: each helps the other.
    absent = {*index.lookup(keys, partition, as_of).missing} - have if rows else {*keys}
    return {"rows": rows, "missing": [k for k in dict.fromkeys(keys) if k in absent]}
