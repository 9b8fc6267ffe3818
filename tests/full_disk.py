"""Writes to a disk that has little room left, with less and more of it: what each ended with, as JSON.

Usage: full_disk.py FOLDER JAR, where FOLDER is a file system of its own, of some megabytes. Prints a list of
what was tried: the bytes of room, the call, the exception and what it says, rows before, rows after.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from hudiidx import HudiIndex

folder, jar = sys.argv[1:]
TABLE, BALLAST = f"{folder}/t", Path(folder, "ballast")
NAME = f"hudiidx.`{TABLE}`"
PAGE = os.sysconf("SC_PAGE_SIZE")
Rows = dict[int, int]
BEAT = 200  # milliseconds; what a writer leaves on a full disk is rolled back when it was silent for two

builder = SparkSession.builder.master("local[2]").config("spark.driver.extraClassPath", jar)
builder = builder.config("spark.ui.enabled", "false").config("spark.driver.memory", "1g")
builder = builder.config("spark.sql.extensions", "hudiidx.spark.HudiIdxExtensions")
spark = builder.config("spark.sql.catalog.hudiidx", "hudiidx.spark.HudiIdxCatalog").getOrCreate()
spark.sparkContext.setLogLevel("OFF")


@contextmanager
def room(size: int) -> Iterator[None]:
    """With that much left, in whole pages."""
    with BALLAST.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(PAGE))
        except OSError:
            file.truncate(max(0, file.tell() - size))
    try:
        yield
    finally:
        BALLAST.unlink()


def rows() -> Rows:
    """What the table has, by key."""
    return {r.id: r.n for r in spark.read.format("hudiidx").load(TABLE).select("id", "n").collect()}


def save(given: Rows) -> None:
    """Upserts them."""
    frame = spark.createDataFrame(list(given.items()), "id long, n long")
    options = {
        "hoodie.table.name": "t",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.precombine.field": "n",
        "hudiidx.write.create": "true",
        "hoodie.client.heartbeat.interval_in_ms": str(BEAT),
    }
    frame.write.format("hudiidx").options(**options).mode("append").save(TABLE)


def added(given: Rows, before: Rows) -> Rows:
    """What an upsert makes of the rows."""
    return before | given


def tried(call: Callable[[], Any]) -> tuple[str, str]:
    """What it raises: its class and what it says."""
    try:
        call()
        return "", ""
    except Exception as e:
        return f"{type(e).__module__}.{type(e).__name__}", str(e)


def steps() -> Iterator[tuple[str, int, Callable[[], Any], Callable[[Rows], Rows]]]:
    """Calls, each with the room it has, and what it makes of the rows.

    An upsert writes a base file anew: with less room its task fails, with a little more what comes after.
    """
    base = -(-max(f.stat().st_size for f in Path(TABLE).glob("*.parquet")) // PAGE)
    sizes = (0, 1, 12, *(base + more for more in (-2, 0, 1, 2, 20)))
    for n, pages in enumerate(sizes, 1):
        given = {0: n, n: n}
        yield (
            "save",
            pages * PAGE,
            partial(save, given),
            partial(added, given),
        )
    yield (
        "delete",
        PAGE,
        lambda: spark.sql(f"DELETE FROM {NAME} WHERE id = 0").collect(),
        lambda before: {k: n for k, n in before.items() if k},
    )
    index = HudiIndex(spark, TABLE)
    yield "index", 0, lambda: index.create(record="global", columns="*"), partial(added, {})


save({0: 0, 100: 0})
found = []
for name, size, call, change in steps():
    before = rows()
    time.sleep(3 * BEAT / 1000)  # of what failed before: an earlier write may be a conflict
    with room(size):
        kind, said = tried(call)
        held = rows()
    found.append(
        {
            "call": name,
            "room": size,
            "kind": kind,
            "said": said,
            "before": sorted(before.items()),
            "wanted": sorted(change(before).items()),
            "held": sorted(held.items()),
            "later": sorted(rows().items()),
        }
    )
before = rows()
time.sleep(3 * BEAT / 1000)
save({0: 1000, 1000: 1000})
last = {"wanted": sorted((before | {0: 1000, 1000: 1000}).items()), "held": sorted(rows().items())}
print(json.dumps({"tried": found, "last": last}))
spark.stop()
