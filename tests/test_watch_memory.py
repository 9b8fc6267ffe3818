"""Work on tables whose files hold more than the process can."""

import json
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import stored
from pyspark.sql import SparkSession
from test_cli import run

from hudiidx import HudiIndex

LOCAL = ("--master", "local[2]")


def swell(file: Path) -> None:
    """The file, with a page of keys that has a few kilobytes and says that it holds two gigabytes."""
    parquet, arrow = import_module("pyarrow.parquet"), import_module("pyarrow")
    rows = parquet.read_table(file)
    place = rows.schema.names.index("_hoodie_record_key")
    keys = ["a" * (140 << 20), *rows["_hoodie_record_key"].to_pylist()[1:]]
    rows = rows.set_column(place, "_hoodie_record_key", arrow.array(keys))
    parquet.write_table(rows, file, compression="zstd", use_dictionary=False, write_statistics=False)
    at = parquet.read_metadata(file).row_group(0).column(place).data_page_offset
    content = bytearray(file.read_bytes())
    # Thrift's compact protocol: field 1 the kind of page, 0; field 2 its size, five bytes after 134 million.
    assert content[at : at + 3] == b"\x15\x00\x15" and content[at + 7] < 0x80
    content[at + 3 : at + 8] = b"\xfe\xff\xff\xff\x0f"
    file.write_bytes(content)


def test_a_file_that_holds_more_than_memory_ends_no_watch(
    spark: SparkSession, make_table: Callable[[str], Path]
) -> None:
    table, fixture, other = make_table("v6-cow-part"), stored.load("v6-cow-part"), make_table("v9-cow-part")
    with stored.rewound(table, fixture, 4):
        HudiIndex(spark, table).create(record="global")
    commit, _ = sorted((table / ".hoodie").glob("*.commit"))[-2:]
    (file,) = table.glob(f"oslo/*_{commit.stem}.parquet")
    size = file.stat().st_size
    swell(file)
    commit.write_text(commit.read_text().replace(f": {size},", f": {file.stat().st_size},"))
    told = run("watch", table, other, "--once", "--create", "--json", *LOCAL, code=4).stdout.splitlines()
    polls = {d["table"]: d for d in map(json.loads, told)}
    assert polls[str(other)]["published"]
    assert polls[str(table)]["error"] == "DamagedTable"
    assert file.name in polls[str(table)]["message"] and "no memory left" in polls[str(table)]["message"]


COMPACT = """
import sys
from pyspark.sql import SparkSession
from hudiidx import HudiIdxException, HudiIndex, configure_spark

builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "1g")
spark = configure_spark(builder).getOrCreate()
spark.sparkContext.setLogLevel("OFF")
try:
    HudiIndex(spark, sys.argv[1]).compact_table()
except HudiIdxException as e:
    print(type(e).__name__, e)
print("of a later query", spark.range(3).count())
"""


def test_a_file_that_holds_more_than_memory_ends_no_process_that_compacts(
    make_table: Callable[[str], Path],
) -> None:
    table = make_table("v6-mor-part")
    for file in table.glob("*/*.parquet"):
        swell(file)
    command = [sys.executable, "-c", COMPACT, str(table)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    error, later = done.stdout.splitlines()
    assert error.startswith("DamagedTable") and "no memory left" in error
    assert later == "of a later query 3"
