"""Batches of keys of the record index benchmarks, the same that the peers ask (`KeyShape.batchSql`)."""

from __future__ import annotations

from typing import Any


def batch_ids(rows: int, n: int, salt: int = 0) -> str:
    """Row numbers of a batch, SQL over the column `id` that counts 0 to n - 1: nine in ten are in the table of `rows` rows."""
    return f"case when id % 10 = 9 then id + {rows + salt * n} else id * {max(1, rows // n)} + {salt} end"


def batch(spark: Any, facts: dict[str, Any], n: int, salt: int = 0) -> Any:
    """A DataFrame with the column `key`: n different record keys of the table that `facts` describes."""
    ids = spark.range(0, n, 1, 4).selectExpr(f"{batch_ids(facts['rows'], n, salt)} as id")
    return ids.selectExpr(f"{facts['key_sql']} as key")


def upsert_rows(spark: Any, facts: dict[str, Any], n: int, salt: int = 0) -> Any:
    """A DataFrame with the table's columns: n rows to upsert, one in ten of them an insert."""
    ids = spark.range(0, n, 1, 4).selectExpr(f"{batch_ids(facts['rows'], n, salt)} as id")
    keys = [f"{sql} as {name}" for name, sql in zip(facts["key_fields"], facts["key_fields_sql"], strict=True)]
    return ids.selectExpr(*keys, f"{facts['partition_sql']} as part", f"id + {salt} + 1 as amount", "1L as ts")
