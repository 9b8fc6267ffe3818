"""`tag_location` and `hudiidx tag` as users call them: stock Hudi's locations, with the rows as they were."""

import csv
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import stored
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from typer import BadParameter

from hudiidx import HudiIndex, InvalidOption
from hudiidx.cli.tag import tag_file

MakeTable = Callable[[str], Path]
TAGS = ["partition_path", "file_id", "instant_time"]


def locations(name: str) -> list[tuple[str, str, str]]:
    """Key, partition path and file id of every record, by stock Hudi's account."""
    told = stored.load(name).answers["key_location"]
    return sorted({(k, told["partitions"][p], told["fileIds"][f]) for k, p, f in told["rows"]})


def found(tagged: DataFrame) -> list[tuple[str, str, str]]:
    rows = tagged.where("file_id is not null").select("key", "partition_path", "file_id").collect()
    return sorted({tuple(r) for r in rows})


@pytest.mark.parametrize("name", ["v6-moved-cow", "v9-dup-keys", "v9-mor-part"])
@pytest.mark.parametrize("strategy", ["driver", "direct", "shuffle"])
def test_tags_are_stocks(spark: SparkSession, make_table: MakeTable, name: str, strategy: str) -> None:
    index = HudiIndex(spark, make_table(name), strict=True, **{"hudiidx.tag.strategy": strategy})
    index.create(record="global")
    wanted = locations(name)
    keys = [*sorted({k for k, _, _ in wanted}), "absent", ""]
    frame = spark.createDataFrame([(k, i) for i, k in enumerate(keys)] + [(None, -1)], "key string, n long")
    tagged = index.tag_location(frame, "key")
    assert tagged.columns == ["key", "n", *TAGS]
    assert tagged.dtypes[:2] == frame.dtypes
    assert found(tagged) == wanted
    assert sorted(r.n for r in tagged.where("file_id is null").collect()) == sorted(
        [-1, len(keys) - 2, len(keys) - 1]
    )


def test_two_fields_and_a_partition_column(spark: SparkSession, make_table: MakeTable) -> None:
    name = "v9-cow-complex"
    index = HudiIndex(spark, make_table(name), strict=True)
    index.create(record="global")
    wanted = locations(name)
    frame = spark.createDataFrame(wanted, "key string, `where` string, file string")
    frame = frame.withColumn("id", F.regexp_extract("key", "^id:([^,]*),sub:", 1))
    frame = frame.withColumn("sub", F.regexp_extract("key", "^id:[^,]*,sub:(.*)$", 1))
    tagged = index.tag_location(frame, ["sub", "id"], partition="where")
    assert tagged.where("file = file_id").count() == len(wanted)
    elsewhere = index.tag_location(frame.withColumn("where", F.lit("no/where")), "key", partition="where")
    assert elsewhere.where("file_id is not null").count() == 0
    assert elsewhere.count() == len(wanted)


def test_arguments_are_checked(spark: SparkSession, cow: Path) -> None:
    indexed = HudiIndex(spark, cow)
    frame = spark.createDataFrame([("a", [1])], "key string, many array<int>")
    with pytest.raises(InvalidOption, match="array"):
        indexed.tag_location(frame, "many")
    with pytest.raises(InvalidOption, match="file_id"):
        indexed.tag_location(frame.withColumn("file_id", F.lit(1)), "key")
    with pytest.raises(TypeError, match="key"):
        indexed.tag_location(frame, [])
    with pytest.raises(TypeError, match="DataFrame"):
        indexed.tag_location("rows", "key")  # type: ignore[arg-type]


def test_tags_take_no_tables_place(spark: SparkSession, cow: Path, tmp_path: Path) -> None:
    """--overwrite lets Spark remove what is there: the table, or folders above it, are not for that."""
    source = tmp_path / "keys.json"
    source.write_text('{"key": "a"}', encoding="utf-8")
    before = sorted(cow.rglob("*"))
    for output in (cow, cow.parent):
        with pytest.raises(BadParameter, match="holds a Hudi table"):
            tag_file(HudiIndex(spark, cow), spark, str(source), ["key"], None, str(output), True)
    assert sorted(cow.rglob("*")) == before
    there = tmp_path / "tagged"
    for _ in range(2):
        done = tag_file(HudiIndex(spark, cow), spark, str(source), ["key"], None, str(there), True)
        assert done["rows"] == 1


@pytest.mark.spark
@pytest.mark.parametrize("form", ["csv", pytest.param("json", marks=pytest.mark.slow)])
def test_command(tmp_path: Path, make_table: MakeTable, form: str) -> None:
    table = make_table("v9-cow-part")
    wanted = locations("v9-cow-part")[:20]
    keys = [{"key": k, "note": "a, b"} for k, _, _ in wanted] + [{"key": "007", "note": ""}]
    source, target = tmp_path / f"keys.{form}", tmp_path / f"tagged.{form}"
    if form == "csv":
        with source.open("w", newline="", encoding="utf-8") as out:
            writer = csv.DictWriter(out, ["key", "note"])
            writer.writeheader()
            writer.writerows(keys)
    else:
        source.write_text("\n".join(map(json.dumps, keys)), encoding="utf-8")
    command = [str(Path(sys.executable).with_name("hudiidx")), "tag", str(table), str(source), "--key", "key"]
    command += ["-o", str(target), "--master", "local[1]", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"output": str(target), "rows": 21, "found": 20}
    rows = _rows(target, form)
    assert sorted((r["key"], r["partition_path"], r["file_id"]) for r in rows if r.get("file_id")) == wanted
    assert [r["key"] for r in rows if not r.get("file_id")] == ["007"]
    if form == "csv":
        again = subprocess.run(command, capture_output=True, text=True, check=False)
        assert again.returncode == 2 and "--overwrite" in again.stderr


def _rows(file: Path, form: str) -> list[dict[str, Any]]:
    text = file.read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines())) if form == "csv" else [*map(json.loads, text.splitlines())]


@pytest.mark.parametrize("name", ["keys[1].csv", "a{b,c}*.csv", "x\\d?.csv", "[z-a.csv"])
def test_a_file_is_taken_by_its_name_whatever_patterns_spark_knows(
    spark: SparkSession, cow: Path, tmp_path: Path, name: str
) -> None:
    index = HudiIndex(spark, cow)
    index.create(record="global")
    (tmp_path / name).write_text("id\nnobody\n")
    done = tag_file(index, spark, str(tmp_path / name), ["id"], None, str(tmp_path / "out"), False)
    assert (done["rows"], done["found"]) == (1, 0)


@pytest.mark.slow
def test_executors_killed_and_tasks_run_twice(
    spark: SparkSession, make_table: MakeTable, tmp_path: Path
) -> None:
    name = "v9-mor-part"
    table = make_table(name)
    HudiIndex(spark, table).create(record="global")
    wanted = [list(w) for w in locations(name)]
    keys = [*sorted({w[0] for w in wanted}), "absent", "0"]
    script = Path(__file__).with_name("tag_cluster.py")
    done = subprocess.run(
        [sys.executable, str(script), str(table), str(tmp_path / "cluster")],
        input=json.dumps(keys),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    answers = json.loads(done.stdout.splitlines()[-1])
    assert answers["killed"] == 2 and answers["twice"] > 0
    for strategy in ("direct", "shuffle"):
        assert answers[strategy] == wanted
        assert answers[strategy + " absent"] == ["0", "absent"]
