"""Logs of many times the heap are merged in a small executor."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from small_reader import SUMS
from stock_hudi import NEWEST

from hudiidx.session import jar_path

HERE = Path(__file__).parent
HEAP = "512m"
ROW_BYTES = 1024
# Ordering values of the log's commits: some come late.
COMMITS = (2, 3, 9, 4, 5, 6, 8, 7)
# Megabytes of logs. The long form, of four times the heap: `pytest -s integration/test_memory.py -k 2048`.
SIZES = [32, 2048]


def rows(ids: str) -> str:
    """Of ids and ordering values the rows, each with a text of a thousand characters that do not repeat."""
    parts = f"transform(sequence(1, {ROW_BYTES // 64}), i -> sha2(concat_ws('-', id, ts, i), 256))"
    return (
        "select concat('k', lpad(cast(id as string), 8, '0')) as id, 'sf' as city, cast(ts as long) as ts, "
        f"id * 7 + ts as n, concat_ws('', {parts}) as note from ({ids})"
    )


def ids_of(commit: int, when: int, each: int) -> str:
    """The ids that a commit of the log writes: overlapping those of the one before by half."""
    first = commit * each // 2
    return f"select id, {when} as ts from range({first}, {first + each}, 1, 2)"


@pytest.mark.slow
@pytest.mark.parametrize("megabytes", SIZES)
def test_logs_of_many_times_the_heap_are_merged(
    spark: SparkSession, request: pytest.FixtureRequest, megabytes: int
) -> None:
    stock: Any = request.getfixturevalue(NEWEST if megabytes == SIZES[0] else "large_stock")
    each = (megabytes << 20) // ROW_BYTES // len(COMMITS)
    one_group = {
        "hoodie.parquet.max.file.size": str(16 << 30),
        "hoodie.copyonwrite.insert.split.size": str(1 << 30),
        "hoodie.insert.shuffle.parallelism": "1",
        "hoodie.index.type": "SIMPLE",
        "hoodie.metadata.enable": "false",
    }
    name = f"memory-{megabytes}"
    path = Path(stock.new(name=name, kind="MOR", options=one_group))
    every = f"select id, 1 as ts from range(0, {each * (len(COMMITS) + 3) // 2}, 1, 2)"
    stock.write_sql(name=name, sql=rows(every), operation="insert")
    commits = [ids_of(i, when, each) for i, when in enumerate(COMMITS)]
    for ids in commits:
        stock.write_sql(name=name, sql=rows(ids))
    logs = [p for p in (path / "sf").glob(".*.log.*") if p.suffix != ".crc"]
    assert len(list((path / "sf").glob("*.parquet"))) == 1 and len(logs) == len(COMMITS)
    written = sum(p.stat().st_size for p in logs)
    assert written > megabytes << 20

    last = f"select id, max(ts) as ts from ({' union all '.join([every, *commits])}) group by id"
    expected = [str(v) for v in spark.sql(rows(last)).selectExpr(*SUMS).first()]
    if megabytes == SIZES[0]:
        assert stock.sums(name=name, sums=list(SUMS)) == expected
    start = time.monotonic()
    command = [sys.executable, str(HERE / "small_reader.py"), str(jar_path()), HEAP, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    print(f"\n{written >> 20} MB of logs in {HEAP}: {time.monotonic() - start:.0f} s", flush=True)
    assert done.stdout.split("answer ")[1].split() == expected
