"""Tables that hudiidx writes: stock Hudi reads them, writes and compacts them, and hudiidx goes on."""

import functools
import random
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import hudifix
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.functions import lit
from written import (
    IN_SHORT,
    LOG_INSERTS,
    OLD_IN_SHORT,
    VERSIONS,
    Written,
    assert_same_history,
    fail_last_write,
)

from hudiidx import HudiIndex, WriteConflict


@pytest.mark.parametrize("version", OLD_IN_SHORT)
def test_stock_and_we_write_by_turns(
    spark: SparkSession, request: pytest.FixtureRequest, version: str, tmp_path: Path
) -> None:
    stock = request.getfixturevalue(version)
    table = Written(spark, stock, VERSIONS[version], tmp_path / f"turns-{version[-2:]}", **LOG_INSERTS)
    table.upsert(table.make(0, 60, 1, 1))
    table.adopt()
    table.upsert(table.make(30, 90, 2, 2))

    table.upsert(table.make(40, 50, 9, 0))  # late: nothing changes
    table.delete(50, 55)
    table.assert_right()
    optimized = {"hoodie.datasource.query.type": "read_optimized"}
    assert stock.rows(name=table.name, options=optimized)["count"] == 0  # nothing is in base files yet

    # Stock updates records that are in logs alone, and inserts.
    stock.write(name=table.name, first=80, end=110, seed=3)
    table.expect(table.make(80, 110, 3, 3))
    table.assert_right()

    # Compaction is planned, we write on, it runs.
    stock.schedule_compaction(name=table.name)
    table.upsert(table.make(100, 130, 4, 4))
    table.assert_right()
    stock.compact(name=table.name)
    table.assert_right()
    table.delete(0, 10)
    table.upsert(table.make(5, 8, 5, 5))  # again after the delete
    table.assert_right()
    assert_same_history(table)
    index = HudiIndex(spark, table.path, strict=True)
    report = index.verify()
    assert report.ok, report.differences

    # A write of ours that ends half-way is not seen, and stock rolls it back.
    index.drop()
    table.save(table.make(0, 40, 6, 6))
    fail_last_write(table)
    table.assert_right()
    stock.write(name=table.name, first=120, end=125, seed=7)
    table.expect(table.make(120, 125, 7, 7))
    # Hudi 0.15 ends its scan at the rollback's block, which is younger than the write that called for it.
    table.upsert(table.make(0, 2, 8, 8))
    table.assert_right()
    assert not list((table.path / ".hoodie" / ".temp").glob("*"))


@pytest.mark.parametrize("operation", ["insert", "bulk_insert"])
@pytest.mark.parametrize("version", IN_SHORT)
def test_inserts_of_several_rows_of_one_key_are_stocks(
    spark: SparkSession, request: pytest.FixtureRequest, version: str, operation: str, tmp_path: Path
) -> None:
    stock, name = request.getfixturevalue(version), f"{operation}-{version[-2:]}"
    rows = (
        "SELECT * FROM VALUES ('k1', 'oslo', 9L, 1), ('k1', 'oslo', 7L, 2), ('k1', 'oslo', 7L, 3), "
        "('k2', 'oslo', 1L, 4), ('k1', 'lima', 7L, 5) AS v(id, city, ts, qty)"
    )
    stocks = stock.new(name=name, kind="MOR", options={})
    table = Written(spark, stock, VERSIONS[version], tmp_path / f"each-{name}")
    for _ in range(2):  # the second time beside what is there
        stock.write_sql(name=name, sql=rows, operation=operation)
        table.save(spark.sql(rows), operation)
    table.adopt()

    def found(path: str) -> list[Any]:
        return sorted(spark.read.format("hudiidx").load(path).select("id", "city", "ts", "qty").collect())

    assert found(str(table.path)) == found(stocks) and len(found(stocks)) == 10
    texts = stock.texts(name=table.name, options={"hoodie.metadata.enable": "true"})
    assert texts == list(hudifix.answer(table.ours())[0])


@pytest.mark.slow
@pytest.mark.parametrize("version", IN_SHORT)
def test_statements_of_sql(
    spark: SparkSession, request: pytest.FixtureRequest, version: str, tmp_path: Path
) -> None:
    """INSERT, UPDATE, DELETE and MERGE, records that change their partition among them."""
    stock = request.getfixturevalue(version)
    table = Written(spark, stock, VERSIONS[version], tmp_path / f"sql-{version[-2:]}")
    table.upsert(table.make(0, 60, 1, 1))
    table.adopt()
    spark.conf.set("spark.sql.catalog.hudiidx", "hudiidx.spark.HudiIdxCatalog")
    name = f"hudiidx.`{table.path}`"

    spark.sql(f"UPDATE {name} SET city = 'moved' WHERE id < 'k000010'")
    for n in range(10):
        table.rows[f"k{n:06d}"]["city"] = "moved"
    table.assert_right()

    spark.sql(f"DELETE FROM {name} WHERE id BETWEEN 'k000010' AND 'k000014'")
    for n in range(10, 15):
        table.rows.pop(f"k{n:06d}")
    changes = table.make(5, 75, 2, 2)
    changes.createOrReplaceTempView("changes")
    spark.sql(
        f"MERGE INTO {name} t USING changes s ON t.id = s.id WHEN MATCHED AND s.id >= 'k000050' THEN DELETE "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    table.expect(changes)
    for n in range(50, 60):
        table.rows.pop(f"k{n:06d}")
    table.assert_right()
    assert_same_history(table)

    # Late rows are skipped, what was deleted is there again.
    late = table.make(40, 90, 3, 0)
    late.createOrReplaceTempView("changes")
    spark.sql(f"INSERT INTO {name} SELECT * FROM changes")
    table.expect(late)
    moves = {"hoodie.record.index.update.partition.path": "true"}
    moved = table.make(20, 30, 4, 4).withColumn("city", lit("back"))
    table.save(moved, **moves)
    table.expect(moved)
    table.assert_right()

    stock.schedule_compaction(name=table.name)
    spark.sql(f"DELETE FROM {name} WHERE city = 'back' AND id < 'k000025'")
    for n in range(20, 25):
        table.rows.pop(f"k{n:06d}")
    stock.compact(name=table.name)
    table.assert_right()
    report = HudiIndex(spark, table.path, strict=True).verify()
    assert report.ok, report.differences


TOGETHER = {
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider",
    "hoodie.write.lock.client.wait_time_ms_between_retry": "200",
    "hoodie.write.lock.client.num_retries": "300",
    "hoodie.cleaner.policy.failed.writes": "LAZY",
}
# Stock takes its instant time without a lock: that of another writer in the same millisecond
# stops it before it has written anything.
STOCKS_CONFLICT = re.compile(
    r"ConcurrentModificationException|Failed to create file \S+\.deltacommit\.requested|"
    # A file group that we made meanwhile: 0.15.0's tasks look for it in the view from before.
    r"FileID \S+ of partition path \S+ does not exist"
)


def attempt(write: Any) -> bool:
    """Did the write commit? False after a conflict with the other one."""
    try:
        write()
    except WriteConflict:
        return False
    except Exception as e:
        if not STOCKS_CONFLICT.search(str(e)):
            raise
        return False
    return True


def beside_stock(table: Written, rounds: int, seed: int) -> list[int]:
    """Rounds of two writes at once, one of them stock's; how often none, one and both of them committed."""
    drawn, counts = random.Random(seed), [0, 0, 0]
    print(f"HUDIIDX_TEST_SEED={seed}, {rounds} rounds")
    with ThreadPoolExecutor(1) as pool:
        for n in range(rounds):
            # Each has new records of its own: stock does not look for those of others.
            wheres = []
            for new in (1000 + 20 * n, 1010 + 20 * n):
                cities = "', '".join(drawn.sample(hudifix.PARTS, drawn.randint(1, 2)))
                wheres.append(f"city in ('{cities}') and (id < 90 or id >= {new} and id < {new + 6})")
            begin, end, seeds = drawn.randint(0, 40), 1020 + 20 * n, (10 + 2 * n, 11 + 2 * n)
            made = [
                table.make(begin, end, s, s).where(w.replace("id ", "cast(substr(id, 2) as int) "))
                for s, w in zip(seeds, wheres, strict=True)
            ]
            asked = {"name": table.name, "first": begin, "end": end, "seed": seeds[0], "only": wheres[0]}
            theirs = pool.submit(attempt, functools.partial(table.stock.write, **asked))
            time.sleep(drawn.random())
            ours = attempt(functools.partial(table.save, made[1]))
            done = [theirs.result(), ours]
            for rows, committed in zip(made, done, strict=True):
                if committed:
                    table.expect(rows)
            counts[sum(done)] += 1
            table.assert_right()
    return counts


def written_together(
    spark: SparkSession, request: pytest.FixtureRequest, version: str, path: Path
) -> Written:
    """A table of 90 records that stock and we write at the same time."""
    table = Written(spark, request.getfixturevalue(version), VERSIONS[version], path, **TOGETHER)
    table.upsert(table.make(0, 90, 1, 1))
    table.adopt(**TOGETHER)
    return table


@pytest.mark.parametrize("version", IN_SHORT)
def test_stock_and_we_write_at_once(
    spark: SparkSession, request: pytest.FixtureRequest, version: str, tmp_path: Path
) -> None:
    table = written_together(spark, request, version, tmp_path / f"at-once-{version[-2:]}")
    # Stock waits for the lock file that we would make.
    lock = table.path / ".hoodie" / "lock"
    lock.touch()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(table.stock.write, name=table.name, first=0, end=9, seed=2)
        time.sleep(4)
        assert not waiting.done()
        lock.unlink()
        waiting.result()
    table.expect(table.make(0, 9, 2, 2))
    table.assert_right()
    assert sum(beside_stock(table, 2, time.time_ns())[1:]) == 2


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_stock_and_we_write_at_once_in_many_rounds(
    spark: SparkSession, request: pytest.FixtureRequest, version: str, tmp_path: Path
) -> None:
    table = written_together(spark, request, version, tmp_path / f"many-{version[-2:]}")
    _, one, both = beside_stock(table, 100, time.time_ns())
    assert one > 0 and both > 0
