"""Index tails in a table's log blocks: stock Hudi reads, writes and compacts it as if they were not there."""

import struct
from pathlib import Path
from typing import Any

import pytest
from compare import expect_answer
from pyspark.sql import SparkSession
from stock_hudi import each

from hudiidx import HudiIndex

MAGIC = b"#HUDI#"
AVRO_DATA = 3
INSTANT_TIME = 0


def varint(data: bytes, at: int) -> tuple[int, int]:
    """An Avro int at an offset, and the offset behind it."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), at


def record_key(datum: bytes) -> bytes:
    """The third field of a record; the first three are optional texts."""
    at = 0
    text = b""
    for _ in range(3):
        branch, at = varint(datum, at)
        if branch == 1:
            length, at = varint(datum, at)
            text, at = datum[at : at + length], at + length
    return text


def with_tail(jvm: Any, file: str, offset: int, instant: str, content: bytes) -> bytes:
    """A data block's content with an index tail behind its records."""
    builder = jvm.hudiidx.logindex.TailBuilder(jvm.hudiidx.logindex.BlockPlace(file, offset, instant), 256)
    version, count = struct.unpack_from(">ii", content)
    assert version == 3
    at = 8
    for _ in range(count):
        (length,) = struct.unpack_from(">i", content, at)
        key = record_key(content[at + 4 : at + 4 + length])
        builder.add(bytearray(key), 0, len(key), at)
        at += 4 + length
    assert at == len(content)
    nothing = jvm.scala.collection.immutable.Vector.empty()
    return content + bytes(builder.build(len(content), nothing, None).bytes())


def rewrite(jvm: Any, file: Path) -> int:
    """Gives the data blocks of a log file a tail each; how many."""
    data, out, tails, at = file.read_bytes(), b"", 0, 0
    while at < len(data):
        assert data[at : at + 6] == MAGIC
        size, version, kind, headers = struct.unpack_from(">qiii", data, at + 6)
        end = at + 14 + size
        header, instant = at + 26, ""
        for _ in range(headers):
            key, length = struct.unpack_from(">ii", data, header)
            if key == INSTANT_TIME:
                instant = data[header + 8 : header + 8 + length].decode()
            header += 8 + length
        (length,) = struct.unpack_from(">q", data, header)
        content = data[header + 8 : header + 8 + length]
        if kind == AVRO_DATA:
            content = with_tail(jvm, file.name, len(out), instant, content)
            tails += 1
        body = struct.pack(">ii", version, kind) + data[at + 22 : header]
        body += struct.pack(">q", len(content)) + content + data[header + 8 + length : end - 8]
        out += MAGIC + struct.pack(">q", len(body) + 8) + body + struct.pack(">q", len(body) + 14)
        at = end
    file.write_bytes(out)
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
    return tails


@pytest.mark.parametrize("version", each())
def test_stock_reads_writes_and_compacts_logs_with_index_tails(
    spark: SparkSession, request: pytest.FixtureRequest, version: str
) -> None:
    stock = request.getfixturevalue(version)
    # The metadata table and commits know the sizes that the files had.
    options = {"hoodie.metadata.enable": "false"}
    path = Path(stock.new(name="tails", kind="MOR", options=options))
    stock.write(name="tails", first=0, end=100, seed=1, operation="insert")
    stock.write(name="tails", first=20, end=70, seed=2)
    stock.write(name="tails", first=10, end=20, seed=3, operation="delete")
    stock.write(name="tails", first=40, end=90, seed=3)
    before = stock.rows(name="tails")
    logs = [f for f in path.rglob(".*.log.*") if ".hoodie" not in f.parts and f.suffix != ".crc"]
    assert sum(rewrite(spark._jvm, f) for f in logs) >= len(logs) / 2

    def same(expected: dict[str, Any]) -> None:
        assert stock.rows(name="tails") == expected
        expect_answer(spark.read.format("hudiidx").load(str(path)), expected)

    same(before)
    HudiIndex(spark, path).create()
    same(before)
    stock.write(name="tails", first=60, end=110, seed=4)
    after = stock.rows(name="tails")
    assert after != before
    same(after)
    stock.schedule_compaction(name="tails")
    stock.compact(name="tails")
    HudiIndex(spark, path).update()
    same(after)
