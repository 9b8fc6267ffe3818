"""The writer's round trip, SQL, procedures, compaction, a stream and commands on the Spark that is installed.

Usage: python integration/spark_line.py, where the wheel and one PySpark are installed.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import pyspark
from pyspark.sql import DataFrame, Row, SparkSession

from hudiidx import HudiIndex, NotAHudiTable, configure_spark
from hudiidx.cli import plain

OPTIONS = {
    "hoodie.table.name": "line",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.partitionpath.field": "p",
    "hoodie.datasource.write.precombine.field": "n",
    "hudiidx.write.create": "true",
}
COLUMNS = ["id", "id % 3 AS p", "id * 2 AS n", "named_struct('a', id, 'b', array(id)) AS s"]


def session() -> SparkSession:
    """A small session with our extension and catalog."""
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.extensions", "hudiidx.spark.HudiIdxExtensions")
        .config("spark.sql.catalog.hudiidx", "hudiidx.spark.HudiIdxCatalog")
    )
    spark = configure_spark(builder).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def save(rows: DataFrame, table: str) -> None:
    """Upserts rows."""
    rows.write.format("hudiidx").options(**OPTIONS).mode("append").save(table)


def numbers(rows: DataFrame) -> dict[int, int]:
    """`n` by `id`."""
    return {r.id: r.n for r in rows.select("id", "n").collect()}


def writes_and_reads(spark: SparkSession, table: str) -> dict[int, int]:
    """What the table holds after an insert and an update."""
    save(spark.range(100).selectExpr(*COLUMNS), table)
    save(spark.range(10).selectExpr("id", "id % 3 AS p", "id + 1000 AS n", COLUMNS[3]), table)
    expected = {i: i + 1000 if i < 10 else i * 2 for i in range(100)}
    rows = spark.read.format("hudiidx").load(table)
    assert numbers(rows) == expected
    assert rows.where("n >= 1000 and s.a < 5").count() == 5
    assert [r.s for r in rows.where("id = 5").collect()] == [Row(a=5, b=[5])]
    return expected


def finds_keys(spark: SparkSession, table: str) -> None:
    """Lookups, tags, a join by key, indexes on columns."""
    index = HudiIndex(spark, table)
    assert [found.partition_path for found in index.lookup(["5", "none"])] == ["2"]
    keys = spark.range(98, 102).selectExpr("cast(id AS string) AS k")
    tagged = {r.k: r.partition_path for r in index.tag_location(keys, key="k").collect()}
    assert tagged == {"98": "2", "99": "0", "100": None, "101": None}
    rows = spark.read.format("hudiidx").load(table)
    assert rows.join(keys, rows["_hoodie_record_key"] == keys["k"]).count() == 2
    index.add_index("n")
    few = spark.read.format("hudiidx").load(table).where("n > 1008")
    assert few.count() == 1 and "n: range" in str(index.explain(few)), index.explain(few)
    assert index.verify(record=True, columns=True).ok


def runs_sql(spark: SparkSession, table: str, expected: dict[int, int]) -> None:
    """Statements, time travel, views and procedures."""
    name = f"hudiidx.`{table}`"
    first = spark.sql(f"SELECT min(requested_time) FROM hudiidx.`{table}`.timeline").first()[0]
    spark.sql(f"DELETE FROM {name} WHERE id = 5")
    spark.sql(f"UPDATE {name} SET n = n + 5000 WHERE id = 6")
    spark.sql(
        f"MERGE INTO {name} t USING (SELECT 7 AS id, 9999 AS n) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET n = s.n"
    )
    spark.sql(f"INSERT INTO {name} SELECT id + 1000, p, n, s FROM {name} WHERE id = 8")
    del expected[5]
    expected.update({6: expected[6] + 5000, 7: 9999, 1008: expected[8]})
    assert numbers(spark.sql(f"SELECT * FROM {name}")) == expected
    assert spark.sql(f"SELECT * FROM {name} VERSION AS OF '{first}' WHERE n >= 1000").count() == 0
    for keys in ("array('8', '1008')", "'8'"):
        found = spark.sql(f"CALL hudiidx.system.lookup(table => '{table}', keys => {keys})").collect()
        assert {r.record_key for r in found} <= {"8", "1008"} and len(found) == keys.count("8'")
    assert spark.sql(f"CALL hudiidx.system.verify('{table}')").first().ok


def compacts_and_streams(spark: SparkSession, table: str, expected: dict[int, int]) -> None:
    """Base files out of logs, then a stream of rows that may be null in Spark's eyes."""
    HudiIndex(spark, table).compact_table()
    base = spark.read.format("hudiidx").option("hoodie.datasource.query.type", "read_optimized").load(table)
    assert numbers(base) == expected
    source = f"{table}-in"
    spark.range(5000, 5010).write.parquet(source)
    stream = spark.readStream.schema("id bigint").parquet(source).selectExpr(*COLUMNS)
    query = stream.writeStream.format("hudiidx").option("checkpointLocation", f"{table}-checkpoint")
    query.trigger(availableNow=True).start(table).awaitTermination()
    expected.update({i: i * 2 for i in range(5000, 5010)})
    assert numbers(spark.read.format("hudiidx").load(table)) == expected


def raises_ours(spark: SparkSession) -> None:
    """Errors of Spark's own calls are Python's."""
    try:
        spark.read.format("hudiidx").load("/nowhere").count()
    except NotAHudiTable as error:
        assert "/nowhere" in str(error)
    else:
        raise AssertionError("a table where none is")


def runs_commands(table: str) -> None:
    """The command with what the wheel alone brought; prune finds the classes it needs without a session."""
    command = Path(sys.executable).with_name("hudiidx")
    for arguments in (["--help"], ["info", table, "--json"], ["lookup", table, "9"]):
        subprocess.run([str(command), *arguments], check=True, stdout=subprocess.DEVNULL)
    found = plain.prune(table, "n > 1008", [])
    assert found is not None and found["files"], found


def main() -> None:
    """All of it on one table."""
    spark = session()
    with tempfile.TemporaryDirectory() as folder:
        table = str(Path(folder, "line"))
        expected = writes_and_reads(spark, table)
        finds_keys(spark, table)
        runs_sql(spark, table, expected)
        compacts_and_streams(spark, table, expected)
        raises_ours(spark)
        runs_commands(table)
        spark.stop()
    print(f"Spark {pyspark.__version__}: writes, reads, keys, SQL, compaction, streams and commands agree")


if __name__ == "__main__":
    main()
