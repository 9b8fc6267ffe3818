"""Writes, indexes, SQL, compactions, streams and commands on the Spark that is installed."""

import subprocess
import sys
from pathlib import Path

import pyspark
import pytest
import spark_lines
from pyspark.sql import Row, SparkSession
from stored import ROOT
from written_table import COLUMNS, WrittenTable

from hudiidx import HudiIndex, NotAHudiTable
from hudiidx.cli import plain
from hudiidx.session import jar_path


@pytest.mark.smoke
def test_the_environment_has_the_release_that_the_jar_is_built_with() -> None:
    line = ".".join(pyspark.__version__.split(".")[:2])
    assert pyspark.__version__ == spark_lines.others()[line]
    assert jar_path().name.startswith(f"hudiidx-spark-{line}_2.13-")


@pytest.mark.smoke
def test_upserts_are_read(table: WrittenTable) -> None:
    properties = Path(table.path, ".hoodie", "hoodie.properties").read_text()
    assert f"hoodie.table.version={table.version}\n" in properties
    assert table.numbers() == table.expected
    rows = table.read()
    assert rows.where("n >= 1000 and s.a < 5").count() == 5
    assert [r.s for r in rows.where("id = 5").collect()] == [Row(a=5, b=[5])]
    assert {r.p: r["count"] for r in rows.groupBy("p").count().collect()} == {0: 34, 1: 33, 2: 33}


@pytest.mark.smoke
def test_record_keys_are_found(table: WrittenTable) -> None:
    index = HudiIndex(table.spark, table.path, strict=True)
    index.add_index("record")
    assert [found.partition_path for found in index.lookup(["5", "none"])] == ["2"]
    assert [r.n for r in index.lookup(["5", "none"], rows=True).collect()] == [1005]
    keys = table.spark.range(98, 102).selectExpr("cast(id AS string) AS k")
    tagged = {r.k: r.partition_path for r in index.tag_location(keys, key="k").collect()}
    assert tagged == {"98": "2", "99": "0", "100": None, "101": None}
    rows = table.read()
    joined = rows.join(keys, rows["_hoodie_record_key"] == keys["k"])
    assert joined.count() == 2 and "key" in str(index.explain(joined))
    one = rows.where("id = 7")
    assert one.count() == 1 and "record keys: 1 keys in 1 file groups" in str(index.explain(one))


def test_indexes_on_columns_leave_files_out(table: WrittenTable) -> None:
    index = HudiIndex(table.spark, table.path)
    index.add_index("n")
    few = table.read().where("n > 1008")
    assert few.count() == 1 and "n: range" in str(index.explain(few)), index.explain(few)
    assert index.verify(record=True, columns=True).ok


def test_sql_changes_rows(table: WrittenTable) -> None:
    spark, name, expected = table.spark, table.name, table.expected
    spark.sql(f"DELETE FROM {name} WHERE id = 5")
    spark.sql(f"UPDATE {name} SET n = n + 5000 WHERE id = 6")
    spark.sql(
        f"MERGE INTO {name} t USING (SELECT 7 AS id, 9999 AS n) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET n = s.n"
    )
    spark.sql(f"INSERT INTO {name} SELECT id + 1000, p, n, s FROM {name} WHERE id = 8")
    del expected[5]
    expected.update({6: expected[6] + 5000, 7: 9999, 1008: expected[8]})
    assert {r.id: r.n for r in spark.sql(f"SELECT * FROM {name}").collect()} == expected


def test_earlier_instants_and_changes_are_read(table: WrittenTable) -> None:
    spark, instants = table.spark, table.instants()
    assert len(instants) >= 6
    first = spark.sql(f"SELECT * FROM {table.name} VERSION AS OF '{instants[0]}'")
    assert {r.id: r.n for r in first.collect()} == {i: i * 2 for i in range(100)}
    assert table.numbers(**{"as.of.instant": instants[2]}) == {
        i: i + 1000 if i < 10 else i * 2 for i in range(100) if i != 5
    }
    since = {
        "hoodie.datasource.query.type": "incremental",
        "hoodie.datasource.read.begin.instanttime": instants[2],
    }
    changed = {6: table.expected[6], 7: 9999, 1008: table.expected[1008]}
    assert table.numbers(**since) == changed
    rows = spark.sql(f"SELECT id, n FROM hudiidx_changes('{table.path}', '{instants[2]}')")
    assert {r.id: r.n for r in rows.collect()} == changed


def test_procedures_answer(table: WrittenTable) -> None:
    for keys in ("array('8', '1008')", "'8'"):
        call = f"CALL hudiidx.system.lookup(table => '{table.path}', keys => {keys})"
        found = table.spark.sql(call).collect()
        assert {r.record_key for r in found} <= {"8", "1008"} and len(found) == keys.count("8'")
    assert table.spark.sql(f"CALL hudiidx.system.verify('{table.path}')").first().ok


def test_a_compaction_moves_rows_into_base_files(table: WrittenTable) -> None:
    done = HudiIndex(table.spark, table.path).compact_table()
    assert done["compactions"]
    assert table.numbers(**{"hoodie.datasource.query.type": "read_optimized"}) == table.expected
    assert table.numbers() == table.expected


def test_a_stream_writes_each_batch_once(table: WrittenTable) -> None:
    source, checkpoint = f"{table.path}-in", f"{table.path}-checkpoint"
    for part in range(2):
        table.spark.range(5000 + part * 10, 5010 + part * 10).write.mode("append").parquet(source)
        # Columns of a stream may be null in Spark's eyes.
        stream = table.spark.readStream.schema("id bigint").parquet(source).selectExpr(*COLUMNS)
        query = stream.writeStream.format("hudiidx").option("checkpointLocation", checkpoint)
        query.trigger(availableNow=True).start(table.path).awaitTermination()
    table.expected.update({i: i * 2 for i in range(5000, 5020)})
    assert table.numbers() == table.expected
    assert HudiIndex(table.spark, table.path).verify(record=True, columns=True).ok


def test_commands_work_with_what_the_wheel_brought(table: WrittenTable) -> None:
    command = Path(sys.executable).with_name("hudiidx")
    for arguments in (["info", table.path, "--json"], ["lookup", table.path, "9"]):
        subprocess.run([str(command), *arguments], check=True, stdout=subprocess.DEVNULL)
    # Without a session it finds the classes it needs by itself.
    found = plain.prune(table.path, "n > 1008", [])
    assert found is not None and found["files"], found


def test_errors_of_sparks_own_calls_are_ours(spark: SparkSession) -> None:
    with pytest.raises(NotAHudiTable, match="/nowhere"):
        spark.read.format("hudiidx").load("/nowhere").count()


def test_the_quick_start_runs() -> None:
    done = subprocess.run(
        [sys.executable, "examples/quickstart.py"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
